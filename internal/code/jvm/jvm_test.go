package jvm

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/openfile"
	"whatif/internal/testing/jdk"
)

// opened opens a VM until the test ends.
func opened(t *testing.T, process, inner int, uid uint32) *VM {
	t.Helper()
	vm, err := open(process, inner, uid)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vm.Close() })
	return vm
}

// served is a VM with this process's number. Its socket answers with a reply, and it gives what was asked.
func served(t *testing.T, reply string) (vm *VM, asked <-chan string) {
	t.Helper()
	vm = opened(t, os.Getpid(), os.Getpid(), uint32(os.Getuid()))
	os.Remove(vm.socket())
	l, err := net.Listen("unix", vm.socket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	requests := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		text := make([]byte, 100)
		n, _ := io.ReadAtLeast(c, text, len("1\x00jcmd\x00Compiler.perfmap\x00\x00\x00"))
		requests <- string(text[:n])
		io.WriteString(c, reply)
	}()
	return vm, requests
}

func TestWriteMap(t *testing.T) {
	vm, asked := served(t, "0\n")
	if err := vm.WriteMap(); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "1\x00jcmd\x00Compiler.perfmap\x00\x00\x00" {
		t.Errorf("asked %q", got)
	}
}

// TestTriggerLeft: a whatif that was killed while it waited for the VM's socket has left a file. The next one removes
// that.
func TestTriggerLeft(t *testing.T) {
	vm, _ := served(t, "0\n")
	if err := os.WriteFile(vm.trigger(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(vm.trigger())
	if err := vm.WriteMap(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(vm.trigger()); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", vm.trigger(), err)
	}
}

func TestOldJava(t *testing.T) {
	vm, _ := served(t, "1\njava.lang.IllegalArgumentException: Unknown diagnostic command\n")
	if err := vm.WriteMap(); !errors.Is(err, ErrOld) {
		t.Error(err)
	}
	vm, _ = served(t, "")
	if err := vm.WriteMap(); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
}

// TestPlanted: what is not the VM's own socket is not used, and no signal is sent for it.
func TestPlanted(t *testing.T) {
	vm, _ := served(t, "0\n")
	other := opened(t, os.Getppid(), vm.inner, vm.uid) // the socket is this process's, not that one's
	if err := other.WriteMap(); !errors.Is(err, openfile.ErrPlanted) && !errors.Is(err, os.ErrPermission) {
		t.Errorf("another process's socket: %v", err)
	}
	other = opened(t, vm.process, vm.inner, vm.uid+1)
	if err := other.WriteMap(); !errors.Is(err, openfile.ErrPlanted) {
		t.Errorf("another user's socket: %v", err)
	}
	link := opened(t, vm.process, 1<<23, vm.uid)
	if err := os.Symlink(vm.socket(), link.socket()); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(link.socket())
	if err := link.WriteMap(); !errors.Is(err, openfile.ErrPlanted) {
		t.Errorf("a link: %v", err)
	}
}

// TestNoHandler: SIGQUIT would end a process without a handler, or print the stacks of a VM.
func TestNoHandler(t *testing.T) {
	for text, want := range map[string]bool{
		"Name:\tjava\nSigCgt:\t0000000181005ccf\n": true, "SigCgt:\t0000000181005ccb\n": false, "": false,
		"SigCgt:\tx\n": false,
	} {
		if got := catches(text, unix.SIGQUIT); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer sleeper.Wait()
	defer sleeper.Process.Kill()
	vm := opened(t, sleeper.Process.Pid, 1<<23+1, uint32(os.Getuid()))
	if err := vm.WriteMap(); !errors.Is(err, ErrEarly) {
		t.Error(err)
	}
	if left, _ := filepath.Glob(vm.trigger()); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// trapping starts a program that exits with 3 at SIGQUIT, with an argument. It handles the signal by now.
func trapping(t *testing.T, arg string) *exec.Cmd {
	t.Helper()
	program := exec.Command("sh", "-c", "trap 'exit 3' QUIT; echo ready; while :; do sleep 0.01; done", arg)
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	io.ReadAtLeast(out, make([]byte, 6), 6)
	return program
}

// TestAskedAlready: a VM that somebody has asked for its socket gets no second signal, which would print its stacks.
func TestAskedAlready(t *testing.T) {
	program := trapping(t, "sh")
	vm := opened(t, program.Process.Pid, 1<<23+4, uint32(os.Getuid()))
	if err := os.WriteFile(vm.trigger(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(vm.trigger())
	opens := make(chan net.Listener)
	go func() {
		time.Sleep(heardWithin / 10)
		l, _ := net.Listen("unix", vm.socket())
		opens <- l
	}()
	socket, err := vm.wakeListener()
	if l := <-opens; l != nil {
		l.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	socket.Close()
	program.Process.Kill()
	if program.Wait(); program.ProcessState.ExitCode() == 3 {
		t.Error("it got SIGQUIT")
	}
}

// TestOwnSignals: where SIGQUIT is the program's it is never sent, whatever handles it.
func TestOwnSignals(t *testing.T) {
	for flag, want := range map[string]error{"-Xrs": ErrEarly, "-XX:+DisableAttachMechanism": ErrDisabled} {
		program := trapping(t, flag)
		vm := opened(t, program.Process.Pid, 1<<23+3, uint32(os.Getuid()))
		if _, err := vm.ask("load"); !errors.Is(err, want) {
			t.Errorf("%s: %v", flag, err)
		}
		program.Process.Kill()
		if program.Wait(); program.ProcessState.ExitCode() == 3 {
			t.Errorf("%s: it got SIGQUIT", flag)
		}
	}
}

func TestRemoveMap(t *testing.T) {
	vm := opened(t, os.Getpid(), 1<<23+2, uint32(os.Getuid()))
	if vm.HasMap() {
		t.Fatal("there is one already")
	}
	if err := os.WriteFile(vm.MapFile(), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !vm.HasMap() {
		t.Error("it is not found")
	}
	if err := vm.RemoveMap(); err != nil {
		t.Error(err)
	}
	if err := vm.RemoveMap(); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Error(err)
	}
}

// TestAbandon: a VM that never answers is not waited for once it is given up, and nothing of the agent stays.
func TestAbandon(t *testing.T) {
	vm := opened(t, os.Getpid(), os.Getpid(), uint32(os.Getuid()))
	os.Remove(vm.socket())
	l, err := net.Listen("unix", vm.socket())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	begun := time.Now()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		io.ReadAtLeast(c, make([]byte, 100), 5) // it is being asked now
		vm.Abandon()
		io.Copy(io.Discard, c)
	}()
	if _, err := vm.Load(); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
	if _, err := vm.Load(); !errors.Is(err, ErrSilent) {
		t.Errorf("asked again: %v", err)
	}
	if took := time.Since(begun); took > answerWithin/2 {
		t.Errorf("that took %v", took)
	}
	if left := jdk.Left(t, "/tmp/"+nameOfAgent()+"*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestEnded: a process that has ended, and was not waited for, has no handlers. It is not a VM that is not ready yet.
func TestEnded(t *testing.T) {
	cmd := exec.Command("cat")
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	vm := opened(t, cmd.Process.Pid, cmd.Process.Pid, uint32(os.Getuid()))
	input.Close()
	handle, err := unix.PidfdOpen(cmd.Process.Pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(handle)
	if !hasEnded(handle, time.Minute) {
		t.Fatal("the process runs on")
	}
	if _, err := vm.ask("load"); !errors.Is(err, ErrEnded) {
		t.Error(err)
	}
}
