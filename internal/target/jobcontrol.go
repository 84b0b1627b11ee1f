package target

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Job control. The program shares whatif's process group, so Ctrl-Z stops both
// and the shell's fg and bg continue both. Left over are programs that catch
// SIGTSTP, tidy the screen and then stop only themselves: the shell, which knows
// whatif alone, would wait for ever. Then whatif stops too, as the program would
// have been seen to do without it.

// settle is how long whatif's own stop or continuation may trail the program's
// before theirs are taken for two different events.
const settle = 20 * time.Millisecond

// stopped takes note of the program's stop.
func (p *Process) stopped() {
	var ws unix.WaitStatus
	pid, err := unix.Wait4(p.pid, &ws, unix.WUNTRACED|unix.WNOHANG, nil)
	if err != nil || pid == 0 || !ws.Stopped() || ws.StopSignal() != unix.SIGTSTP {
		return
	}
	go func() {
		// Where the terminal stopped both, whatif stops during this sleep, and when
		// it goes on so does the program.
		time.Sleep(settle)
		if !p.isStopped() || !foreground() {
			return
		}
		_ = unix.Kill(os.Getpid(), unix.SIGTSTP)
		time.Sleep(settle) // the signal may take another thread: not past it yet
		if p.isStopped() && !p.sharesGroup() {
			_ = p.Signal(unix.SIGCONT)
		}
	}()
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

// sharesGroup says whether the program is still in whatif's process group.
func (p *Process) sharesGroup() bool {
	group, err := unix.Getpgid(p.pid)
	return err == nil && group == unix.Getpgrp()
}

// foreground says whether what the terminal sends goes to whatif's process group.
func foreground() bool {
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false // no controlling terminal
	}
	defer unix.Close(tty)
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// processState is the letter in /proc/PID/stat: R, S, D, T, t, Z, X, I.
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
