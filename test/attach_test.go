package test

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/target"
	"whatif/internal/testing/realkernel"
)

// The words of the page that testdata/busy.c shares with the test, after those of a pulse.
const (
	wordRest = 2 + iota
	wordResting
	wordThreads
)

// rest asks the program's threads to rest and waits until all do, between two visits.
func (p *pulse) rest(t *testing.T) {
	t.Helper()
	p.set(wordRest, 1)
	p.awaitWord(t, func() bool { return p.word(wordResting) == p.word(wordThreads) })
}

func (p *pulse) goOn(t *testing.T) {
	t.Helper()
	p.set(wordRest, 0)
	p.awaitWord(t, func() bool { return p.word(wordResting) == 0 })
}

func (p *pulse) set(i int, to uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&p.memory[8*i])), to)
}

func (p *pulse) awaitWord(t *testing.T, come func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !come(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			said, _ := os.ReadFile(p.stderr)
			t.Fatalf("%v: resting %d of %d threads, asked %d\n%s", p.cmd.Args, p.word(wordResting), p.word(wordThreads),
				p.word(wordRest), said)
		}
	}
}

// attaching is a whatif that attaches to processes that run already.
type attaching struct {
	cmd  *exec.Cmd
	said output
	file string
}

// output is what a process has said so far, while it goes on.
type output struct {
	sync.Mutex
	text []byte
}

func (o *output) Write(text []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	o.text = append(o.text, text...)
	return len(text), nil
}

func (o *output) String() string {
	o.Lock()
	defer o.Unlock()
	return string(o.text)
}

// attach starts it and waits until it measures.
func attach(t *testing.T, args ...string) *attaching {
	t.Helper()
	return startMeasuring(t, "attach", args...)
}

// startMeasuring starts whatif attach or whatif system, and waits until it measures.
func startMeasuring(t *testing.T, command string, args ...string) *attaching {
	t.Helper()
	a := &attaching{file: filepath.Join(t.TempDir(), "whatif.profile")}
	a.cmd = exec.Command(realkernel.Whatif(t),
		append([]string{command, "--quiet", "--experiment", "20ms", "-o", a.file}, args...)...)
	a.start(t)
	return a
}

// start waits until everything is attached and an experiment is over.
func (a *attaching) start(t *testing.T) {
	t.Helper()
	a.cmd.Stderr = &a.said
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.cmd.Process.Kill() }) // before the next turn, if the test fails meanwhile
	for end := time.Now().Add(patience); !a.begun(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			a.cmd.Process.Kill()
			a.cmd.Wait()
			t.Fatalf("%v does not attach\n%s", a.cmd.Args, a.said.String())
		}
	}
}

// begun tells whether an experiment has been written: everything is attached by then.
func (a *attaching) begun() bool { return a.experiments() > 0 }

// experiments is how many have been written so far.
func (a *attaching) experiments() int { return strings.Count(a.written(), `{"experiment":`) }

// written is what is in the profile so far.
func (a *attaching) written() string {
	text, _ := os.ReadFile(a.file) // at first there is none
	return string(text)
}

// detach ends it, as Ctrl-C does, and gives the visits of its points.
func (a *attaching) detach(t *testing.T) *profile.Data {
	t.Helper()
	if err := a.cmd.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	return a.ended(t)
}

func (a *attaching) ended(t *testing.T) *profile.Data {
	t.Helper()
	if err := a.cmd.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", a.cmd.Args, err, a.said.String())
	}
	runs, err := profile.ReadFiles([]string{a.file})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 || runs[0].End == nil {
		t.Fatalf("%v: %d runs, or one without an end\n%s", a.cmd.Args, len(runs), a.said.String())
	}
	return runs[0]
}

var busyPoints = []string{"-p", "func:visited", "-p", "work", "-p", "syscall:getppid"}

// startBusy starts testdata/busy.c, and waits until it runs. The test's turn begins, or the program would be busy while
// others' turns last.
func startBusy(t *testing.T, command ...string) *pulse {
	t.Helper()
	realkernel.Whatif(t)
	p := startPulse(t, command...)
	p.awaitWord(t, func() bool { return p.word(wordThreads) > 0 && p.rounds() > 100 })
	return p
}

func compileBusy(t *testing.T) string {
	t.Helper()
	return realkernel.Compile(t, "testdata/busy.c", "-I..", "-no-pie")
}

// exact attaches to the program and compares what is counted with what the program itself counts. The program rests
// meanwhile, so that no visit is half made.
func exact(t *testing.T, p *pulse, pid int, args ...string) holdings {
	t.Helper()
	return exactAt(t, p, pid, busyPoints, args...)
}

func exactAt(t *testing.T, p *pulse, pid int, points []string, args ...string) holdings {
	t.Helper()
	p.rest(t)
	a := attach(t, append(append([]string{}, points...), args...)...)
	left := loadedBy(t, a.cmd.Process.Pid)
	awaitTicks(t, pid)
	before := p.rounds()
	p.goOn(t)
	time.Sleep(100 * time.Millisecond)
	p.rest(t)
	made := int64(p.rounds() - before)
	awaitTicks(t, pid)
	data := a.detach(t)
	p.goOn(t)
	for i, got := range data.End.Visits {
		if got != made {
			t.Errorf("%s: %d visits counted, the program made %d; losses %v", data.Run.Points[i].Name, got, made,
				data.End.Losses)
		}
	}
	if data.End.Status != 0 || data.Run.Subject != "attach" {
		t.Errorf("status %d of %q", data.End.Status, data.Run.Subject)
	}
	return left
}

// A process goes on when its first thread has ended. /proc then shows neither a program nor memory under its number,
// and the process is found and profiled all the same.
func TestAttachFirstThreadEnded(t *testing.T) {
	realkernel.NeedSession(t)
	p := startBusy(t, compileBusy(t), "2", "headless")
	p.awaitWord(t, func() bool { // the thread tells its number first, and then ends
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", p.pid()))
		return p.pid() != 0 && err == nil && len(text) == 0
	})
	all, err := target.FindNamed("busy")
	itself := func(r target.Running) bool { return r.PID == p.pid() && len(r.Args) == 4 }
	if err != nil || !slices.ContainsFunc(all, itself) {
		t.Errorf("by its program's name %+v are found, %v", all, err)
	}
	left := exact(t, p, p.pid(), strconv.Itoa(p.pid()))
	gone(t, left)
	a := attach(t, "-p", "func:visited", "-u", "func", strconv.Itoa(p.pid()))
	awaitUntil(t, "samples in its function", func() bool { return strings.Contains(a.written(), `"func":"work"`) })
	a.detach(t)
}

// Points of every kind are counted from the first visit after attaching to the last one before detaching.
func TestAttachEveryKind(t *testing.T) {
	realkernel.NeedSession(t)
	p := startBusy(t, compileBusy(t), "3")
	line := realkernel.Line(t, "testdata/busy.c", "// COUNTED")
	points := []string{"-p", "func:visited%return", "-p", fmt.Sprintf("busy.c:%d", line), "-p", "usdt:busy:visit",
		"-p", "usdt:busy:watched", "-p", "tracepoint:signal:signal_generate", "-p", "syscall:getppid%exit"}
	for range times(1, 10) {
		exactAt(t, p, p.pid(), points, strconv.Itoa(p.pid()))
		if !sameCode(t, p.pid()) {
			t.Error("a probe is left in the program")
		}
		if n := semaphore(t, p.pid(), "busy_watched_semaphore"); n != 0 {
			t.Errorf("the static probe's counter of watchers is %d", n)
		}
	}
}

// awaitTicks waits until a process has run for so long that ticks of whatif have met it: then the counts of points in
// its source are read. Its threads run a little while they rest.
func awaitTicks(t *testing.T, pid int) {
	t.Helper()
	const enough = 5 // of 10 ms
	begin, end := cpuTime(t, pid), time.Now().Add(patience)
	for ; cpuTime(t, pid) < begin+enough; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d does not run", pid)
		}
	}
}

// cpuTime of a process, in 10 ms.
func cpuTime(t *testing.T, pid int) int {
	t.Helper()
	return statistic(t, pid, 14) + statistic(t, pid, 15) // in the program, and in the kernel
}

// statistic is a field of /proc/PID/stat, with the number that proc(5) gives it, from 3 on.
func statistic(t *testing.T, pid, field int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.Fields(string(text[bytes.LastIndexByte(text, ')'):]))[field-2])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// state is what attaching could leave behind in a process.
type state struct{ files, threads, rss int }

func stateOf(t *testing.T, pid int) state {
	t.Helper()
	var s state
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	s.files = len(files)
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fmt.Sscanf(line, "Threads: %d", &s.threads)
		fmt.Sscanf(line, "VmRSS: %d", &s.rss)
	}
	return s
}

// times is how often something is tried: often where there is time.
func times(short, whole int) int {
	if testing.Short() {
		return short
	}
	return whole
}

// attaches is how often, where there is time.
var attaches = flag.Int("attaches", 100, "attach this often to a program where it is attached to again and again")

// attachables are programs that are attached to again and again, and the process of each.
func attachables(t *testing.T) map[string]func() (*pulse, int) {
	program := compileBusy(t)
	return map[string]func() (*pulse, int){
		"threads": func() (*pulse, int) {
			p := startBusy(t, program, strconv.Itoa(times(100, 200)))
			return p, p.pid()
		},
		"namespaces": func() (*pulse, int) {
			// Its program is a file that only it can see.
			p := startBusy(t, "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c",
				`mount -t tmpfs none /mnt && cp "$0" /mnt/busy && exec /mnt/busy 20 "$1"`, program)
			return p, onlyChild(t, p.cmd.Process.Pid)
		},
	}
}

// A busy program of many threads, and one in namespaces of its own, are attached to and left again and again: all is
// counted exactly, and nothing is left behind.
func TestAttachAgainAndAgain(t *testing.T) {
	realkernel.NeedSession(t)
	uprobes := uprobeEvents(t)
	for name, start := range attachables(t) {
		t.Run(name, func(t *testing.T) {
			p, pid := start()
			defer p.end()
			exact(t, p, pid, strconv.Itoa(pid)) // what is allocated once is no leak
			before, kernel := stateOf(t, pid), kernelMemory(t)
			for range times(1, *attaches) {
				gone(t, exact(t, p, pid, strconv.Itoa(pid)))
			}
			after := stateOf(t, pid)
			if after.files != before.files || after.threads != before.threads || after.rss > before.rss+512 {
				t.Errorf("the program had files, threads and KiB %+v, has %+v", before, after)
			}
			if !sameCode(t, pid) {
				t.Error("a probe is left in the program")
			}
			if *figures {
				time.Sleep(3 * time.Second) // the kernel takes its time to give memory back
				grown := kernelMemory(t) - kernel
				t.Logf("attached %d times: the program has %+v, had %+v; the kernel's memory grew by %d KiB", *attaches, after,
					before, grown)
				if grown > 20<<10 { // the tables of one whatif are 24 MiB
					t.Errorf("the kernel's memory grew by %d KiB", grown)
				}
			}
		})
	}
	if now := uprobeEvents(t); now != uprobes {
		t.Errorf("uprobe_events was %q and is %q", uprobes, now)
	}
}

// kernelMemory is what the kernel has for itself and cannot take back, in KiB: BPF's maps and programs, probes,
// storage.
func kernelMemory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(line, ":")
		switch name {
		case "SUnreclaim", "Percpu", "VmallocUsed":
			n := 0
			fmt.Sscan(rest, &n)
			sum += n
		}
	}
	return sum
}

// A program does as much per second before whatif attaches as after. The machine's speed changes: by how much is
// measured where nothing is done in between.
func TestAttachRate(t *testing.T) {
	measures(t)
	for name, start := range attachables(t) {
		t.Run(name, func(t *testing.T) {
			p, pid := start()
			defer p.end()
			// The kernel gives whatif's maps and programs back when whatif has ended, and works for that.
			const settles, over = 300 * time.Millisecond, 300 * time.Millisecond
			var ratios, alone []float64
			last := p.rate(over)
			for range *attaches {
				before := p.rate(over)
				alone = append(alone, before/last)
				attach(t, append(busyPoints, strconv.Itoa(pid))...).detach(t)
				time.Sleep(settles)
				last = p.rate(over)
				ratios = append(ratios, last/before)
			}
			rate, noise := spreadOf(ratios), spreadOf(alone)
			t.Logf("%d times attached and detached: the rate after is %v of that before; with nothing in between %v", *attaches,
				rate, noise)
			if math.Abs(rate.median-1) > 0.01 && (rate.low > 1 || rate.high < 1) {
				t.Errorf("the rate changed by %.2f%%", 100*(rate.median-1))
			}
		})
	}
}

// threadClock is for how long a process's first thread has been on cores, in ns, as of the last tick.
func threadClock(t *testing.T, pid int) (ns int64) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, pid))
	if err == nil {
		_, err = fmt.Sscan(string(text), &ns)
	}
	if err != nil {
		t.Fatal(err)
	}
	return ns
}

// spread is a median and its 95% interval, by the binomial distribution of ranks, so for any distribution of the
// values.
type spread struct{ median, low, high float64 }

func spreadOf(x []float64) spread {
	if len(x) == 0 {
		return spread{}
	}
	s := slices.Sorted(slices.Values(x))
	n := float64(len(s))
	rank := max(int((n-1.96*math.Sqrt(n))/2), 0)
	return spread{(s[(len(s)-1)/2] + s[len(s)/2]) / 2, s[rank], s[len(s)-1-rank]}
}

func (s spread) String() string {
	return fmt.Sprintf("%.2f%% (%.2f to %.2f)", 100*s.median, 100*s.low, 100*s.high)
}

func onlyChild(t *testing.T, pid int) int {
	t.Helper()
	out, err := exec.Command("pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return child
}

// A process that forks and runs programs all the time is profiled with all the processes that it forks from now on;
// with --children, also with those that run already.
func TestAttachDescendants(t *testing.T) {
	realkernel.NeedSession(t)
	p := startBusy(t, compileBusy(t), "3", "forks")
	for range times(1, 20) {
		exact(t, p, p.pid(), "--children", strconv.Itoa(p.pid()))
	}
	exact(t, p, p.pid(), "--name", "bus?")
	// Without --children, only the visits of the process itself and its threads are counted.
	p.rest(t)
	a := attach(t, append(busyPoints, strconv.Itoa(p.pid()))...)
	forker := onlyChild(t, p.pid())
	ended := func() int { return statistic(t, forker, 11) } // it grows with each child that has ended
	before, endedBefore := p.rounds(), ended()
	p.goOn(t)
	awaitTicks(t, p.pid()) // it visits
	awaitUntil(t, "a visit of a child's child", func() bool { return ended() > endedBefore })
	p.rest(t)
	data := a.detach(t)
	if all := int64(p.rounds() - before); data.End.Visits[0] == 0 || data.End.Visits[0] >= all {
		t.Errorf("%d visits of %d counted, those of children that were there are not meant", data.End.Visits[0], all)
	}
}

// If whatif is killed the program runs on. If the program is killed whatif ends.
func TestAttachKilled(t *testing.T) {
	realkernel.NeedSession(t)
	p := startBusy(t, compileBusy(t), strconv.Itoa(times(3, 20)))
	for range times(1, 10) {
		a := attach(t, append(busyPoints, "-s", "100", strconv.Itoa(p.pid()))...)
		left := loadedBy(t, a.cmd.Process.Pid)
		a.cmd.Process.Kill()
		a.cmd.Wait()
		gone(t, left)
		if !p.runs() || !sameCode(t, p.pid()) {
			t.Fatal("the program is gone, or its probe is not")
		}
	}
	exact(t, p, p.pid(), strconv.Itoa(p.pid()))
	a := attach(t, append(busyPoints, strconv.Itoa(p.pid()))...)
	unix.Kill(p.pid(), unix.SIGKILL)
	p.cmd.Wait()
	a.ended(t)
}

// Members of a cgroup come and go: a process is counted while it is in the cgroup.
func TestAttachCgroup(t *testing.T) {
	realkernel.NeedSession(t)
	program := compileBusy(t)
	p, q := startBusy(t, program, "3"), startBusy(t, program, "3")
	dir := cgroup(t)
	enter(t, dir, p.pid())
	exact(t, p, p.pid(), "--cgroup", dir)
	p.rest(t)
	q.rest(t)
	a := attach(t, append(busyPoints, "--cgroup", filepath.Base(dir))...)
	known := loadedBy(t, a.cmd.Process.Pid)
	enter(t, dir, q.pid())
	awaitUntil(t, "both to be profiled", func() bool { return known.entries(t, "processes") == 2 })
	enter(t, filepath.Dir(dir), p.pid())
	awaitUntil(t, "one to be profiled", func() bool { return known.entries(t, "processes") == 1 })
	awaitTicks(t, q.pid())
	before := q.rounds()
	p.goOn(t)
	q.goOn(t)
	time.Sleep(100 * time.Millisecond)
	p.rest(t)
	q.rest(t)
	made := int64(q.rounds() - before)
	awaitTicks(t, q.pid())
	// When it is empty for long, profiling ends.
	enter(t, filepath.Dir(dir), q.pid())
	for i, got := range a.ended(t).End.Visits {
		if got != made {
			t.Errorf("point %d: %d visits counted, the process that came made %d", i, got, made)
		}
	}
}

// cgroup makes one.
func cgroup(t *testing.T) string {
	t.Helper()
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids"} {
		if dir := cgroupIn(t, root); dir != "" {
			return dir
		}
	}
	t.Skip("no cgroup can be made here")
	return ""
}

// cgroupIn makes one in a hierarchy, if it can.
func cgroupIn(t *testing.T, root string) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err != nil {
		return ""
	}
	test, _, _ := strings.Cut(t.Name(), "/") // others run in parallel
	dir := filepath.Join(root, fmt.Sprintf("whatif-test-%s-%d", test, os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return ""
	}
	t.Cleanup(func() {
		for end := time.Now().Add(patience); os.Remove(dir) != nil; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Error("a cgroup is left behind")
				return
			}
		}
	})
	return dir
}

func enter(t *testing.T, dir string, pid int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0); err != nil {
		t.Fatal(err)
	}
}
