package test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// figures is set by make attach: figures that depend on how quiet the machine is are measured, too.
var figures = flag.Bool("figures", false,
	"measure what attaching does to the speed of a program, and system to the machine")

// measures skips a test that only measures, unless that is asked for.
func measures(t *testing.T) {
	t.Helper()
	realkernel.NeedQuiet(t)
	if !*figures {
		t.Skip("a measurement: make attach")
	}
	realkernel.Whatif(t) // built while the machine is idle
}

// A visit is counted from every process but whatif itself. Processes that run already are as well the target as those
// that are started later.
func TestSystemVisits(t *testing.T) {
	realkernel.NeedSession(t)
	p := startBusy(t, compileBusy(t), "3", "forks")
	program := executable(t, p)
	p.rest(t)
	a := system(t, "-p", "func:"+program+":visited", "-p", "func:"+program+":visited%return")
	before := p.rounds()
	p.goOn(t)
	time.Sleep(300 * time.Millisecond)
	p.rest(t)
	made := int64(p.rounds() - before)
	data := a.detach(t)
	for i, got := range data.End.Visits {
		if got != made {
			t.Errorf("point %d: %d visits counted, %d were made; losses %v", i, got, made, data.End.Losses)
		}
	}
	if data.Run.Subject != "system" {
		t.Errorf("subject %q", data.Run.Subject)
	}
}

func executable(t *testing.T, p *pulse) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(fmt.Sprintf("/proc/%d/exe", p.pid()))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// system starts whatif system and waits until it measures.
func system(t *testing.T, args ...string) *attaching {
	t.Helper()
	return startMeasuring(t, "system", args...)
}

// pausedIn is for how many ns cores were stopped in a run.
func pausedIn(data *profile.Data) (ns int64) {
	for i := range data.Experiments {
		ns += data.Experiments[i].PausedNS
	}
	return ns
}

// While everything is stopped for the sake of one busy line, a thread that is woken by the clock is not late by more
// than the cap.
func TestSystemStall(t *testing.T) {
	measures(t)
	const source = "testdata/stall.c"
	program := realkernel.Compile(t, source)
	work := startPulse(t, program, "work")
	work.await(t)
	startBusy(t, compileBusy(t), "3") // threads that are stopped
	probe := startPulse(t, program, "sleep")
	probe.await(t)
	probe.set(2, 0)
	time.Sleep(5 * time.Second)
	alone := probe.word(2)
	a := system(t, "-p", "func:"+executable(t, work)+":main", "-p", "syscall:clock_nanosleep", "-s", "100",
		"-t", fmt.Sprintf("stall.c:%d", realkernel.Line(t, source, "// SELECTED")), "--experiment", "500ms")
	probe.set(2, 0)
	time.Sleep(5 * time.Second)
	worst := probe.word(2)
	data := a.detach(t)
	paused := pausedIn(data)
	t.Logf("late by at most %.1f ms with whatif system, %.1f ms without; cores were stopped for %.1f s of it",
		float64(worst)/1000, float64(alone)/1000, float64(paused)/1e9)
	if worst > 50000 {
		t.Errorf("a thread that sleeps by the clock was late by %d µs, more than 50 ms", worst)
	}
	if paused < int64(time.Second) {
		t.Errorf("cores were stopped for %d ns only: this says nothing", paused)
	}
}

// While a thread that takes the kernel's locks all the time is stopped for the sake of another one, a process that
// takes the same locks on the other core does not wait for the end of a stop.
func TestRunStall(t *testing.T) {
	measures(t)
	const source = "testdata/stall.c"
	program := realkernel.Compile(t, source)
	locks := startPulse(t, program, "locks")
	locks.await(t)
	probe := startPulse(t, program, "calls")
	probe.await(t)
	probe.set(2, 0)
	time.Sleep(10 * time.Second)
	alone := probe.word(2)
	locks.end()
	shared := filepath.Join(t.TempDir(), "shared")
	if err := os.WriteFile(shared, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	line := fmt.Sprintf("stall.c:%d", realkernel.Line(t, source, "// SELECTED"))
	flags := []string{"-p", "syscall:munmap", "-s", "100", "-t", line, "-d", "10s"}
	probe.set(2, 0)
	data, _ := profiled(t, flags, []string{program, "locks", shared}, 143)
	worst := probe.word(2)
	paused := pausedIn(data)
	t.Logf("calls take at most %.1f ms beside whatif run, %.1f ms without; threads were stopped for %.1f s of it",
		float64(worst)/1000, float64(alone)/1000, float64(paused)/1e9)
	if worst > 10000 {
		t.Errorf("calls of another process took up to %d µs, more than 10 ms", worst)
	}
	if paused < int64(time.Second) {
		t.Errorf("threads were stopped for %d ns only: this says nothing", paused)
	}
}

// Processes that the machine depends on are no part of the target, whether they run already or are started later. Nor
// are those that the user names. whatif says which processes those are. All others are part of the target.
func TestSystemExempt(t *testing.T) {
	realkernel.NeedSession(t)
	busy := compileBusy(t)
	called := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(busy)
		path := filepath.Join(t.TempDir(), name)
		if err == nil {
			err = os.WriteFile(path, text, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	start := func(name string) *pulse {
		p := startPulse(t, called(name), "1")
		p.await(t)
		return p
	}
	plain, listed, named := start("plain"), start("keepalived"), start("whatif-named")
	a := system(t, "--verbose", "-u", "binary", "--exempt", "whatif-nam*", "--exempt", "whatif-later",
		"-p", "func:"+executable(t, plain)+":visited")
	later, listedLater := start("whatif-later"), start("wd_keepalive")
	ranLater := later.rounds()
	awaitUntil(t, "both to be found", func() bool {
		said := a.said.String()
		return strings.Contains(said, fmt.Sprintf("process %d (", later.pid())) &&
			strings.Contains(said, fmt.Sprintf("process %d (", listedLater.pid()))
	})
	// What was sampled of them before is counted in the experiment that is under way, or, where whatif is late to say what
	// code it was, in one of the next.
	found := a.experiments() + 5
	awaitUntil(t, "experiments without both", func() bool { return a.experiments() >= found+3 })
	awaitUntil(t, "the one that came later to run", func() bool { return later.rounds() > ranLater })
	a.until(t, "samples in the program that is not exempt", func(data *profile.Data) bool {
		return samplesOfPrograms(data)["plain"] > 0
	})
	data := a.detach(t)
	samples := samplesOfPrograms(data)
	for _, name := range []string{"keepalived", "whatif-named"} {
		if samples[name] != 0 {
			t.Errorf("%d samples in %s, which is exempt", samples[name], name)
		}
	}
	for _, e := range data.Experiments[found:] { // there are more, as was waited for
		for id, n := range e.UnitSamples {
			if name := filepath.Base(data.Units[id].Binary); n != 0 && (name == "whatif-later" || name == "wd_keepalive") {
				t.Errorf("experiment %d: %d samples in %s, which is exempt", e.Index, n, name)
			}
		}
	}
	said := a.said.String()
	said = strings.Join(slices.DeleteFunc(strings.Split(said, "\n"), func(line string) bool {
		return !strings.Contains(line, "never stopped") && !strings.Contains(line, "--exempt")
	}), "\n")
	wanted := []string{
		"processes are never stopped: whatif, ", "cluster ", "--exempt 1", // the machine's own may be in the cluster, too
		"--exempt whatif-later: no process has that name now",
	}
	for _, p := range []*pulse{listed, named, later, listedLater} {
		wanted = append(wanted, fmt.Sprintf("process %d (", p.pid()))
	}
	for _, want := range wanted {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said in\n%s", want, said)
		}
	}
	if strings.Contains(said, fmt.Sprintf("process %d (", plain.pid())) {
		t.Errorf("the program that is not exempt is named\n%s", said)
	}
}

// samplesOfPrograms are the samples in each program's file, by its name.
func samplesOfPrograms(data *profile.Data) map[string]int64 {
	samples := make(map[string]int64)
	for i := range data.Experiments {
		for id, n := range data.Experiments[i].UnitSamples {
			samples[filepath.Base(data.Units[id].Binary)] += n
		}
	}
	return samples
}

// If a load ends, whatif ends, with its status.
func TestSystemLoad(t *testing.T) {
	realkernel.NeedSession(t)
	file := filepath.Join(t.TempDir(), "whatif.profile")
	cmd := exec.Command(realkernel.Whatif(t), "system", "--quiet", "-o", file, "-p", "syscall:getppid",
		"--", "sh", "-c", "sleep 0.5; exit 7")
	var said bytes.Buffer
	cmd.Stderr = &said
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != 7 {
		t.Fatalf("status %d, want the load's 7\n%s", got, said.Bytes())
	}
	runs, err := profile.ReadFiles([]string{file})
	if err != nil || len(runs) != 1 || runs[0].End == nil || runs[0].End.Status != 7 {
		t.Fatalf("%v, %d runs", err, len(runs))
	}
}

// If a process dies and another one gets its number, only the first is attached to.
func TestAttachNumberReused(t *testing.T) {
	realkernel.NeedSession(t)
	program := compileBusy(t)
	p := startBusy(t, program, "3")
	a := attach(t, append(busyPoints, strconv.Itoa(p.pid()))...)
	unix.Kill(p.pid(), unix.SIGKILL)
	p.cmd.Wait()
	q := startBusy(t, program, "3") // whatever number it gets
	if data := a.ended(t); data.End.Status != 0 {
		t.Errorf("status %d", data.End.Status)
	}
	if !q.runs() {
		t.Error("another process ended with it")
	}
}
