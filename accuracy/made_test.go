package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// TestJava judges the prediction of one Java program, as the gate judges its programs. The truth is arithmetic: the
// program's two threads take turns, so each is on the critical path all the time. It takes fourteen seconds. Where the
// prediction disagrees, the truth is measured beside another one, which takes more than a minute: on a slow host
// handing over takes more of the time. At 100% predictions of this program are 2 points too low, which would leave no
// room for noise.
func TestJava(t *testing.T) {
	realkernel.NeedQuiet(t)
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			realkernel.NotJudged(t, tool+" is not installed: predictions of Java programs are not judged")
			return
		}
	}
	o, err := parseOptions(io.Discard, []string{"-levels", "25,50", "-rounds", "3", "-truth-within", "3",
		"-truth-seconds", "0.4", "-chunks", "1", "-seconds", "12", "-patience", "10s", "-only", "java_turns",
		"-whatif", realkernel.Whatif(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.locate(); err != nil {
		t.Fatal(err)
	}
	o.chosen[0].function = "" // its line is enough
	verdict, lines := noise.Together(predictModel(t, o, 0, false))
	if verdict != noise.Right {
		t.Logf("once more after %s", strings.Join(lines, "\n"))
		verdict, lines = noise.Together(gateStudy(t, o, 0, true))
	}
	judge(t, verdict, lines)
}

func TestRemoveMaps(t *testing.T) {
	dir, since := t.TempDir(), time.Now()
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	own, dead := strconv.Itoa(os.Getpid()), strconv.Itoa(gone.Process.Pid)
	for _, name := range []string{"perf-" + own + ".map", "jit-" + dead + ".dump", "perf-" + dead + ".map", "perf-x.map"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := filepath.Join(dir, "perf-"+dead+".map")
	if err := os.Chtimes(old, since, since.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	removeMaps(dir, since.Add(-time.Second))
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	want := []string{filepath.Join(dir, "perf-"+own+".map"), old, filepath.Join(dir, "perf-x.map")}
	slices.Sort(want)
	if err != nil || !slices.Equal(left, want) {
		t.Errorf("left: %v, not %v: %v", left, want, err)
	}
}
