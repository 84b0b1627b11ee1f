package realkernel

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/load"
	"whatif/internal/testing/noise"
)

// truthRounds and truthSeconds say how often and how long a program runs for its truth.
const (
	truthRounds  = 5
	truthSeconds = "0.5"
)

// Truth measures the real gain of a program of accuracy/programs, in percent, if the work of its target is reduced by
// percent. half is half the width of the gain's 95% interval. Each reduced run is between two runs of the whole
// program.
func Truth(t testing.TB, program string, percent int) (gain, half float64) {
	t.Helper()
	period := func(percent int) float64 {
		cmd := exec.CommandContext(t.Context(), program, strconv.Itoa(percent), truthSeconds)
		output, err := cmd.Output()
		if err != nil {
			t.Fatalf("running %s: %v", strings.Join(cmd.Args, " "), err)
		}
		p, err := periodOf(string(output))
		if err != nil {
			t.Fatalf("running %s: %v", strings.Join(cmd.Args, " "), err)
		}
		return p
	}
	var ratios []float64
	before := period(0)
	for range truthRounds {
		less, after := period(percent), period(0)
		ratios = append(ratios, math.Log(less)-(math.Log(before)+math.Log(after))/2)
		before = after
	}
	mean, off := noise.Mean(ratios)
	return 100 * (1 - math.Exp(mean)), 100 * math.Exp(mean) * math.Sinh(off)
}

// periodOf is the time per visit in a program's output "visits N seconds T".
func periodOf(output string) (float64, error) {
	for line := range strings.Lines(output) {
		var visits, seconds float64
		if _, err := fmt.Sscanf(line, "visits %f seconds %f", &visits, &seconds); err == nil && visits > 0 && seconds > 0 {
			return seconds / visits, nil
		}
	}
	return 0, fmt.Errorf("it prints no line \"visits N seconds T\": %q", output)
}

// ShareCalibration tells all programs of a test the same speed of the machine, so that a truth and a prediction are of
// the same program.
func ShareCalibration(t testing.TB) {
	t.Helper()
	t.Setenv(load.StepsVariable, strconv.Itoa(load.StepsPerMicrosecond(os.Getenv)))
}
