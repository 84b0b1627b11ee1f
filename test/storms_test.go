package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/target"
	"whatif/internal/testing/realkernel"
)

// The words of testdata/storm.c behind those of busy.c.
const (
	wordStrangers = wordThreads + 1 + iota
	wordTurns
)

func compileStorm(t *testing.T) string {
	t.Helper()
	return realkernel.Compile(t, "testdata/storm.c", "-I..", "-no-pie")
}

func startStorm(t *testing.T, program, kind string) *pulse {
	t.Helper()
	p := startPulse(t, program, kind)
	p.awaitWord(t, func() bool { return p.word(wordThreads) > 0 && p.word(wordTurns) > 20 && p.rounds() > 20 })
	return p
}

// Numbers of processes are used again at once, in turn by a process of the target and by another one: all visits of the
// first are counted, and none of the others.
func TestStormOfNumbers(t *testing.T) {
	realkernel.NeedSession(t)
	p := startStorm(t, compileStorm(t), "numbers")
	for range times(1, storms()) {
		data := exactStorm(t, p, "-l", "never=func:begins%arg1..func:ends%arg1", strconv.Itoa(p.pid()))
		begins, ends := data.End.Visits[len(busyPoints)/2], data.End.Visits[len(busyPoints)/2+1]
		if begins == 0 || ends == 0 {
			t.Errorf("%d begins, %d ends: this says nothing", begins, ends)
		}
		for _, e := range data.Experiments {
			if l := e.Latencies[0]; l.Matched != 0 {
				t.Errorf("%d times what one process has ended is taken for what an earlier one of its number had begun", l.Matched)
			}
		}
	}
	// Here numbers also tell which processes are in the cgroup: the first is, the others are not.
	dir := cgroup(t)
	enter(t, dir, p.pid())
	for range times(1, storms()) {
		exactStorm(t, p, "--cgroup", dir)
	}
	enter(t, filepath.Dir(dir), p.pid())
	// On a whole machine all are counted.
	for range times(0, storms()) {
		p.rest(t)
		a := system(t, "-p", "func:"+executable(t, p)+":visited")
		before := p.rounds() + p.word(wordStrangers)
		p.goOn(t)
		time.Sleep(500 * time.Millisecond)
		p.rest(t)
		made := int64(p.rounds() + p.word(wordStrangers) - before)
		if data := a.detach(t); data.End.Visits[0] != made {
			t.Errorf("system: %d visits counted, %d were made; losses %v", data.End.Visits[0], made, data.End.Losses)
		}
	}
}

// storms is how often they are tried, where there is time; each takes some seconds.
func storms() int { return max(*attaches/4, 1) }

// Processes execute programs anew, hundreds a second and by any of their threads, and go on with that while whatif
// attaches and detaches.
func TestStormOfExecs(t *testing.T) {
	realkernel.NeedSession(t)
	program := compileStorm(t)
	p := startStorm(t, program, "execs")
	for range times(0, storms()) {
		exactStorm(t, p, "--children", strconv.Itoa(p.pid()))
	}
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	for range times(1, storms()) {
		// The threads of the chains do nothing but this line while another one stops them and executes the program anew.
		exactStorm(t, p, "--children", "-s", "100",
			"-t", fmt.Sprintf("storm.c:%d", realkernel.Line(t, "testdata/storm.c", "// WORK")), strconv.Itoa(p.pid()))
	}
}

// While one of a process's threads executes a program anew the first one has ended, and /proc calls the process a
// zombie.
func TestExecIsFound(t *testing.T) {
	realkernel.NeedKernel(t)
	p := startStorm(t, compileStorm(t), "execs")
	p.rest(t) // they go on with that, and start no processes
	of, err := target.FindRunning([]int{p.pid()})
	if err != nil {
		t.Fatal(err)
	}
	chains := func() (pids []int) {
		all, err := target.Descendants(of)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if s, err := target.StatOf(r.PID); err == nil && s.Parent == p.pid() {
				pids = append(pids, r.PID)
			}
		}
		return pids
	}
	first := chains()
	for i := range 500 {
		if now := chains(); len(now) != 2 || !slices.Equal(now, first) {
			t.Fatalf("of the processes %v at look %d only %v are found", first, i, now)
		}
	}
}

// exactStorm is exact for a storm. It checks that nothing is left of processes that are gone, in the kernel's tables
// and in whatif.
func exactStorm(t *testing.T, p *pulse, args ...string) *profile.Data {
	t.Helper()
	p.rest(t)
	a := attach(t, append(append([]string{}, busyPoints...), args...)...)
	left := loadedBy(t, a.cmd.Process.Pid)
	awaitTicks(t, p.pid())
	before, strangers, turns, own := p.rounds(), p.word(wordStrangers), p.word(wordTurns), stateOf(t, a.cmd.Process.Pid)
	begin := time.Now()
	p.goOn(t)
	time.Sleep(500 * time.Millisecond)
	p.awaitWord(t, func() bool { return p.word(wordTurns) >= turns+10 })
	p.rest(t)
	turns, took := p.word(wordTurns)-turns, time.Since(begin)
	awaitTicks(t, p.pid())
	made, others := int64(p.rounds()-before), p.word(wordStrangers)-strangers
	alive := int(p.word(wordThreads)) - 1 // one of the first process's two threads; the chains are processes
	if alive == 0 {
		alive = 1
	}
	// A child's end may still be to come when its parent runs another program already. Programs are executed anew
	// meanwhile, so one look may meet both what a process had before and what it has now.
	awaitUntil(t, fmt.Sprintf("%d processes in the kernel's table, and their address spaces", alive), func() bool {
		return left.entries(t, "processes") == alive && left.entries(t, "counters") <= alive
	})
	if now := stateOf(t, a.cmd.Process.Pid); now.files > own.files+8 {
		t.Errorf("whatif had %d files open, and has %d after %d turns", own.files, now.files, turns)
	}
	ends := time.Now()
	data := a.detach(t)
	if *figures {
		t.Logf("%d turns, %.0f a second: %d visits, %d of others; whatif ended after %v; losses %v", turns,
			float64(turns)/took.Seconds(), made, others, time.Since(ends).Round(time.Millisecond), data.End.Losses)
	}
	for i, got := range data.End.Visits {
		if i < 3 && got != made {
			t.Errorf("%s: %d visits counted, the program made %d, and others %d; losses %v", data.Run.Points[i].Name, got, made,
				others, data.End.Losses)
		}
	}
	gone(t, left)
	p.goOn(t)
	return data
}

// gone waits until nothing of a whatif is left in the kernel.
func gone(t *testing.T, left holdings) {
	t.Helper()
	for end := time.Now().Add(patience); len(left.still(t)) > 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("left behind in the kernel: %v", left.still(t))
		}
	}
}

// entries is how many entries a table of the kernel side has.
func (l holdings) entries(t *testing.T, name string) int {
	t.Helper()
	for id := range l["map"] {
		m, err := ebpf.NewMapFromID(ebpf.MapID(id))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		info, err := m.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Name != name {
			continue
		}
		n := 0
		key, value := make([]byte, m.KeySize()), make([]byte, m.ValueSize())
		all := m.Iterate()
		for all.Next(&key, &value) {
			n++
		}
		if err := all.Err(); err != nil {
			t.Fatal(err)
		}
		return n
	}
	t.Fatalf("no table %s", name)
	return 0
}

// stormy is a machine on which programs come and go, and one that would be slowed.
type stormy struct {
	pulse  *pulse
	storms []*pulse
	dir    string // the cgroup of all of them
	flags  []string
}

func startStormy(t *testing.T) *stormy {
	t.Helper()
	const source = "testdata/pulse.c"
	s := &stormy{dir: cgroup(t)}
	s.pulse = startPulse(t, realkernel.Compile(t, source, "-no-pie"))
	s.pulse.await(t)
	program := compileStorm(t)
	for _, kind := range []string{"numbers", "execs"} {
		s.storms = append(s.storms, startStorm(t, program, kind))
	}
	for _, p := range s.all() {
		enterTree(t, s.dir, p.pid())
	}
	s.flags = []string{"-s", "100", "-t", fmt.Sprintf("pulse.c:%d", realkernel.Line(t, source, "// SELECTED")),
		"-p", "func:" + executable(t, s.pulse) + ":round_done"}
	return s
}

func (s *stormy) all() []*pulse { return append([]*pulse{s.pulse}, s.storms...) }

// enterTree puts a process and its descendants into a cgroup.
func enterTree(t *testing.T, dir string, pid int) {
	t.Helper()
	enter(t, dir, pid)
	out, _ := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output() // none: it fails
	for _, child := range strings.Fields(string(out)) {
		// A process that is gone meanwhile need not be in it.
		os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(child), 0)
	}
}

// profiled starts whatif on all of the machine, in one of the ways that there are, and waits until something is sped
// up.
func (s *stormy) profiled(t *testing.T, how string) *attaching {
	t.Helper()
	var a *attaching
	switch how {
	case "attach":
		args := append(slices.Clone(s.flags), "--children")
		for _, p := range s.all() {
			args = append(args, strconv.Itoa(p.pid()))
		}
		a = attach(t, args...)
	case "cgroup":
		a = attach(t, append(slices.Clone(s.flags), "--cgroup", s.dir)...)
	case "system":
		a = system(t, s.flags...)
	}
	for end := time.Now().Add(patience); !a.hasStopped(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			a.cmd.Process.Kill()
			a.cmd.Wait()
			t.Fatalf("%v stops nobody\n%s", a.cmd.Args, a.said.String())
		}
	}
	return a
}

// hasStopped tells whether an experiment has stopped a thread.
func (a *attaching) hasStopped() bool { return stopped.MatchString(a.written()) }

var stopped = regexp.MustCompile(`"speedup":100.*"paused_ns":[1-9]`)

var manners = []string{"attach", "cgroup", "system"}

// whatif is killed while processes come and go: nothing of it is left, and threads that were stopped are at full speed.
func TestStormWhatifKilled(t *testing.T) {
	realkernel.NeedSession(t)
	s := startStormy(t)
	for _, how := range manners[times(2, 0):] {
		var stopped, soon []float64
		for i := range times(1, max(*attaches/10, 2)) {
			a := s.profiled(t, how)
			left := loadedBy(t, a.cmd.Process.Pid)
			during := 0.
			if *figures {
				during = s.speed(t, time.Second)
			}
			time.Sleep(time.Duration(i*7%40) * time.Millisecond)
			a.cmd.Process.Kill()
			a.cmd.Wait()
			if *figures {
				time.Sleep(100 * time.Millisecond)
				then := s.speed(t, 300*time.Millisecond)
				time.Sleep(500 * time.Millisecond)
				later := s.speed(t, 300*time.Millisecond)
				stopped, soon = append(stopped, during/later), append(soon, then/later)
			}
			gone(t, left)
			for _, p := range s.all() {
				before := p.rounds()
				p.awaitWord(t, func() bool { return p.rounds() > before+5 })
			}
			if !sameCode(t, s.pulse.pid()) {
				t.Error("a probe is left in the program")
			}
			if runs, err := profile.ReadFiles([]string{a.file}); err != nil || len(runs) != 1 || len(runs[0].Experiments) == 0 {
				t.Errorf("%s: what was measured cannot be read: %v", how, err)
			}
		}
		if *figures {
			t.Logf("%s: killed %d times; the program's speed was %v of what it is undisturbed while it was profiled, "+
				"and %v from 100 ms after the kill on", how, len(soon), spreadOf(stopped), spreadOf(soon))
		}
	}
}

// speed is how many rounds the program makes in a second in which its thread has a core, as others compete for the
// cores. Stops count as its time.
func (s *stormy) speed(t *testing.T, over time.Duration) float64 {
	t.Helper()
	before, since := s.pulse.rounds(), threadClock(t, s.pulse.pid())
	time.Sleep(over)
	return float64(s.pulse.rounds()-before) / float64(threadClock(t, s.pulse.pid())-since)
}

// The target is killed while its processes come and go: whatif ends with what was measured.
func TestStormTargetKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("TestAttachKilled is the short one")
	}
	realkernel.NeedSession(t)
	for _, how := range manners[:2] {
		t.Run(how, func(t *testing.T) {
			s := startStormy(t)
			a := s.profiled(t, how)
			for _, p := range s.all() {
				unix.Kill(p.pid(), unix.SIGKILL)
				p.cmd.Wait()
			}
			if data := a.ended(t); data.End.Status != 0 || len(data.Experiments) == 0 || data.End.Visits[0] == 0 {
				t.Errorf("status %d, %d experiments, visits %v", data.End.Status, len(data.Experiments), data.End.Visits)
			}
		})
	}
	// The load of a whole machine is killed.
	p := startStorm(t, compileStorm(t), "execs")
	file := filepath.Join(t.TempDir(), "whatif.profile")
	cmd := exec.Command(realkernel.Whatif(t), "system", "--quiet", "--experiment", "20ms", "-o", file,
		"-p", "func:"+executable(t, p)+":visited", "--", "sh", "-c", "sleep 1; kill -9 $$")
	cmd.Run()
	runs, err := profile.ReadFiles([]string{file})
	if err != nil || len(runs) != 1 || runs[0].End == nil || cmd.ProcessState.ExitCode() != 137 {
		t.Fatalf("status %d; %v", cmd.ProcessState.ExitCode(), err)
	}
	if end := runs[0].End; end.Status != 137 || end.Visits[0] == 0 || len(runs[0].Experiments) == 0 {
		t.Errorf("status %d, visits %v, %d experiments", end.Status, end.Visits, len(runs[0].Experiments))
	}
}
