package main

import (
	"io"
	"os/exec"
	"testing"
	"time"

	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// TestJava judges the prediction of one Java program, as the gate judges its programs. The truth is arithmetic: the
// program's two threads take turns, so each is on the critical path all the time. It takes ten seconds, or twice that.
func TestJava(t *testing.T) {
	realkernel.NeedQuiet(t)
	for _, tool := range []string{"java", "javac"} {
		if _, err := exec.LookPath(tool); err != nil {
			realkernel.NotJudged(t, tool+" is not installed: predictions of Java programs are not judged")
			return
		}
	}
	o, err := parseOptions(io.Discard, []string{"-levels", "50,100", "-only", "java_turns",
		"-whatif", realkernel.Whatif(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.locate(); err != nil {
		t.Fatal(err)
	}
	all := predictModel(t, o, 8*time.Second, 0)
	if noise.Each(all) != noise.Right {
		t.Logf("once more after %+v", all)
		all = noise.Pool(all, predictModel(t, o, 8*time.Second, 0))
	}
	verdict, lines := noise.Together(all)
	judge(t, verdict, lines)
}
