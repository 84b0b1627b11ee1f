package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-rounds", "0"}, {"sha256"}, {"-seconds", "0"}, {"-record", "1ms"}, {"-no"}} {
		var words strings.Builder
		if status := run(t.Context(), &words, &words, args); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}

// Each kernel is one of its program, and a function there.
func TestKernels(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range kernels {
		source, err := os.ReadFile(filepath.Join("..", p.program))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range p.cases {
			if seen[name] {
				t.Errorf("two kernels are %s", name)
			}
			seen[name] = true
			text := string(source)
			if !strings.Contains(text, `{"`+name+`", run_`) || !strings.Contains(text, " "+name+"(") {
				t.Errorf("%s has no kernel %s", p.program, name)
			}
		}
	}
}

func TestWrite(t *testing.T) {
	rows := []row{
		{name: "chase", truth: 96, all: []float64{95, 97}, said: &share{98, 52, 100}},
		{name: "match", truth: 0, all: []float64{1, -1}, said: &share{60, 3, 70}},
		{name: "parse", truth: 5, all: []float64{5}},
	}
	var b strings.Builder
	if err := write(&b, rows); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"chase   96%", "98%", "52..100", "yes", "60%", "no", "none", "1 of 3 right"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
