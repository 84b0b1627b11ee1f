package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"whatif/internal/analyze"
)

func TestOptions(t *testing.T) {
	o, err := parseOptions(io.Discard, []string{"-only", "nginx,memcached", "-size", "0.5"})
	if err != nil || len(o.servers) != 2 || o.servers[0].name != "nginx" || o.size != 0.5 {
		t.Errorf("%+v, %v", o, err)
	}
	for _, wrong := range [][]string{{"-only", "apache"}, {"-rounds", "-1"}, {"-size", "0"}, {"-size", "NaN"}, {"more"}} {
		if _, err := parseOptions(io.Discard, wrong); err == nil {
			t.Errorf("%v: taken", wrong)
		}
	}
}

func TestMade(t *testing.T) {
	for _, s := range servers {
		if n := s.made(1001); n < 999 || n > 1001 {
			t.Errorf("%s makes %d requests of 1001", s.name, n)
		}
	}
}

func TestBuildID(t *testing.T) {
	id, err := buildID("/bin/sh")
	if err != nil || len(id) != 40 {
		t.Errorf("%q, %v", id, err)
	}
	if _, err := buildID("servers_test.go"); err == nil {
		t.Error("a text has a build id")
	}
}

// TestStop checks that nothing is left of a server, whether it ends on request or has ended before.
func TestStop(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("there is no bash")
	}
	p, err := newPlace("", "nobody", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	r, err := start(p.as(t.Context(), "sh", "-c", "echo >up; exec sleep 100"))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.untilReady(t.Context(), p, "test -e "+p.file("up")); err != nil {
		t.Error(err)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if r, err = start(p.as(t.Context(), "sh", "-c", "echo why; exit 3")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := r.untilReady(ctx, p, "false"); err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("a server that ends at once: %v", err)
	}
	if err := r.stop(); err == nil {
		t.Error("a server that had ended was stopped")
	}
	if err := p.remove(); err != nil {
		t.Error(err)
	}
}

func TestWrite(t *testing.T) {
	s := study{server: &servers[1], requests: 10, gains: []float64{3, 1, 2},
		inside:  prediction{share: 30, visits: 10, gain: analyze.Estimate{Value: 2, Low: 1, High: 3}},
		outside: prediction{share: 60, visits: 10, gain: analyze.Estimate{Value: 2.5, Low: 2, High: 3}}}
	var row bytes.Buffer
	if err := s.write(&row); err != nil {
		t.Fatal(err)
	}
	const want = "| nginx | `func:deflate` | `func:ngx_http_free_request` | 10, 10, 10 | 30.0%, 60.0% | " +
		"2.0 ± 1.0 | 2.5 ± 0.5 | gzip off | 2.0 (1.0 to 3.0) |\n"
	if row.String() != want {
		t.Errorf("%s", row.String())
	}
	if strings.Count(head, "|") != 2*strings.Count(want, "|") {
		t.Error("the head has other columns")
	}
}
