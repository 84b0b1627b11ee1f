package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"whatif/internal/load"
)

// shareCalibration tells all programs that are started from now on how fast this machine is. A figure that is
// measured once cannot differ between the runs that are compared.
func shareCalibration() error {
	if os.Getenv(load.StepsVariable) != "" {
		return nil
	}
	if err := os.Setenv(load.StepsVariable, strconv.Itoa(load.StepsPerMicrosecond(os.Getenv))); err != nil {
		return fmt.Errorf("telling programs the machine's speed: %w", err)
	}
	return nil
}

// adoptOrphans makes this process the parent of every descendant whose own parent has died, so that
// [reapOrphans] can wait for it: its time on the processors is counted as the program's, and nothing that
// a program forked outlives its run.
func adoptOrphans() error {
	const setChildSubreaper = 36 // PR_SET_CHILD_SUBREAPER
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return fmt.Errorf("becoming the parent of orphans: %w", errno)
	}
	return nil
}

// reapOrphans waits for the children that are left after a run and returns the processor time they used.
// It must not be called while a command of os/exec is running. Children that do not end by themselves
// within the patience are left.
func reapOrphans(patience time.Duration) time.Duration {
	var used time.Duration
	deadline := time.Now().Add(patience)
	for {
		var usage syscall.Rusage
		pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, &usage)
		switch {
		case err == syscall.EINTR:
		case err != nil: // ECHILD: none is left
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
