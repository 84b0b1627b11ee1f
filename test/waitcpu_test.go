package test

import (
	"math"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// A second core brings four busy threads what it is predicted to bring.
func TestSecondCore(t *testing.T) {
	realkernel.NeedSession(t)
	if testing.Short() || runtime.NumCPU() < 2 {
		t.Skip("a measurement of half a minute, on two cores at least: make test-whole")
	}
	program := realkernel.Compile(t, "testdata/cores.c", "-O2")
	rate := func(cores ...string) float64 {
		out, err := exec.Command(program, append([]string{"0.7"}, cores...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	cores := float64(min(runtime.NumCPU(), 4))
	var truth float64
	const rounds = 5
	for range rounds {
		truth += 100 * (1 - rate("0")/rate()) / rounds
	}
	// More than a second core: the same formula with k cores wanted and c there, see docs/waiting.md.
	speedup := math.Round(100 * (1 - (4-cores)/cores/3))
	data, _ := profiled(t,
		[]string{"-p", "func:done", "-t", "wait:cpu", "-s", "0," + strconv.Itoa(int(speedup)), "-d", "15s"},
		[]string{program, "100", "0"}, 143)
	result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
	for _, target := range result.Targets {
		if len(target.Effects) == 0 {
			continue
		}
		if g, ok := target.Effects[0].At(int(speedup)); ok {
			t.Logf("%.0f cores: gain %.1f, predicted %.1f [%.1f, %.1f]", cores, truth, g.Value, g.Low, g.High)
			if math.Abs(g.Value-truth) > 10 {
				t.Error("more than 10 points off")
			}
			return
		}
	}
	t.Error("nothing predicted")
}
