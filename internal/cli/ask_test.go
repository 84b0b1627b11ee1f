package cli_test

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/cli"
	"whatif/internal/profile"
	"whatif/internal/recording"
	"whatif/internal/testing/synthetic"
)

// recordedProfile is a profile that has a recording and nothing else, of a program with a known truth.
func recordedProfile(t *testing.T, p *synthetic.Program) string {
	t.Helper()
	return profileOf(t, p.Record())
}

// profileOf writes a profile that has nothing but a recording.
func profileOf(t *testing.T, r *recording.Recording) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "whatif.profile")
	w, err := profile.Append(name)
	if err != nil {
		t.Fatal(err)
	}
	run := profile.Run{Version: profile.Version, ID: "a", Started: time.Unix(1.7e9, 0), Args: []string{"server"},
		Host: "h", CPUs: r.Cores, PeriodNS: r.Period, Waiting: []string{"disk", "net", "sleep"}, Unit: "line"}
	for _, p := range r.Points {
		run.Points = append(run.Points, profile.Point{Name: p.Name, Kind: "func", Spec: "func:" + p.Name})
	}
	if err := w.Write(profile.Record{Run: &run}); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRecording(r); err != nil {
		t.Fatal(err)
	}
	end := profile.End{RealNS: r.Length, Visits: make([]int64, len(run.Points))}
	if err := w.Write(profile.Record{End: &end}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

// whatif runs a command that has to succeed.
func whatif(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := cli.Run(t.Context(), strings.NewReader(""), &stdout, &stderr, args); status != 0 {
		t.Fatalf("whatif %s: status %d\n%s", strings.Join(args, " "), status, stderr.String())
	}
	return stdout.String()
}

// TestRecorded: a profile that is only a recording has a report with estimates for all units, and answers questions.
func TestRecorded(t *testing.T) {
	p := synthetic.RandomOf("barrier", 1)
	name := recordedProfile(t, p)

	text := whatif(t, "report", name)
	for _, want := range []string{"recorded ", "in which nothing was delayed", "parse.c:20", "~"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, bad := range []string{"never tried", "no usable", "tells nothing"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q in\n%s", bad, text)
		}
	}

	report := whatif(t, "report", "--format", "json", name)
	if err := checkContract(report); err != nil {
		t.Errorf("the report: %v", err)
	}
	type unit struct {
		Name   string
		Points []struct {
			Basis    string
			Estimate []struct {
				Speedup int
				Gain    float64
				CI      []float64
			}
		}
	}
	var r struct{ Targets []unit }
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(r.Targets, func(u unit) bool { return u.Name == "parse.c:20" })
	if at < 0 || r.Targets[at].Points[0].Basis != "estimated" || len(r.Targets[at].Points[0].Estimate) != 20 {
		t.Fatalf("parse.c:20: %+v", r.Targets)
	}

	var answer struct {
		Points []struct {
			Name, Metric string
			Gain         float64
			CI           []float64
		}
	}
	asked := whatif(t, "ask", "--format", "json", "--together", "parse.c:20=50", name)
	err := json.Unmarshal([]byte(asked), &answer)
	if err != nil || len(answer.Points) == 0 || len(answer.Points[0].CI) != 2 {
		t.Fatalf("%s: %v", asked, err)
	}
	if of := r.Targets[at].Points[0].Estimate[9]; of.Speedup != 50 || math.Abs(of.Gain-answer.Points[0].Gain) > 1 {
		t.Errorf("the report says %+v, the answer is %+v", of, answer.Points[0])
	}
	words := whatif(t, "ask", "--together", "parse.c:20=50", "--together", "func:transform=-10", "--cores", "1", name)
	for _, want := range []string{"parse.c:20 were 50% faster", "transform were 10% slower", "it had 1 core instead of ",
		"time per visit "} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
	var stdout, stderr bytes.Buffer
	status := cli.Run(t.Context(), strings.NewReader(""), &stdout, &stderr,
		[]string{"ask", "--together", "func:none=5", name})
	if status != 125 || !strings.Contains(stderr.String(), "looking for func:none: no thread ran or waited in it") ||
		!strings.Contains(stderr.String(), "hint: most of the recorded time is in ") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}

// TestRecordingToShare: the copy that a user hands over gives the estimates of the original under other names, and the
// stacks come out for flame graphs.
func TestRecordingToShare(t *testing.T) {
	name := recordedProfile(t, synthetic.RandomOf("barrier", 1))
	shared := filepath.Join(t.TempDir(), "shared.profile")
	whatif(t, "report", "--format", "recording", "-o", shared, name)
	gains := func(file string) (gains []string) {
		var r struct {
			Targets []struct {
				Name, Func, File string
				Points           []struct{ Estimate json.RawMessage }
			}
		}
		if err := json.Unmarshal([]byte(whatif(t, "report", "--format", "json", file)), &r); err != nil {
			t.Fatal(err)
		}
		for _, u := range r.Targets {
			if file == shared && strings.Contains(u.Name+u.Func+u.File, "parse") {
				t.Errorf("the copy names %+v", u)
			}
			for _, p := range u.Points {
				gains = append(gains, string(p.Estimate))
			}
		}
		slices.Sort(gains) // equal ones are ordered by name
		return gains
	}
	if is, want := gains(shared), gains(name); len(want) == 0 || len(want[len(want)-1]) < 10 || !slices.Equal(is, want) {
		t.Errorf("the copy gives\n%s\nnot\n%s", is, want)
	}
	if text := whatif(t, "report", "--format", "collapsed", name); !strings.Contains(text, ";parse ") {
		t.Errorf("no stack that ends in parse:\n%s", text)
	}
}
