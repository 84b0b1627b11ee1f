package test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/recording"
	"whatif/internal/testing/realkernel"
)

// javaTally is what a recording has of a Java program.
type javaTally struct {
	visits, rounds int // recorded, and as many as there were in windows by the program's own count
	samples        int
	own            int // samples with a line of Toy.java as the first frame in scope
	slept          int // waits of which a line of main is known
}

// javaTallyOf counts. rounds is how many visits the program has made in all.
func javaTallyOf(rec *recording.Recording, rounds int) (sum javaTally) {
	lineOf := func(stack int32) int32 {
		if stack < 0 {
			return 0
		}
		for _, f := range rec.Stacks[stack] {
			if frame := &rec.Frames[f]; frame.InScope && frame.File == "Toy.java" {
				return frame.Line
			}
		}
		return 0
	}
	var covered int64
	for _, w := range rec.Windows {
		covered += w.End - w.Begin
		for _, e := range w.Events {
			switch {
			case e.Kind == recording.Visit:
				sum.visits++
			case e.Kind == recording.Sample:
				sum.samples++
				if lineOf(e.Stack) > 0 {
					sum.own++
				}
			case e.Kind == recording.Switch && e.Place >= 0 && lineOf(rec.Places[e.Place].Stack) > 36:
				sum.slept++
			}
		}
	}
	sum.rounds = int(float64(rounds) * float64(covered) / float64(rec.Length))
	return sum
}

// TestRecordJava: a recording has the lines of Java code, those that wait, and each visit of a point in it.
func TestRecordJava(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	file := filepath.Join(t.TempDir(), "p")
	cmd := exec.Command(realkernel.Whatif(t), "record", "--quiet", "-o", file, "-p", "done=Toy.java:46", "--",
		java, "-cp", classes, "Toy", "2.5", "0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(string(out), "rounds ")))
	if err != nil {
		t.Fatalf("the program printed %q", out)
	}
	runs, err := profile.ReadFiles([]string{file})
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	rec, err := runs[0].Recording()
	if err != nil {
		t.Fatal(err)
	}
	sum := javaTallyOf(rec, rounds)
	t.Logf("%+v of %d rounds; %+v", sum, rounds, runs[0].Warnings)
	if sum.visits == 0 || sum.visits < sum.rounds*2/3 || sum.visits > sum.rounds*3/2 {
		t.Errorf("%d visits, want about %d", sum.visits, sum.rounds)
	}
	if sum.own < sum.samples/2 {
		t.Errorf("of %d samples %d are in the program's own lines", sum.samples, sum.own)
	}
	if sum.slept < sum.visits/2 {
		t.Errorf("of %d rounds %d waits are in a line of main", sum.visits, sum.slept)
	}
}
