package test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"whatif/internal/testing/realkernel"
)

// A sampled point is visited once for each period that its line runs: in the proportion of what two lines do, and as
// often in all as the program's clocks say, with every kind of unit and every speed-up.
func TestSampledVisits(t *testing.T) {
	realkernel.NeedSession(t)
	const source = "testdata/sampled.c"
	program := realkernel.Compile(t, source)
	once, thrice := realkernel.Line(t, source, "// ONCE"), realkernel.Line(t, source, "// THRICE")
	points := []string{"-p", fmt.Sprintf("sample:sampled.c:%d", once), "-p", fmt.Sprintf("sample:sampled.c:%d", thrice)}
	for name, flags := range map[string][]string{
		"lines":        {"-s", "0,50"},
		"whole stack":  {"-u", "func", "-s", "0,50"},
		"out of scope": {"--exclude", "source:*sampled.c", "-s", "0"},
	} {
		if testing.Short() && name != "lines" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			data, said := profiled(t, append(points, flags...), []string{program}, 0)
			var ns float64
			if _, err := fmt.Sscanf(said, "ns %g", &ns); err != nil {
				t.Fatalf("the program said %q", said)
			}
			a, b := float64(data.End.Visits[0]), float64(data.End.Visits[1])
			n := a + b
			// Each visit is a sample of one of the two lines: five standard deviations.
			if most := 5 * math.Sqrt(n*1/4*3/4); math.Abs(a-n/4) > most {
				t.Errorf("%v of %v visits in the line with a quarter of the work, that is not within %.0f of %.0f", a, n, most, n/4)
			}
			// Each tick sees that the line runs or does not, as the threads share the cores. The clocks go on while the host has
			// the core, so there may be fewer visits.
			want := ns / float64(time.Millisecond)
			if most := want + 5*math.Sqrt(want); n > most || n < want/2 {
				t.Errorf("%v visits in %.0f periods of running", n, want)
			}
			t.Logf("%v and %v visits in %.0f periods of running; losses %v", a, b, want, data.End.Losses)
		})
	}
}
