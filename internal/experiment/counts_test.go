package experiment

import (
	"fmt"
	"path/filepath"
	"testing"

	"whatif/internal/realkernel"
)

// Every visit is counted, once, whatever visits: the program counts its own.
func TestExactVisits(t *testing.T) {
	realkernel.Need(t)
	counts := realkernel.Compile(t, "testdata/counts.c", "-fPIE", "-pie")
	for _, load := range []struct {
		how  string
		n    int
		want int64 // visits, as a check of the program itself
	}{
		{"longthreads", 3000, 12000},
		{"threads", 2000, 2000},
		{"forks", 100, 600},
		{"brief", 300, 300},
		{"execs", 20, 2000},
		{"vforks", 20, 2020},
		{"orphans", 25, 500},
	} {
		t.Run(load.how, func(t *testing.T) {
			data, said := profiled(t, []string{"-p", "func:visited", "--experiment", "20ms"}, []string{counts, load.how, fmt.Sprint(load.n)}, 0)
			var own int64
			if _, err := fmt.Sscanf(said, "visits %d", &own); err != nil || own != load.want {
				t.Fatalf("the program said %q, expected %d visits", said, load.want)
			}
			if got := data.End.Visits[0]; got != own {
				t.Errorf("%d visits counted, the program made %d; losses %v", got, own, data.End.Losses)
			}
		})
	}
}

// Samples of one line are one unit, whatever process they come from and wherever that
// has loaded the program.
func TestOneUnitForAllProcesses(t *testing.T) {
	realkernel.Need(t)
	const source = "testdata/counts.c"
	counts := realkernel.Compile(t, source, "-fPIE", "-pie")
	line := realkernel.Line(t, source, "// WORK")
	for _, how := range []string{"forks", "execs"} {
		n := map[string]string{"forks": "1500", "execs": "100"}[how]
		data, _ := profiled(t, []string{"-p", "func:visited", "--experiment", "20ms", "--period", "500us"}, []string{counts, how, n}, 0)
		var id uint32
		for i, u := range data.Units {
			if filepath.Base(u.File) == "counts.c" && u.Line == line {
				if id != 0 {
					t.Errorf("%s: units %d and %d are both line %d", how, id, i, line)
				}
				id = i
			}
		}
		if id == 0 {
			t.Errorf("%s: line %d is no unit", how, line)
			continue
		}
		var inLine, inUnits int64
		for _, e := range data.Experiments {
			inLine += e.UnitSamples[id]
			for _, n := range e.UnitSamples {
				inUnits += n
			}
		}
		// The rest is mostly the kernel's, for the lines that fork, wait and exit.
		if inLine < 50 || inLine < inUnits/4 {
			t.Errorf("%s: the line has %d of %d samples", how, inLine, inUnits)
		}
	}
}
