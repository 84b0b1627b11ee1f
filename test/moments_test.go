package test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/pty"
	"whatif/internal/testing/realkernel"
)

// An ending happens to whatif in the middle of its experiments. At the latest after a time the target is to be at full
// speed again.
type ending struct {
	name  string
	after time.Duration
	end   func(whatif *exec.Cmd, terminal *os.File) error
}

var endings = []ending{
	{"stopped", time.Second, func(whatif *exec.Cmd, _ *os.File) error { return whatif.Process.Signal(unix.SIGSTOP) }},
	{"killed", 100 * time.Millisecond, func(whatif *exec.Cmd, _ *os.File) error { return whatif.Process.Kill() }},
	// As Ctrl-S does: the loop of experiments waits for the terminal when it draws its status line again, each second.
	{"blocked", 2 * time.Second, func(_ *exec.Cmd, terminal *os.File) error {
		return unix.IoctlSetInt(int(terminal.Fd()), unix.TCXONC, unix.TCOOFF)
	}},
}

// A way is how whatif is asked to profile the program.
type way struct {
	name    string
	command string
	flags   []string
}

// ways speed up a line that one thread runs all the time, so that the others are stopped nearly all of it.
func ways(line string) []way {
	counted := []string{"-p", "func:round_done"}
	held := []string{"-l", "beat=func:begins..func:ends"}
	target := []string{"-t", line, "-s", "100"}
	return []way{
		{"run", "run", slices.Concat(counted, target)},
		{"run, held", "run", slices.Concat(held, target)},
		{"run, whole executions", "run", target},
		{"attach", "attach", slices.Concat(counted, target)},
		{"attach, held", "attach", slices.Concat(held, target)},
		{"system", "system", slices.Concat([]string{"-p", "syscall:clock_nanosleep"}, target)},
		{"system, whole executions", "system", target},
	}
}

// Whatever happens to whatif, and whenever, the target is at full speed again within a second, and at once if whatif is
// killed. Nothing of whatif is left in the kernel then.
func TestMoments(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/moments.c"
	program := realkernel.Compile(t, source, "-no-pie")
	for i, w := range ways(fmt.Sprintf("moments.c:%d", realkernel.Line(t, source, "// SELECTED"))) {
		t.Run(w.name, func(t *testing.T) {
			for k, e := range endings {
				if testing.Short() && i != 3*k {
					continue // run is stopped, attach killed and system blocked
				}
				parts := []float64{moment(t, program, w, e)}
				n := moments()
				if parts[0] < least {
					n = max(n, 3) // the machine itself may have become slower between what is compared
				}
				for len(parts) < n {
					parts = append(parts, moment(t, program, w, e))
				}
				slices.Sort(parts)
				t.Logf("%-8s at %.0f%% of its speed in the median of %d moments, at least %.0f%%", e.name, 100*parts[len(parts)/2],
					len(parts), 100*parts[0])
				if *figures && (parts[len(parts)/2] < 0.95 || parts[0] < 0.85) || parts[len(parts)/2] < least {
					t.Errorf("%s: %.2f", e.name, parts)
				}
			}
		})
	}
}

// least is the part of its speed that the program must have in the median.
const least = 0.75

// moments is how many there are of each way and ending.
func moments() int {
	if !*figures {
		return 1
	}
	return (*attaches + 5) / 6
}

// moment gives the program's speed after the ending, as a part of its speed without whatif.
func moment(t *testing.T, program string, w way, e ending) float64 {
	t.Helper()
	master, slave := pty.Open(t)
	defer master.Close()
	defer slave.Close()
	file := filepath.Join(t.TempDir(), "whatif.profile")
	args := append([]string{w.command, "-o", file, "--experiment", "100ms"}, w.flags...)
	environment := append(os.Environ(), "TERM=xterm") // or there is no status line
	var p *pulse
	var whatif *exec.Cmd
	if w.command == "attach" {
		p = startPulse(t, program)
		p.await(t)
		whatif = exec.Command(realkernel.Whatif(t), append(args, strconv.Itoa(p.pid()))...)
		whatif.Stdout, whatif.Stderr, whatif.Env = slave, slave, environment
		if err := whatif.Start(); err != nil {
			t.Fatal(err)
		}
		defer whatif.Wait()
		defer whatif.Process.Kill()
	} else {
		p = preparePulse(t, append([]string{realkernel.Whatif(t)}, append(args, "--", program)...)...)
		p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = slave, slave, environment
		if err := p.cmd.Start(); err != nil {
			t.Fatal(err)
		}
		whatif = p.cmd
		p.await(t)
	}
	defer p.end()
	go io.Copy(io.Discard, master)
	if strings.HasSuffix(w.name, "whole executions") { // there is no experiment before the program's end
		time.Sleep(700 * time.Millisecond)
	} else {
		awaitUntil(t, "experiments", func() bool {
			text, err := os.ReadFile(file)
			return err == nil && bytes.Count(text, []byte(`{"experiment":`)) > 1
		})
	}
	time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
	held := loadedBy(t, whatif.Process.Pid)
	if held.count("prog") < 10 {
		t.Fatalf("whatif has loaded %v: it does not profile", held)
	}
	if err := e.end(whatif, slave); err != nil {
		t.Fatal(err)
	}
	time.Sleep(e.after)
	over := time.Second
	if testing.Short() {
		over = 400 * time.Millisecond
	}
	before := sizeOf(t, file)
	after := p.rate(over)
	if sizeOf(t, file) != before {
		t.Errorf("%s, %s: whatif goes on with its experiments", w.name, e.name)
	}
	whatif.Process.Kill()
	if w.command == "attach" {
		whatif.Wait()
	}
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		still := held.still(t)
		if len(still) == 0 {
			break
		}
		if time.Since(begin) > 10*time.Second {
			t.Errorf("%s, %s: left behind in the kernel: %v", w.name, e.name, still)
			break
		}
	}
	if !p.runs() {
		t.Fatalf("%s, %s: the program is gone", w.name, e.name)
	}
	return after / p.rate(over)
}

func sizeOf(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// If whatif is told to end while its loop hangs, it leaves the target all the same: what it has attached is gone while
// it still hangs.
func TestDetachComesFirst(t *testing.T) {
	realkernel.NeedSession(t)
	p := startPulse(t, realkernel.Compile(t, "testdata/pulse.c", "-no-pie"))
	p.await(t)
	master, slave := pty.Open(t)
	defer master.Close()
	defer slave.Close()
	file := filepath.Join(t.TempDir(), "whatif.profile")
	whatif := exec.Command(realkernel.Whatif(t), "attach", "-o", file, "--experiment", "20ms", "-p", "func:round_done",
		strconv.Itoa(p.pid()))
	whatif.Stdout, whatif.Stderr, whatif.Env = slave, slave, append(os.Environ(), "TERM=xterm")
	if err := whatif.Start(); err != nil {
		t.Fatal(err)
	}
	defer whatif.Wait()
	defer whatif.Process.Kill()
	go io.Copy(io.Discard, master)
	awaitUntil(t, "a probe in the program", func() bool { return !sameCode(t, p.pid()) })
	if err := unix.IoctlSetInt(int(slave.Fd()), unix.TCXONC, unix.TCOOFF); err != nil {
		t.Fatal(err)
	}
	awaitUntil(t, "a loop that hangs", func() bool {
		before := sizeOf(t, file)
		time.Sleep(500 * time.Millisecond)
		return sizeOf(t, file) == before && before > 0
	})
	if err := whatif.Process.Signal(unix.SIGINT); err != nil {
		t.Fatal(err)
	}
	awaitUntil(t, "a program without a probe", func() bool { return sameCode(t, p.pid()) })
	if err := whatif.Process.Signal(unix.Signal(0)); err != nil {
		t.Fatalf("whatif has ended, so this says nothing: %v", err)
	}
}

func awaitUntil(t *testing.T, what string, come func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !come(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}
