package target

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Job control. The program shares whatif's process group, so Ctrl-Z stops both, and the shell's fg and bg continue
// both. Some programs catch SIGTSTP, restore the screen and then stop only themselves. The shell knows only whatif, and
// would wait for ever. So whatif then stops, too; to the shell it looks as if the program had stopped by itself.

// settle is the longest time between the program's stop or continuation and whatif's, if one event causes both.
const settle = 20 * time.Millisecond

// stopped handles a stop of the program.
func (p *Process) stopped() {
	if p.stopSignal() != unix.SIGTSTP {
		return
	}
	go func() {
		// If the terminal stopped both, whatif stops during this sleep; when whatif continues, so does the program.
		time.Sleep(settle)
		if !p.isStopped() || !foreground() {
			return
		}
		_ = unix.Kill(os.Getpid(), unix.SIGTSTP)
		time.Sleep(settle) // another thread may take the signal: wait until it has stopped this one
		if p.isStopped() && !p.sharesGroup() {
			_ = p.Signal(unix.SIGCONT)
		}
	}()
}

// stopSignal is the signal of a stop that has not been waited for; 0: there is none any more. If the program has ended
// meanwhile, its end is left for collect.
func (p *Process) stopSignal() unix.Signal {
	const status = 24 // where si_status is
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, p.pid, &info, unix.WSTOPPED|unix.WNOHANG, nil)
	if err != nil || info.Signo == 0 {
		return 0
	}
	return unix.Signal(*(*int32)(unsafe.Add(unsafe.Pointer(&info), status)))
}

func (p *Process) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Ended() {
		return false
	}
	state, err := processState(p.pid)
	return err == nil && state == 'T'
}

// sharesGroup tells whether the program is still in whatif's process group.
func (p *Process) sharesGroup() bool {
	group, err := unix.Getpgid(p.pid)
	return err == nil && group == unix.Getpgrp()
}

// foreground tells whether whatif's process group is in the foreground of its terminal.
func foreground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false // no controlling terminal
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// processState is the state in /proc/PID/stat: R, S, D, T, t, Z, X or I.
func processState(pid int) (byte, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, err
	}
	// The command's name, in parentheses, may contain anything.
	if at := bytes.LastIndexByte(text, ')'); at >= 0 && at+2 < len(text) {
		return text[at+2], nil
	}
	return 0, errors.New("no state in it")
}
