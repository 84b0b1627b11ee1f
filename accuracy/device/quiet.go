package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mostForeign is the share of the machine that other programs may use during a run: with more, the run is repeated.
const mostForeign = 0.1

// undisturbed runs something until other programs used little of the machine meanwhile, or tries are used up. It gives
// the value of the least disturbed run, and the share of the others then.
func undisturbed[T any](tries int, run func() (T, error)) (value T, foreign float64, err error) {
	foreign = math.Inf(1)
	for range tries {
		before, err := now()
		if err != nil {
			return value, foreign, err
		}
		v, err := run()
		if err != nil {
			return value, foreign, err
		}
		after, err := now()
		if err != nil {
			return value, foreign, err
		}
		if share := foreignShare(before, after, runtime.NumCPU()); share < foreign {
			value, foreign = v, share
		}
		if foreign < mostForeign {
			break
		}
	}
	return value, foreign, nil
}

// usage is what was used of the processors, since the machine started: by all, and by this command's children.
type usage struct {
	at       time.Time
	all, own time.Duration
}

// foreignShare is the share of the machine that others used between two moments.
func foreignShare(before, after usage, cores int) float64 {
	others := (after.all - before.all) - (after.own - before.own)
	return max(0, others.Seconds()/(after.at.Sub(before.at).Seconds()*float64(cores)))
}

func now() (usage, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return usage{}, fmt.Errorf("reading what the processors do: %w", err)
	}
	all, err := busy(string(text))
	if err != nil {
		return usage{}, err
	}
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r); err != nil {
		return usage{}, fmt.Errorf("reading what programs used: %w", err)
	}
	return usage{time.Now(), all, time.Duration(r.Utime.Nano() + r.Stime.Nano())}, nil
}

// busy is how long processors have worked, by the first line of /proc/stat, in hundredths of a second: user, nice,
// system, idle, iowait, irq, softirq, steal.
func busy(text string) (time.Duration, error) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("reading what the processors do: a line %q", line)
	}
	sum := int64(0)
	for i, field := range fields[1:9] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("reading what the processors do: a line %q", line)
		}
		if i != 3 && i != 4 {
			sum += n
		}
	}
	return time.Duration(sum) * 10 * time.Millisecond, nil
}
