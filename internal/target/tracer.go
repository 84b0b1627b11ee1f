package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/privilege"
)

// A tracer starts one program and stops it before its first instruction. The kernel traces by thread, so one thread
// does all of it.
type tracer struct {
	spec *spec
	std  [3]*os.File

	pid   int
	pidfd int
}

// stageError is the failure that the stage reports.
type stageError struct{ failure }

func (e *stageError) Error() string { return e.Step + ": " + e.Errno.Error() }

// run starts the program and sends the result to started. If that is nil, it waits for release.
func (t *tracer) run(started chan<- error, release <-chan chan error) {
	runtime.LockOSThread() // never unlocked, so that the thread ends with this goroutine
	if err := restoreTimerSlack(); err != nil {
		started <- err
		return
	}
	if err := t.bring(); err != nil {
		started <- err
		return
	}
	started <- nil
	answer := <-release
	ended, failed := unix.FcntlInt(uintptr(t.pidfd), unix.F_DUPFD_CLOEXEC, 0)
	answer <- ptrace(unix.PTRACE_DETACH, t.pid, 0)
	if failed == nil {
		outlive(ended)
	}
}

// outlive keeps this thread alive until the program's end. A program may ask to be killed when its parent ends
// (PR_SET_PDEATHSIG), and for the kernel its parent is the thread that forked it.
func outlive(pidfd int) {
	defer unix.Close(pidfd)
	endsIn(pidfd, -1)
}

// bring starts the stage, traces it, and follows it to the exec of the program.
func (t *tracer) bring() error {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("making a socket: %w", err)
	}
	control := os.NewFile(uintptr(ends[0]), "stage")
	defer control.Close()
	err = t.fork(ends[1])
	unix.Close(ends[1])
	if err != nil {
		return err
	}
	// The fork returns during the stage's own exec. If the trace began now, this exec would count as the program's.
	if _, err := control.Read(make([]byte, len(stageReady))); err != nil {
		return fmt.Errorf("waiting for its first sign of life: it was %s: %w", endOf(t.abandon()), err)
	}
	// The stage executes whatif's file. If whatif has its capabilities from that file, tracing the stage needs them, too.
	privilege.InTarget(func() { err = ptrace(unix.PTRACE_SEIZE, t.pid, unix.PTRACE_O_TRACEEXEC) })
	if err != nil {
		return t.refused(err)
	}
	// This runs in the background: a signal can stop the stage while it reads, and only this thread can continue it.
	answer := make(chan failure, 1)
	go func() { answer <- converse(control, t.spec) }()
	started, err := t.follow()
	if err != nil {
		t.abandon()
		return err
	}
	if f := <-answer; f.Step != "" {
		t.abandon()
		return &stageError{f}
	}
	if !started {
		return fmt.Errorf("before its first instruction it was %s", endOf(t.abandon()))
	}
	return nil
}

func (t *tracer) fork(control int) error {
	t.pidfd = -1
	attr := &syscall.ProcAttr{
		Files: inheritedFiles(t.std, control),
		Sys:   &syscall.SysProcAttr{PidFD: &t.pidfd},
	}
	pid, err := syscall.ForkExec("/proc/self/exe", []string{stageName, strconv.Itoa(control)}, attr)
	runtime.KeepAlive(t.std)
	if err != nil {
		return fmt.Errorf("forking: %w", err)
	}
	t.pid = pid
	return nil
}

// inheritedFiles lists the files of the stage up to the control socket, under their own numbers. Files that whatif
// inherited (without close-on-exec flag) stay open; whatif's own are closed. Above the control socket the flag itself
// has this effect.
func inheritedFiles(std [3]*os.File, control int) []uintptr {
	files := make([]uintptr, control+1)
	for fd := range files {
		files[fd] = uintptr(fd)
		if fd < len(std) {
			if std[fd] != nil {
				files[fd] = std[fd].Fd()
			}
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if fd != control && (err != nil || flags&unix.FD_CLOEXEC != 0) {
			files[fd] = ^uintptr(0) // closed
		}
	}
	return files
}

// refused ends a stage that could not be traced, and gives the reason.
func (t *tracer) refused(err error) error {
	remedy := "a sandbox forbids ptrace: allow it (docker: --cap-add SYS_PTRACE), " +
		"or start the program yourself and use whatif attach"
	if scope, rerr := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); rerr == nil && scope[0] > '1' {
		remedy = fmt.Sprintf("kernel.yama.ptrace_scope is %c: run whatif as root, "+
			"or if it is 3, start the program yourself and use whatif attach", scope[0])
	}
	t.abandon()
	return hint.New(fmt.Errorf("tracing it up to its first instruction: %w", err), remedy)
}

// abandon ends a stage that did not become the program, and reaps it. Until then no other process can have its number.
func (t *tracer) abandon() unix.WaitStatus {
	_ = unix.Kill(t.pid, unix.SIGKILL)
	if t.pidfd >= 0 {
		unix.Close(t.pidfd)
	}
	for {
		var ws unix.WaitStatus
		_, err := unix.Wait4(t.pid, &ws, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil, ws.Exited(), ws.Signaled():
			return ws
		}
	}
}

// follow waits until the stage has become the program. If the stage ends before that, started is false, and the stage
// is not reaped yet. Signals for the stage are delivered.
func (t *tracer) follow() (started bool, err error) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, t.pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return false, fmt.Errorf("waiting for its first instruction: %w", err)
		case info.Code == cldExited || info.Code == cldKilled || info.Code == cldDumped:
			return false, nil
		}
		started, err := t.step()
		if err != nil && !errors.Is(err, unix.ESRCH) { // ESRCH: the stage was killed, which the next wait reports
			return false, fmt.Errorf("leading it to its first instruction: %w", err)
		}
		if started {
			return true, nil
		}
	}
}

// step handles one ptrace-stop. It continues the stage, unless the stop is that of the exec.
func (t *tracer) step() (started bool, err error) {
	var ws unix.WaitStatus
	pid, err := unix.Wait4(t.pid, &ws, unix.WALL|unix.WNOHANG, nil)
	if err != nil || pid == 0 || !ws.Stopped() {
		return false, err
	}
	sig := ws.StopSignal()
	switch event := int(ws) >> 16; {
	case event == unix.PTRACE_EVENT_EXEC:
		return true, nil
	case event == unix.PTRACE_EVENT_STOP && sig != unix.SIGTRAP:
		return false, ptrace(unix.PTRACE_LISTEN, t.pid, 0) // a group-stop (Ctrl-Z): the stage stays stopped
	case event == unix.PTRACE_EVENT_STOP:
		return false, ptrace(unix.PTRACE_CONT, t.pid, 0)
	}
	return false, ptrace(unix.PTRACE_CONT, t.pid, uintptr(sig))
}

func ptrace(request uintptr, pid int, data uintptr) error {
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, request, uintptr(pid), 0, data, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// converse sends the spec to the stage and reads its answer. If the socket is closed without an answer, the exec
// succeeded or the stage was killed.
func converse(control *os.File, s *spec) failure {
	text, err := json.Marshal(s)
	if err == nil {
		_, err = control.Write(text)
	}
	if err == nil {
		err = unix.Shutdown(int(control.Fd()), unix.SHUT_WR)
	}
	answer, rerr := io.ReadAll(control)
	if len(answer) > 0 {
		var f failure
		if err := json.Unmarshal(answer, &f); err == nil {
			return f
		}
	}
	if err = errors.Join(err, rerr); err != nil {
		return failure{Step: stepSpec, Errno: errnoOf(err)}
	}
	return failure{}
}
