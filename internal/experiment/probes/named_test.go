package probes

import (
	"os"
	"strings"
	"testing"

	"whatif/internal/code/symbol"
	"whatif/internal/hint"
	"whatif/internal/point"
)

// A binary that is named with points is opened once, and not at all if it is one of the programs.
func TestNamed(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	points := []point.Spec{
		{Text: "func:f", Kind: point.Func, Func: "f"},
		{Text: "func:" + own + ":f", Kind: point.Func, Func: "f", Binary: own},
		{Text: "func:" + own + ":g", Kind: point.Func, Func: "g", Binary: own},
	}
	named, err := Named(points, nil)
	if err != nil || len(named) != 1 || named[0][0].Path() != own {
		t.Fatalf("%v, %v", named, err)
	}
	defer named[0].Close()
	if again, err := Named(points, []Program{{named[0][0]}}); err != nil || len(again) != 0 {
		t.Errorf("a program that there is: %v, %v", again, err)
	}
	points[2].Binary = "/no/such/program"
	_, err = Named(points, []Program{[]*symbol.Binary{named[0][0]}})
	if err == nil || !strings.Contains(err.Error(), "looking for progress point") || hint.Of(err) == "" {
		t.Errorf("no such program: %v", err)
	}
}
