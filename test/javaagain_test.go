package test

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/jdk"
	"whatif/internal/testing/realkernel"
)

// busyJava is testdata/java/Busy.java in a VM.
type busyJava struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	log string // of the VM: its deoptimisations
}

// The VM's log has each deoptimisation. Methods are compiled soon, so that many are. HotSpot keeps all versions of a
// class from which code was made until it cleans its memory for code, which it does sooner if that is small.
var busyFlags = []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+LogCompilation", "-Xmx64m", "-Xms64m",
	"-XX:CompileThresholdScaling=0.2", "-XX:ReservedCodeCacheSize=16m"}

// startBusyJava starts it, and has it compiled.
func startBusyJava(t *testing.T, flags ...string) *busyJava {
	t.Helper()
	java, classes := javaPrograms(t)
	b := &busyJava{log: filepath.Join(t.TempDir(), "vm.log")}
	args := slices.Concat(busyFlags, flags, []string{"-XX:LogFile=" + b.log, "-cp", classes, "Busy"})
	b.cmd = exec.Command(java, args...)
	b.cmd.Stderr = os.Stderr
	var err error
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.cmd.Process.Kill()
		b.cmd.Wait()
	})
	b.out = bufio.NewReader(out)
	if line, err := b.out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
	return b
}

func (b *busyJava) pid() int { return b.cmd.Process.Pid }

// do has the program do something for some time, and gives the two numbers that it answers.
func (b *busyJava) do(t *testing.T, what string, over time.Duration) (one, other int64) {
	t.Helper()
	_, err := fmt.Fprintf(b.in, "%s %d\n", what, over.Milliseconds())
	var line string
	if err == nil {
		line, err = b.out.ReadString('\n')
	}
	if err == nil {
		_, err = fmt.Sscan(line, &one, &other)
	}
	if err != nil {
		t.Fatalf("the program said %q, %v", line, err)
	}
	return one, other
}

// rate is how often visit is called in a second of processor time.
func (b *busyJava) rate(t *testing.T, over time.Duration) float64 {
	t.Helper()
	visits, nanoseconds := b.do(t, "work", over)
	return float64(visits) / float64(nanoseconds) * 1e9
}

// exact attaches, and compares what is counted of points with what the program says.
func (b *busyJava) exact(t *testing.T, what, point string, over time.Duration) {
	t.Helper()
	a := attach(t, "-p", point, strconv.Itoa(b.pid()))
	const ticks = 50 * time.Millisecond // several: what was counted is read at them
	b.do(t, "spin", ticks)
	made, _ := b.do(t, what, over)
	b.do(t, "spin", ticks)
	data := a.detach(t)
	if got := data.End.Visits[0]; got != made || made == 0 {
		t.Errorf("%s: %d visits counted, the program made %d; %s", point, got, made, a.said.String())
	}
}

// jcmd asks the VM.
func (b *busyJava) jcmd(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("jcmd", append([]string{strconv.Itoa(b.pid())}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("jcmd %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// javaState is what attaching could leave behind in a VM.
type javaState struct {
	state
	mappings int // of the agent
	metadata int // of classes, KiB
	classes  int
	nmethods int
}

func (s javaState) String() string {
	return fmt.Sprintf("%d files, %d threads, %d mappings, %d nmethods, %d classes; KiB: %d resident, %d of metadata",
		s.files, s.threads, s.mappings, s.nmethods, s.classes, s.rss, s.metadata)
}

func (b *busyJava) state(t *testing.T) javaState {
	t.Helper()
	commands := filepath.Join(t.TempDir(), "commands")
	// What is not in use any more is given back first: by two collections, as the first finds out what is in use.
	const text = "GC.run\nVM.metaspace\nGC.heap_info\nCompiler.codelist\n"
	if err := os.WriteFile(commands, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if !testing.Short() {
		b.jcmd(t, "GC.run")
		b.do(t, "spin", 100*time.Millisecond)
	}
	said := b.jcmd(t, "-f", commands)
	s := javaState{state: stateOf(t, b.pid())}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", b.pid()))
	if err != nil {
		t.Fatal(err)
	}
	s.mappings = strings.Count(string(maps), "libwhatif-jvm.so")
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		fmt.Sscanf(line, "Total Usage - %d loaders, %d classes", new(int), &s.classes)
		fmt.Sscanf(line, "Metaspace used %dK", &s.metadata)
		var id, level, state int
		var method string
		if n, _ := fmt.Sscan(line, &id, &level, &state, &method); n == 4 && state == 0 {
			s.nmethods++
		}
	}
	return s
}

// deoptimisations is how often the VM has given up compiled code, or a frame of it, so far.
func (b *busyJava) deoptimisations(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(b.log)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, event := range []string{"make_not_entrant", "uncommon_trap thread", "deoptimized thread"} {
		n += strings.Count(string(text), "<"+event)
	}
	return n
}

// slow is the part of the rate before that a VM has at least where its methods are compiled as they were.
// TestJavaAgainRate measures by how much less it has.
const slow = 0.7

// TestJavaAgain: a VM is attached to and left again and again while it works. Counts are exact. Nothing is left behind,
// and the work is done by compiled methods again.
func TestJavaAgain(t *testing.T) {
	realkernel.NeedSession(t)
	b := startBusyJava(t)
	const point = "func:Busy.visit"
	warm := time.Duration(times(600, 3000)) * time.Millisecond
	b.do(t, "work", warm)
	fast := b.rate(t, warm/2)
	before := b.state(t)
	attached := func() { // the turn ends with it: it takes long to ask the VM for its state
		t.Run("attached", func(t *testing.T) { b.exact(t, "work", point, 100*time.Millisecond) })
	}
	attached() // what is made once is no leak
	first := b.state(t)
	n := times(0, *attaches)
	for range n {
		attached()
	}
	// Methods are compiled again, and files of a moment closed, some time after; on a busy machine later. A leak stays,
	// and so does a method that is interpreted from now on, or compiled without the optimizing compiler: several times
	// slower, by the processor time that it takes.
	now, rate := first, 0.0
	for by := time.Now().Add(time.Minute); ; {
		rate = b.rate(t, warm)
		now = b.state(t)
		if left(now, first) == "" && rate > slow*fast || time.Now().After(by) {
			break
		}
	}
	if rate < slow*fast {
		t.Errorf("%.0f visits in a second of processor time, %.0f before it was attached to", rate, fast)
	}
	t.Logf("attached %d times more: %v; after the first time: %v; before: %v", n, now, first, before)
	if what := left(now, first); what != "" {
		t.Errorf("%s are left: %v, at first %v", what, now, first)
	}
	// Each time that a class is changed HotSpot 17 keeps 12 to 17 KiB of metadata of a class of this size for good, and 20
	// in all. It keeps as much where an agent changes nothing in the class (300 times). Each attach changes classes five
	// times, as code is compiled anew with sharp lines, and as the point comes and goes. Code waits to be removed, too.
	if n > 50 && (now.rss > first.rss+250*n || now.metadata > first.metadata+100*n) {
		t.Errorf("memory is left: %v, at first %v", now, first)
	}
	if !testing.Short() {
		b.do(t, "work", warm)
		steady := b.deoptimisations(t)
		b.do(t, "work", 3*time.Second)
		more := b.deoptimisations(t) - steady
		t.Logf("%d deoptimisations so far, %d of them in the last 3 s", steady, more)
		if more > 20 {
			t.Errorf("%d deoptimisations in 3 s in which nothing changes", more)
		}
	}
}

// left is what a VM has that it had not before; "" if there is nothing.
func left(now, before javaState) string {
	switch {
	case now.files != before.files:
		return "files"
	case now.threads > before.threads+2:
		return "threads"
	case now.mappings != before.mappings:
		return "mappings"
	}
	return ""
}

// states is after how many of the attaches the rate is measured.
const states = 6

// TestJavaAgainRate: a VM does as much in a second of processor time before it is attached to as after. Another one, to
// which nobody attaches, is measured by turns with it, as the machine's speed changes. The VM compiles anew what was
// changed, and how fast that is depends on where it is put, without whatif too: when an agent that changes nothing had
// this class made anew 24 times, the rate was 88 to 100%. So the best of several states counts. What lasts, as a method
// that is interpreted or still counts, would slow all of them.
func TestJavaAgainRate(t *testing.T) {
	measures(t)
	b, alone := startBusyJava(t), startBusyJava(t)
	const pairs, over = 10, 500 * time.Millisecond
	ratios := func() spread {
		b.do(t, "work", 5*time.Second)
		alone.do(t, "work", 5*time.Second)
		var all []float64
		for range pairs {
			all = append(all, b.rate(t, over)/alone.rate(t, over))
		}
		return spreadOf(all)
	}
	before := ratios()
	was := b.deoptimisations(t)
	var after []spread
	for i := range *attaches {
		b.exact(t, "work", "func:Busy.visit", 100*time.Millisecond)
		if i >= *attaches-states {
			after = append(after, ratios())
		}
	}
	deoptimised := b.deoptimisations(t) - was
	best := slices.MaxFunc(after, func(a, b spread) int { return cmp.Compare(a.median, b.median) })
	change := best.median/before.median - 1
	t.Logf("%d times attached, %d deoptimisations: the rate, by that of another VM, was %v; after each of the last times "+
		"%v; the best: %+.2f%%", *attaches, deoptimised, before, after, 100*change)
	if change < -0.03 && best.high < before.low {
		t.Errorf("the rate changed by %.2f%%", 100*change)
	}
}

// TestJavaKilled: whatif is killed at any moment of its attaching. The VM goes on, and another whatif counts exactly,
// and removes what is left.
func TestJavaKilled(t *testing.T) {
	realkernel.NeedSession(t)
	b := startBusyJava(t)
	n := times(2, 60)
	for i := range n {
		cmd := exec.Command(realkernel.Whatif(t), "attach", "--quiet", "-o", filepath.Join(t.TempDir(), "p"), "-p",
			"func:Busy.visit", strconv.Itoa(b.pid()))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		after := time.Duration(times(400, 0)+i*times(250, 25)) * time.Millisecond
		done := make(chan bool)
		go func() {
			time.Sleep(after)
			cmd.Process.Kill()
			close(done)
		}()
		b.do(t, "work", after+20*time.Millisecond)
		<-done
		cmd.Wait()
		b.agentLeaves(t)
	}
	b.exact(t, "work", "func:Busy.visit", 100*time.Millisecond)
	b.agentLeaves(t)
	asked, _ := filepath.Glob(fmt.Sprintf("/tmp/.attach_pid%d", b.pid()))
	if left := append(asked, jdk.Left(t, "/tmp/.whatif-*")...); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// agentLeaves waits until the agent's threads have ended.
func (b *busyJava) agentLeaves(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		names, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", b.pid()))
		left := 0
		for _, name := range names {
			if comm, _ := os.ReadFile(name); string(comm) == "whatif\n" {
				left++
			}
		}
		switch {
		case len(names) == 0:
			t.Fatal("the VM has ended")
		case left == 0:
			return
		case time.Now().After(end):
			t.Fatalf("%d threads of the agent do not end", left)
		}
	}
}

// TestJavaEnds: a VM is killed at any moment of being attached to. whatif ends, and does not wait for it for ever.
func TestJavaEnds(t *testing.T) {
	realkernel.NeedSession(t)
	n := times(1, 30)
	for i := range n {
		b := startBusyJava(t)
		cmd := exec.Command(realkernel.Whatif(t), "attach", "--quiet", "-o", filepath.Join(t.TempDir(), "p"), "-p",
			"func:Busy.visit", strconv.Itoa(b.pid()))
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(times(500, 200)+i*30) * time.Millisecond)
		if err := b.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		late := time.AfterFunc(2*patience, func() { cmd.Process.Signal(unix.SIGABRT) })
		err := cmd.Wait()
		late.Stop()
		var status *exec.ExitError
		if took := time.Since(begun); took > patience || err != nil && !errors.As(err, &status) ||
			strings.Contains(said.String(), "panic") {
			t.Fatalf("killed after round %d, whatif took %v: %v\n%s", i, took, err, said.String())
		}
		b.cmd.Wait()
	}
}

// TestJavaStorm: classes are loaded, compiled and dropped all the time, 20,000 methods a minute and more. The point in
// one of them is counted exactly whatever loader has the class.
func TestJavaStorm(t *testing.T) {
	realkernel.NeedSession(t)
	b := startBusyJava(t)
	over := time.Duration(times(500, 30_000)) * time.Millisecond
	b.do(t, "storm", 300*time.Millisecond) // the class is there
	compiled := b.compiled(t)
	begun := time.Now()
	t.Run("attached", func(t *testing.T) { b.exact(t, "storm", "func:Busy$Leaf.m0", over) })
	minutes := time.Since(begun).Minutes()
	n := b.compiled(t) - compiled
	t.Logf("%.0f methods a minute were compiled", float64(n)/minutes)
	if !testing.Short() && float64(n)/minutes < 20_000 {
		t.Errorf("only %.0f methods a minute were compiled", float64(n)/minutes)
	}
	b.agentLeaves(t)
}

// compiled is how many methods the VM has compiled so far.
func (b *busyJava) compiled(t *testing.T) (n int) {
	t.Helper()
	for line := range strings.Lines(b.jcmd(t, "PerfCounter.print")) {
		fmt.Sscanf(line, "sun.ci.totalCompiles=%d", &n)
	}
	return n
}
