package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

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

// machineTime is what all processors together did since boot.
type machineTime struct {
	at    time.Time
	busy  time.Duration // by anyone here
	steal time.Duration // taken by the host
}

func readMachineTime() (machineTime, error) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return machineTime{}, fmt.Errorf("reading the machine's load: %w", err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return machineTime{}, fmt.Errorf("reading the machine's load: %w", err)
	}
	m, err := parseMachineTime(line)
	m.at = time.Now()
	return m, err
}

// parseMachineTime reads the "cpu" line of /proc/stat: ten counters in ticks of 1/100 s, see proc(5).
func parseMachineTime(line string) (machineTime, error) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return machineTime{}, fmt.Errorf("parsing /proc/stat: %q is no cpu line", line)
	}
	var ticks [8]time.Duration // user nice system idle iowait irq softirq steal
	for i := range ticks {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return machineTime{}, fmt.Errorf("parsing /proc/stat: %w", err)
		}
		ticks[i] = time.Duration(n) * tick
	}
	return machineTime{
		busy:  ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6],
		steal: ticks[7],
	}, nil
}

// foreignShare is the part of the machine, 0 to 1, that was neither idle nor used by us between two readings.
func foreignShare(before, after machineTime, own time.Duration) float64 {
	all := after.at.Sub(before.at) * time.Duration(runtime.NumCPU())
	if all <= 0 {
		return 0
	}
	foreign := (after.busy - before.busy) + (after.steal - before.steal) - own
	return max(0, float64(foreign)/float64(all))
}

// waitForQuiet returns as soon as the machine has been idle enough for a moment, or when the patience is at an
// end, and says how long that took.
func waitForQuiet(ctx context.Context, patience time.Duration) (time.Duration, error) {
	const moment = 300 * time.Millisecond
	start := time.Now()
	before, err := readMachineTime()
	if err != nil {
		return 0, err
	}
	for time.Since(start) < patience {
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting for a quiet machine: %w", ctx.Err())
		case <-time.After(moment):
		}
		after, err := readMachineTime()
		if err != nil {
			return 0, err
		}
		if foreignShare(before, after, 0) <= maxForeign {
			break
		}
		before = after
	}
	return time.Since(start), nil
}
