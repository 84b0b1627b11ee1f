package test

import (
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"whatif/internal/estimate"
	"whatif/internal/profile"
	"whatif/internal/recording"
	"whatif/internal/testing/realkernel"
)

// recorded records a program, which must end with status 0.
func recorded(t *testing.T, flags []string, program ...string) *recording.Recording {
	t.Helper()
	return recordedBy(t, slices.Concat([]string{"record"}, flags, []string{"--"}, program)...)
}

// recordedBy makes a recording by a command of whatif.
func recordedBy(t *testing.T, command ...string) *recording.Recording {
	t.Helper()
	file := filepath.Join(t.TempDir(), "whatif.profile")
	cmd := exec.Command(realkernel.Whatif(t), slices.Concat(command[:1], []string{"-o", file}, command[1:])...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatalf("%v: %v", cmd.Args, err)
	}
	runs, err := profile.ReadFiles([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 || runs[0].End == nil {
		t.Fatalf("%d runs, or one without an end", len(runs))
	}
	rec, err := runs[0].Recording()
	if err != nil {
		t.Fatal(err)
	}
	if err := recording.Check(rec); err != nil {
		t.Error(err)
	}
	return rec
}

// tally is what a test looks at in a recording.
type tally struct {
	covered, ran         int64 // ns; ran by all cores
	switches, visits     int
	samples, inLonger    int
	inMain               int // samples whose stack goes on to main
	waits, placed, futex int // waits; those with a stack that is known; at a futex
	wakes                [4]int
}

func tallyOf(rec *recording.Recording) (sum tally) {
	for _, w := range rec.Windows {
		sum.covered += w.End - w.Begin
		since := make(map[int16]int64)
		for _, e := range w.Events {
			switch e.Kind {
			case recording.State:
				if e.Condition == recording.Running {
					since[e.CPU] = e.Time
				}
			case recording.Switch:
				sum.switches++
				if from, known := since[e.CPU]; known && e.Thread >= 0 {
					sum.ran += e.Time - from
				}
				since[e.CPU] = e.Time
				if e.Condition == recording.Waiting {
					sum.waited(rec, &e)
				}
			case recording.Wake:
				sum.wakes[e.Cause]++
			case recording.Visit:
				sum.visits++
			case recording.Sample:
				sum.sampled(rec, &e)
			}
		}
	}
	return sum
}

func (sum *tally) waited(rec *recording.Recording, e *recording.Event) {
	sum.waits++
	if e.Place >= 0 && rec.Places[e.Place].Stack >= 0 {
		sum.placed++
	}
	if e.Object >= 0 && rec.Objects[e.Object].Kind == recording.Futex {
		sum.futex++
	}
}

func (sum *tally) sampled(rec *recording.Recording, e *recording.Event) {
	sum.samples++
	if e.Stack < 0 {
		return
	}
	longer, main := false, false
	for _, f := range rec.Stacks[e.Stack] {
		name := rec.Frames[f].Function
		longer = longer || name == "longer"
		main = main || name == "main"
	}
	if longer {
		sum.inLonger++
	}
	if longer && main {
		sum.inMain++
	}
}

// A recording of two threads at a barrier has every visit, samples where the time goes, and the causes of wake-ups.
func TestRecording(t *testing.T) {
	realkernel.NeedKernel(t)
	const rounds = 4000 // in a second or less the first windows, which are short, are most of the recording
	program := realkernel.Compile(t, "testdata/barrier32.c", "-pthread")
	rec := recorded(t, []string{"-p", "func:visited"}, program, strconv.Itoa(rounds))
	sum := tallyOf(rec)
	t.Logf("%+v, losses %+v", sum, rec.Losses)
	if rec.Losses.Stops != 0 || rec.Losses.Events != 0 {
		t.Errorf("losses: %+v", rec.Losses)
	}
	// What the warm-up has and what lies between windows is not there. Beside other tests an event takes longer, so less
	// is recorded.
	if share := float64(sum.covered) / float64(rec.Length); share < 0.4 {
		t.Errorf("windows cover %.2f of the time", share)
	}
	// On a busy machine the program is not as fast all the time.
	if want := rounds * float64(sum.covered) / float64(rec.Length); float64(sum.visits) < 0.7*want ||
		float64(sum.visits) > min(1.3*want, rounds) {
		t.Errorf("%d visits, want about %.0f", sum.visits, want)
	}
	if n := float64(sum.ran) / float64(rec.Period); float64(sum.samples) < 0.7*n || float64(sum.samples) > 1.3*n {
		t.Errorf("%d samples in %d ns of running", sum.samples, sum.ran)
	}
	// One instruction more a step: the two threads do not differ by 3:2 exactly.
	if share := float64(sum.inLonger) / float64(sum.samples); share < 0.5 || share > 0.8 {
		t.Errorf("share of longer: %.2f", share)
	}
	if sum.inMain < sum.inLonger*80/100 { // tables may still be read when the warm-up is over
		t.Errorf("of %d samples in longer %d are in main", sum.inLonger, sum.inMain)
	}
	if sum.futex < sum.waits*9/10 || sum.placed < sum.waits*9/10 {
		t.Errorf("of %d waits %d are at a futex, %d have a stack", sum.waits, sum.futex, sum.placed)
	}
	if all := sum.wakes[0] + sum.wakes[1] + sum.wakes[2] + sum.wakes[3]; sum.wakes[recording.ByThread] < all*9/10 {
		t.Errorf("wake-ups by cause: %v", sum.wakes)
	}
}

// visitsOf is how many visits a recording has of the threads of a process.
func visitsOf(rec *recording.Recording, pid int) (n int) {
	for _, w := range rec.Windows {
		for _, e := range w.Events {
			if e.Kind == recording.Visit && int(rec.Threads[e.Thread].Process) == pid {
				n++
			}
		}
	}
	return n
}

// A process that comes into a cgroup while that is recorded is recorded from then on.
func TestRecordedCgroup(t *testing.T) {
	realkernel.NeedKernel(t) // threads that never wait take a core each: no other test runs in parallel
	program := compileBusy(t)
	p, q := startBusy(t, program, "1"), startBusy(t, program, "1")
	dir := cgroup(t)
	enter(t, dir, p.pid())
	come := time.AfterFunc(time.Second, func() {
		err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(q.pid())), 0)
		if err != nil {
			t.Error(err)
		}
	})
	defer come.Stop()
	rec := recordedBy(t, "attach", "--no-delays", "--cgroup", dir, "-p", "func:visited", "-d", "3s")
	for _, c := range []*pulse{p, q} {
		if n := visitsOf(rec, c.pid()); n < 100 {
			t.Errorf("%d visits of process %d", n, c.pid())
		}
		enter(t, filepath.Dir(dir), c.pid())
	}
}

// With the whole machine a process is recorded that ran before, and the load, which is told to end when the time is up.
func TestRecordedSystem(t *testing.T) {
	realkernel.NeedKernel(t) // threads that never wait take a core each: no other test runs in parallel
	program := compileBusy(t)
	p := startBusy(t, program, "1")
	rec := recordedBy(t, "system", "--no-delays", "-p", "syscall:getppid", "-d", "2s", "--", "sh", "-c",
		"while :; do sh -c 'exit 0'; done")
	if n := visitsOf(rec, p.pid()); n < 100 {
		t.Errorf("%d visits of a process that ran before", n)
	}
	if !slices.ContainsFunc(rec.Threads, func(th recording.Thread) bool { return th.Name == "sh" }) {
		t.Error("the load is not recorded")
	}
	if rec.Losses.Stops != 0 {
		t.Errorf("%d stops", rec.Losses.Stops)
	}
}

// Two lines of a function that wait in the same function of a library are told apart by where they are returned to.
func TestRecordedCallSites(t *testing.T) {
	realkernel.NeedBeside(t)
	const source = "testdata/twosleeps.c"
	rec := recorded(t, []string{"-p", "func:visited"}, realkernel.Compile(t, source))
	waits := make(map[int32]int)
	for _, w := range rec.Windows {
		for _, e := range w.Events {
			if e.Kind == recording.Switch && e.Thread >= 0 && e.Condition == recording.Waiting && e.Place >= 0 {
				waits[lineIn(rec, rec.Places[e.Place].Stack, "main")]++
			}
		}
	}
	for _, marks := range [][2]string{{"// SHORT", "// LONG"}, {"// SHORT CALL", "// LONG CALL"}} {
		one, other := waits[int32(realkernel.Line(t, source, marks[0]))], waits[int32(realkernel.Line(t, source, marks[1]))]
		if most := max(one, other); most < 50 || 10*min(one, other) < 9*most {
			t.Errorf("%s: waits, by line: %v", marks, waits)
		}
	}
}

// lineIn is the line of a function in a stack; 0: it is not there.
func lineIn(rec *recording.Recording, stack int32, function string) int32 {
	if stack < 0 {
		return 0
	}
	for _, f := range rec.Stacks[stack] {
		if rec.Frames[f].Function == function {
			return rec.Frames[f].Line
		}
	}
	return 0
}

// The warm-up is not recorded.
func TestRecordedWarmUp(t *testing.T) {
	realkernel.NeedBeside(t)
	rec := recordedBy(t, "record", "-p", "syscall:clock_nanosleep", "--warmup", "2s", "-d", "1s", "--", "sh", "-c",
		"while sleep 0.01; do :; done")
	if length := time.Duration(rec.Length); length < 900*time.Millisecond || length > 1900*time.Millisecond {
		t.Errorf("a second after a warm-up of two is a recording of %v", length)
	}
}

// Stacks are followed to their end in processes that live for milliseconds, too: a child has its parent's code, and a
// program that has just begun is looked up once.
func TestRecordedChildren(t *testing.T) {
	realkernel.NeedKernel(t)
	program := realkernel.Compile(t, "testdata/children.c")
	for _, args := range [][]string{{"300"}, {"150", "exec"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			sum := tallyOf(recorded(t, []string{"-p", "func:visited"}, append([]string{program}, args...)...))
			t.Logf("%+v", sum)
			// What the warm-up has is not there.
			if sum.inLonger < 50 || sum.inMain < sum.inLonger*95/100 {
				t.Errorf("of %d samples in longer %d are in main", sum.inLonger, sum.inMain)
			}
		})
	}
}

// What processes wait at is told apart: each type of message of one of System V's queues, its semaphores, and POSIX's
// queues.
func TestRecordedQueues(t *testing.T) {
	realkernel.NeedKernel(t) // where cores are taken, some threads hardly ever wait: no other test runs in parallel
	rec := recorded(t, []string{"-p", "func:visited"}, realkernel.Compile(t, "testdata/ipc.c"), "4000")
	waits := make([]int, len(rec.Objects))
	all := 0
	for _, w := range rec.Windows {
		for _, e := range w.Events {
			if e.Kind != recording.Switch || e.Condition != recording.Waiting {
				continue
			}
			all++
			if e.Object >= 0 {
				waits[e.Object]++
			}
		}
	}
	kinds := map[recording.ObjectKind]int{}
	for i, o := range rec.Objects {
		t.Logf("%+v: %d of %d waits", o, waits[i], all)
		if waits[i] >= all/20 {
			kinds[o.Kind]++
		}
	}
	want := map[recording.ObjectKind]int{recording.Pipe: 2, recording.Futex: 1, recording.File: 2}
	if !maps.Equal(kinds, want) {
		t.Errorf("objects by kind: %v, want %v", kinds, want)
	}
}

// Visits are recorded at the rate at which the program makes them: in its code and in its source, of its threads, of
// processes that it forks, and of a program that a shell starts.
func TestRecordedVisits(t *testing.T) {
	realkernel.NeedBeside(t)
	inCode := realkernel.Compile(t, "testdata/counts.c", "-fPIE", "-pie")
	inSource := realkernel.Compile(t, "testdata/counts.c", "-fPIE", "-pie", "-DIN_SOURCE", header(t))
	for _, c := range []struct {
		name    string
		flags   []string
		program []string
		visits  float64
	}{
		{"code", []string{"-p", "func:visited"}, []string{inCode, "longthreads", "7000"}, 28000},
		{"source", nil, []string{inSource, "longthreads", "7000"}, 28000},
		{"forks", []string{"-p", "func:visited"}, []string{inCode, "forks", "1500"}, 9000},
		// The parent visits before it forks. On some kernels its children then die at a probe that is on a long no-op.
		{"source, forks", nil, []string{inSource, "longthreads", "500", "forks", "1000"}, 8000},
		{"shell", []string{"-p", "func:visited"}, []string{"/bin/sh", "-c", inCode + " longthreads 14000; true"}, 56000},
	} {
		visitsAre(t, c.name, c.flags, inCode, c.program, c.visits)
	}
	if runtime.GOARCH == "amd64" {
		longNop := realkernel.Compile(t, "testdata/counts.c", "-DLONG_NOP")
		visitsAre(t, "nop, forks", []string{"-p", "func:visited%return"}, longNop,
			[]string{longNop, "longthreads", "500", "forks", "1000"}, 8000)
	}
}

// System calls and ends of processes are recorded, too.
func TestRecordedCalls(t *testing.T) {
	realkernel.NeedBeside(t)
	ipc := realkernel.Compile(t, "testdata/ipc.c")
	for _, c := range []struct {
		point   string
		program []string
		visits  float64
	}{
		{"syscall:msgrcv", []string{ipc, "3000"}, 6000},
		{"syscall:msgrcv%exit", []string{ipc, "3000"}, 6000},
		{"tracepoint:syscalls:sys_enter_mq_timedsend", []string{ipc, "3000"}, 6000},
		{"exit", []string{"/bin/sh", "-c", "for i in $(seq 300); do " + ipc + " 1; done"}, 602},
	} {
		visitsAre(t, c.point, []string{"-p", c.point}, ipc, c.program, c.visits)
	}
	t.Run("both ends", func(t *testing.T) {
		flags := []string{"-p", "syscall:msgrcv", "-p", "over=syscall:msgrcv%exit", "-p", "func:visited"}
		rec := recorded(t, flags, ipc, "3000")
		visits := make([]float64, len(rec.Points))
		for _, w := range rec.Windows {
			for _, e := range w.Events {
				if e.Kind == recording.Visit {
					visits[e.Point]++
				}
			}
		}
		t.Logf("%v", visits)
		// Two processes receive in each round; a window cuts some.
		few := 5 * float64(len(rec.Windows))
		if math.Abs(visits[0]-visits[1]) > few || math.Abs(visits[0]-2*visits[2]) > few || visits[2] < 100 {
			t.Error("wrong")
		}
	})
}

// visitsAre records what starts a program, and compares the rate of visits in the windows with how many it makes.
func visitsAre(t *testing.T, name string, flags []string, program string, command []string, visits float64) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		rec := recorded(t, flags, command...)
		sum := tallyOf(rec)
		got := float64(sum.visits) * float64(rec.Length) / float64(sum.covered)
		t.Logf("%.0f visits of %.0f in %d windows, losses %+v", got, visits, len(rec.Windows), rec.Losses)
		// On a busy machine the program is not as fast in the windows as between them.
		if got < 0.5*visits || got > 2*visits || rec.Losses.Events > 0 {
			t.Error("wrong")
		}
		found := slices.ContainsFunc(rec.Threads, func(t recording.Thread) bool {
			return strings.HasSuffix(t.Program, filepath.Base(program))
		})
		if !found {
			t.Errorf("no thread of the program among %+v", rec.Threads[:min(3, len(rec.Threads))])
		}
	})
}

// A recording says which code waits for memory.
func TestRecordedMemory(t *testing.T) {
	realkernel.NeedKernel(t)
	program := realkernel.Compile(t, "testdata/walk.c")
	rec := recorded(t, []string{"-p", "func:visited"}, program, "150")
	if rec.Cache == 0 {
		t.Error("the size of the caches is not known")
	}
	readings, met := 0, map[string][2]int{} // samples of a function: behind an access, and not
	for _, w := range rec.Windows {
		for _, e := range w.Events {
			if e.Kind != recording.Sample || e.Stack < 0 {
				continue
			}
			if _, again := e.Reading(); again > 0 {
				readings++
			}
			f := rec.Frames[rec.Stacks[e.Stack][0]]
			n := met[f.Function]
			if f.Access == recording.BehindAccess {
				n[0]++
			} else {
				n[1]++
			}
			met[f.Function] = n
		}
	}
	t.Logf("%d samples with readings; %v", readings, met)
	if n := met["walk"]; n[0] < 9*n[1] || readings < n[0]+n[1] {
		t.Errorf("walk was met %v times, %d samples have readings", n, readings)
	}
	if n := met["compute"]; n[1] < 9*n[0] || n[1] == 0 {
		t.Errorf("compute was met %v times", n)
	}
	e, err := estimate.Open(rec, estimate.Options{Kind: "func"})
	if err != nil {
		t.Fatal(err)
	}
	share := map[string]float64{}
	for _, u := range e.All().Units {
		share[u.Unit.Name] = u.Memory.Value
	}
	if !e.MemoryKnown() || share["walk"] < 30 || share["compute"] > 15 {
		t.Errorf("waiting for memory: %v", share)
	}
}

// The goroutines of a program in Go are in the recording, each with what it waits at and what lets it go on, and so is
// what it took to record that.
func TestRecordedGoroutines(t *testing.T) {
	realkernel.NeedKernel(t)
	rec := recorded(t, []string{"-p", "func:main.done"}, buildGo(t, "./testdata/gohandover", "-ldflags="))
	n := make(map[recording.Kind]int)
	visits, takes := 0, 0
	for _, w := range rec.Windows {
		for _, e := range w.Events {
			switch n[e.Kind]++; e.Kind {
			case recording.Visit:
				visits++
			case recording.Park:
				if e.Place >= 0 && e.Object >= 0 && rec.Objects[e.Object].Kind == recording.Channel &&
					strings.HasPrefix(functionAt(rec, e.Place), "main.take") {
					takes++
				}
			}
		}
	}
	t.Logf("%d visits, %d parks where items are taken, events %v, costs %+v", visits, takes, n, rec.Costs)
	// A single window has 100 at most. On a busy machine an item is there before some are asked for.
	if visits < 10 || takes < visits/2 || n[recording.Ready] < visits/2 || n[recording.Run] < visits/2 {
		t.Error("goroutines are missing")
	}
	if rec.Costs.Goroutine <= 0 || rec.Costs.Visit <= 0 || rec.Costs.Switch <= 0 {
		t.Errorf("costs %+v", rec.Costs)
	}
}

// functionAt is the innermost function of a place.
func functionAt(rec *recording.Recording, place int32) string {
	if at := rec.Places[place].Stack; at >= 0 && len(rec.Stacks[at]) > 0 && rec.Stacks[at][0] >= 0 {
		return rec.Frames[rec.Stacks[at][0]].Function
	}
	return ""
}
