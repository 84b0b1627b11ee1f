package realkernel

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"whatif/internal/load"
	"whatif/internal/profile"
	"whatif/internal/testing/noise"
)

// patience is the time that all tests of a package together wait for a quiet machine. If each test waited by itself, a
// test run on a busy machine would take hours.
var patience = struct {
	sync.Mutex
	left time.Duration
}{left: 2 * time.Minute}

// Watch begins to measure the machine's noise. The first time it does not wait: a figure within its limits is right,
// whatever the noise. Before another measurement (again) it waits for a quiet machine, as long as patience is left. The
// returned function ends the measurement. foreign is the share of the machine that other programs used, for example by
// [ForeignShare].
func Watch(t testing.TB, again bool) (seen func(foreign float64) noise.Seen) {
	t.Helper()
	var quiet noise.Seen
	if again {
		quiet = awaitQuiet(t)
	} else {
		quiet.Spread = load.Spread()
	}
	before, err := load.Read()
	if err != nil {
		t.Fatal(err)
	}
	return func(foreign float64) noise.Seen {
		after, err := load.Read()
		if err != nil {
			t.Fatal(err)
		}
		return quiet.Or(noise.Seen{Foreign: foreign, Steal: load.Steal(before, after), Spread: load.Spread()})
	}
}

// awaitQuiet waits until other programs use little of the machine, and a loop takes about the same time each time. It
// returns the loop's spread.
func awaitQuiet(t testing.TB) noise.Seen {
	t.Helper()
	patience.Lock()
	defer patience.Unlock()
	begin := time.Now()
	defer func() { patience.left = max(0, patience.left-time.Since(begin)) }()
	for {
		if _, err := load.WaitForQuiet(t.Context(), patience.left-time.Since(begin)); err != nil {
			t.Fatal(err)
		}
		seen := noise.Seen{Spread: load.Spread()}
		if seen.Widen() == 1 || time.Since(begin) >= patience.left {
			return seen
		}
	}
}

// Judge measures figures, and fails the test if one is wrong. Noise widens the limits. If a figure is beyond them, or
// too noisy to be judged, all are measured again on a quiet machine, and the mean of all measurements is judged: one
// bad measurement among hundreds of tests is chance, a wrong mean of three is not. measure also returns the share of
// the machine that other programs used during the measurement.
func Judge(t testing.TB, measure func() (figures []noise.Figure, foreign float64)) {
	t.Helper()
	judgeBy(t, noise.Decide, measure)
}

// JudgeEach judges each measurement by itself, for what has to hold every time: a figure that is wrong once fails the
// test. Only what noise keeps from being judged is measured again.
func JudgeEach(t testing.TB, measure func() (figures []noise.Figure, foreign float64)) {
	t.Helper()
	judgeBy(t, noise.DecideEach, measure)
}

// judgeBy measures until decide, which gets all measurements so far, asks for no other one.
func judgeBy(t testing.TB, decide func([]noise.Measured) (noise.Measured, noise.Verdict, string, bool),
	measure func() (figures []noise.Figure, foreign float64)) {
	t.Helper()
	var all []noise.Measured
	for again := true; again; {
		watched := Watch(t, len(all) > 0)
		figures, foreign := measure()
		if t.Failed() {
			return
		}
		now := noise.Measured{Figures: figures, Seen: watched(foreign)}
		if len(all) > 0 && !noise.SameFigures(all[0], now) {
			t.Errorf("measured again, the test gives other figures: %v, and before %v", now.Figures, all[0].Figures)
			return
		}
		all = append(all, now)
		var judged noise.Measured
		var verdict noise.Verdict
		var words string
		judged, verdict, words, again = decide(all)
		for _, f := range judged.Figures {
			_, each := noise.Judge(f, judged.Seen)
			t.Log(each)
		}
		switch {
		case again:
			t.Log("once more: " + words)
		case verdict == noise.Wrong:
			t.Errorf("%s", words)
		case verdict == noise.NotJudged:
			NotJudged(t, words)
		}
	}
}

// Environment variables for NotJudged.
const (
	strictVariable    = "WHATIF_STRICT"     // 1: a figure that is not judged is a failure
	notJudgedVariable = "WHATIF_NOT_JUDGED" // the file that lists such figures
)

// NotJudged reports that a test could not judge a figure because of noise. If WHATIF_STRICT is 1, as in CI, the test
// fails. Else a line goes to standard error, and to the file that WHATIF_NOT_JUDGED names, because "go test" does not
// show the output of a package that passes. make test prints that file at its end.
func NotJudged(t testing.TB, words string) {
	t.Helper()
	if os.Getenv(strictVariable) == "1" {
		t.Errorf("%s (%s=1: that is a failure)", words, strictVariable)
		return
	}
	line := fmt.Sprintf("%s: %s\n", t.Name(), words)
	fmt.Fprint(os.Stderr, line)
	path := os.Getenv(notJudgedVariable)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		t.Errorf("saying that something was not judged: %v", err)
		return
	}
	defer f.Close()
	if _, err := f.WriteString(line); err != nil {
		t.Errorf("saying that something was not judged: %v", err)
	}
}

// ForeignShare is the share of the machine that tasks outside the target used, by the experiments of a run.
func ForeignShare(data *profile.Data) float64 {
	var foreign, all int64
	for _, e := range data.Experiments {
		foreign += e.ForeignNS
		all += e.RealNS * int64(data.Run.CPUs)
	}
	return float64(foreign) / float64(max(all, 1))
}
