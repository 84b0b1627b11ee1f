// Package load reads how busy a machine is and how fast its processors are, and waits until it is quiet. It is used by
// accuracy/ and by tests; package noise says what its figures mean for a measurement.
package load

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// MaxForeign is the share of the machine that others may use during a run. /proc/stat counts in ticks, so that a
// quiet run of half a second already shows up to 2%.
const MaxForeign = 0.04

// Time is what all processors together did since boot.
type Time struct {
	At         time.Time
	Busy       time.Duration // by anyone here
	Interrupts time.Duration // the part of Busy that was in interrupts, soft ones too: whatif stops cores in them
	Steal      time.Duration // taken by the host
}

// Read reads it from /proc/stat.
func Read() (Time, error) {
	f, err := os.Open("/proc/stat")
	if err != nil {
		return Time{}, fmt.Errorf("reading the machine's load: %w", err)
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		return Time{}, fmt.Errorf("reading the machine's load: %w", err)
	}
	m, err := parse(line)
	m.At = time.Now()
	return m, err
}

// parse reads the "cpu" line of /proc/stat: ten counters in ticks of 1/100 s, see proc(5).
func parse(line string) (Time, error) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return Time{}, fmt.Errorf("parsing /proc/stat: %q is no cpu line", line)
	}
	var ticks [8]time.Duration // user nice system idle iowait irq softirq steal
	for i := range ticks {
		n, err := strconv.ParseInt(fields[i+1], 10, 64)
		if err != nil {
			return Time{}, fmt.Errorf("parsing /proc/stat: %w", err)
		}
		ticks[i] = time.Duration(n) * tick
	}
	interrupts := ticks[5] + ticks[6]
	return Time{Busy: ticks[0] + ticks[1] + ticks[2] + interrupts, Interrupts: interrupts, Steal: ticks[7]}, nil
}

// Foreign is the part of the machine, 0 to 1, that was neither idle nor used by us between two readings.
func Foreign(before, after Time, own time.Duration) float64 {
	return share(before, after, (after.Busy-before.Busy)+(after.Steal-before.Steal)-own)
}

// Steal is the part of the machine, 0 to 1, that the host took.
func Steal(before, after Time) float64 { return share(before, after, after.Steal-before.Steal) }

func share(before, after Time, used time.Duration) float64 {
	all := after.At.Sub(before.At) * time.Duration(runtime.NumCPU())
	if all <= 0 {
		return 0
	}
	return max(0, float64(used)/float64(all))
}

// WaitForQuiet returns as soon as the machine has been idle enough for a moment, or when the patience is at an end,
// and says how long that took.
func WaitForQuiet(ctx context.Context, patience time.Duration) (time.Duration, error) {
	const moment = 300 * time.Millisecond
	start := time.Now()
	before, err := Read()
	if err != nil {
		return 0, err
	}
	for time.Since(start) < patience {
		select {
		case <-ctx.Done():
			return 0, fmt.Errorf("waiting for a quiet machine: %w", ctx.Err())
		case <-time.After(moment):
		}
		after, err := Read()
		if err != nil {
			return 0, err
		}
		if Foreign(before, after, 0) <= MaxForeign {
			break
		}
		before = after
	}
	return time.Since(start), nil
}
