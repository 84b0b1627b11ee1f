package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"whatif/internal/load"
)

// shareCalibration tells all programs that are started from now on how fast this machine is. If each program measured
// that itself, the runs that are compared would differ.
func shareCalibration() error {
	if os.Getenv(load.StepsVariable) != "" {
		return nil
	}
	if err := os.Setenv(load.StepsVariable, strconv.Itoa(load.StepsPerMicrosecond(os.Getenv))); err != nil {
		return fmt.Errorf("telling programs the machine's speed: %w", err)
	}
	return nil
}

// adoptOrphans makes this process the parent of each descendant that has lost its own parent, so that [reapOrphans] can
// wait for it. So its processor time counts as the program's, and no descendant of a program outlives the run.
func adoptOrphans() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("becoming the parent of orphans: %w", errno)
	}
	return nil
}

// reapOrphans waits for the children that are left after a run, and returns the processor time that they used. It must
// not be called while a command of os/exec is running. Children that do not end within patience are left alone.
func reapOrphans(patience time.Duration) time.Duration {
	var used time.Duration
	deadline := time.Now().Add(patience)
	for {
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, &usage)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD: no child is left
			return used
		case pid > 0:
			used += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		case time.Now().After(deadline):
			return used
		default:
			time.Sleep(time.Millisecond)
		}
	}
}
