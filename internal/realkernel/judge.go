package realkernel

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"whatif/internal/load"
	"whatif/internal/noise"
	"whatif/internal/profile"
)

// patience is for how long the tests of a package wait for a quiet machine, in all. Each by itself would make a whole
// test run on a busy machine last for hours.
var patience = struct {
	sync.Mutex
	left time.Duration
}{left: 2 * time.Minute}

// Watch waits until the machine is quiet, for as long as patience is left, and watches it from then on. The function
// that it gives ends that and tells the noise; foreign is the part of the machine that others used, for example by
// [ForeignShare].
func Watch(t testing.TB) (seen func(foreign float64) noise.Seen) {
	t.Helper()
	quiet := awaitQuiet(t)
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

// awaitQuiet waits until others use little of the machine and a loop takes about as long each time. It gives the
// loop's spread.
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

// Judge measures figures on a quiet machine, and fails the test where one is wrong. Noise widens their limits. Figures
// that are beyond their limits, or that noise keeps from being judged, are measured again, and the mean of all
// measurements is judged: one bad measurement among hundreds of tests is chance, a wrong mean of three is not.
// measure also gives what part of the machine others used meanwhile.
func Judge(t testing.TB, measure func() (figures []noise.Figure, foreign float64)) {
	t.Helper()
	var all []noise.Measured
	for again := true; again; {
		watched := Watch(t)
		figures, foreign := measure()
		if t.Failed() {
			return
		}
		all = append(all, noise.Measured{Figures: figures, Seen: watched(foreign)})
		var pooled noise.Measured
		var verdict noise.Verdict
		var words string
		pooled, verdict, words, again = noise.Decide(all)
		for _, f := range pooled.Figures {
			_, each := noise.Judge(f, pooled.Seen)
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

// Where it is said that nothing was judged, and whether that is a failure.
const (
	strictVariable    = "WHATIF_STRICT"     // 1: it is
	notJudgedVariable = "WHATIF_NOT_JUDGED" // a file for it
)

// NotJudged says that noise kept a test from judging something: a failure where WHATIF_STRICT is 1, as in CI.
// Elsewhere it is a line on standard error, and one in the file that WHATIF_NOT_JUDGED names, as "go test" shows
// nothing of a package that passes. make test prints that file at its end.
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

// ForeignShare is the part of the machine that tasks outside the target used, by what a run's experiments say.
func ForeignShare(data *profile.Data) float64 {
	var foreign, all int64
	for _, e := range data.Experiments {
		foreign += e.ForeignNS
		all += e.RealNS * int64(data.Run.CPUs)
	}
	return float64(foreign) / float64(max(all, 1))
}
