package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// A pulse is a running testdata/pulse.c, whose rounds can be read from outside.
type pulse struct {
	memory []byte
	cmd    *exec.Cmd
	stderr string // a file: a pipe would stay open for as long as the program runs
}

// startPulse runs a command with the name of the file to count in as its last word. The command ends with the test.
func startPulse(t *testing.T, command ...string) *pulse {
	t.Helper()
	p := preparePulse(t, command...)
	stderr, err := os.Create(p.stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer stderr.Close()
	p.cmd.Stderr = stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// preparePulse is startPulse without the start.
func preparePulse(t *testing.T, command ...string) *pulse {
	t.Helper()
	realkernel.Whatif(t) // the test's turn begins, or the program would be busy while others' turns last
	name := filepath.Join(t.TempDir(), "shared")
	if err := os.WriteFile(name, make([]byte, 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p := &pulse{stderr: name + ".stderr"}
	if p.memory, err = unix.Mmap(int(f.Fd()), 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(command[0], append(command[1:], name)...)
	t.Cleanup(p.end)
	return p
}

func (p *pulse) word(i int) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&p.memory[8*i])))
}

// pid is the program's, 0 until it runs.
func (p *pulse) pid() int { return int(p.word(0)) }

func (p *pulse) rounds() uint64 { return p.word(1) }

// end ends the program, and the process that started it.
func (p *pulse) end() {
	if p.memory == nil {
		return
	}
	if pid := p.pid(); pid != 0 && p.runs() {
		unix.Kill(pid, unix.SIGKILL)
	}
	if p.cmd.Process != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
	unix.Munmap(p.memory)
	p.memory = nil
}

// runs tells whether the program runs, and no other process has its number.
func (p *pulse) runs() bool {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p.pid()))
	return err == nil && (slices.Contains([]string{"pulse", "busy", "moments"}, filepath.Base(path)))
}

// rate is how many rounds a second the program does, over some time.
func (p *pulse) rate(over time.Duration) float64 {
	begin, before := time.Now(), p.rounds()
	time.Sleep(over)
	return float64(p.rounds()-before) / time.Since(begin).Seconds()
}

// await waits for the program's first rounds.
func (p *pulse) await(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); p.rounds() < 100; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			said, _ := os.ReadFile(p.stderr)
			t.Fatalf("%v does not run\n%s", p.cmd.Args, said)
		}
	}
}
