// Package load reads how busy the machine is and how fast its processors are, and waits until the machine is quiet. It
// is for measurements in accuracy/ and tests, and reads /proc/stat for other packages. Package noise tells what its
// figures mean for a measurement.
//
// The normal sequence: WaitForQuiet; Read before and after the measurement; then Foreign and Steal of both readings.
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

// MaxForeign is the share of the machine that other programs may use during a run. /proc/stat counts in ticks, so a
// quiet run of half a second already shows up to 2%.
const MaxForeign = 0.04

// Time is the time of all processors together since boot.
type Time struct {
	At         time.Time
	Busy       time.Duration // used on this machine
	Interrupts time.Duration // the part of Busy in interrupts, softirqs included, in which whatif stops cores
	Steal      time.Duration // taken by the host
}

// Read reads the present Time from /proc/stat.
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
	m, err := Parse(line)
	m.At = time.Now()
	return m, err
}

// Parse parses the first line of /proc/stat: "cpu" and ten counters in ticks of 1/100 s, see proc(5). At stays zero.
func Parse(stat string) (Time, error) {
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every architecture that Go runs on
	line, _, _ := strings.Cut(stat, "\n")
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

// Foreign is the share of the machine, 0 to 1, that other programs used between two readings. own is the processor time
// that the caller's programs used.
func Foreign(before, after Time, own time.Duration) float64 {
	return share(before, after, (after.Busy-before.Busy)+(after.Steal-before.Steal)-own)
}

// Steal is the share of the machine, 0 to 1, that the host took between two readings.
func Steal(before, after Time) float64 { return share(before, after, after.Steal-before.Steal) }

func share(before, after Time, used time.Duration) float64 {
	all := after.At.Sub(before.At) * time.Duration(runtime.NumCPU())
	if all <= 0 {
		return 0
	}
	return max(0, float64(used)/float64(all))
}

// WaitForQuiet waits until other programs have used little of the machine for a moment, for at most patience. It
// returns the time that it waited.
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
