// Package measure measures how fast this machine is, and makes a device file of it.
//
// All loops are plain Go, so every architecture runs the same code, and figures of two architectures can be compared.
// What the compiler makes of the loops belongs to the figures, as it does in programs.
//
// Everything is measured in several rounds, one after the other over the whole time, so that drift, other programs and
// a busy host show as spread between rounds. Run is the normal use; Serve is the other end of a network.
package measure

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/device"
	"whatif/internal/hint"
	"whatif/internal/load"
)

// Options say what Run measures.
type Options struct {
	Name   string
	Dir    string        // where files are written and read
	Peer   string        // HOST:PORT of another whatif device --serve; "": none
	Time   time.Duration // about how long it takes
	Anyway bool          // measure a busy machine, too
	// Progress is called with a word for what is measured now.
	Progress func(what string)
}

// rounds is how often everything is measured. The median of 15 withstands seven disturbed rounds.
const rounds = 15

// An item is one measure. take measures it once, in about d, in the unit of the measure.
type item struct {
	name string
	take func(d time.Duration) (float64, error)
}

// A bench is one session.
type bench struct {
	cores  int
	items  []item
	doubts []string
	close  []func()
}

func (b *bench) add(name string, take func(d time.Duration) (float64, error)) {
	b.items = append(b.items, item{name, take})
}

func (b *bench) doubt(format string, args ...any) {
	b.doubts = append(b.doubts, fmt.Sprintf(format, args...))
}

func (b *bench) end() {
	for _, f := range slices.Backward(b.close) {
		f()
	}
}

// Run measures this machine.
func Run(ctx context.Context, opt Options) (*device.Device, error) {
	if err := busy(ctx, opt.Anyway); err != nil {
		return nil, err
	}
	b := &bench{cores: runtime.GOMAXPROCS(0)}
	defer b.end()
	begin := time.Now()
	opt.Progress("preparing")
	caches := Caches("/sys")
	b.addCPU()
	if err := b.addMemory(caches); err != nil {
		return nil, fmt.Errorf("preparing memory: %w", err)
	}
	if err := b.addDisk(opt.Dir, opt.Time/10); err != nil {
		return nil, fmt.Errorf("preparing a file in %s: %w", opt.Dir, err)
	}
	if err := b.addNet(opt.Peer); err != nil {
		return nil, err
	}
	b.addWake()
	// Preparing is part of the time. A tenth of it at least is left for rounds.
	left := max(opt.Time-time.Since(begin), opt.Time/10)
	before, beforeErr := load.Read()
	own := processorTime()
	taken, err := b.rounds(ctx, left, opt.Progress)
	if err != nil {
		return nil, err
	}
	d := &device.Device{Format: device.Format, Version: device.Version, Name: opt.Name, Kind: device.Measured,
		Made: begin.UTC().Format(time.RFC3339), Cores: b.cores, Machine: machine(caches), Measures: summarise(taken)}
	if after, err := load.Read(); err == nil && beforeErr == nil {
		b.doubtLoad(load.Foreign(before, after, processorTime()-own), load.Steal(before, after))
	}
	b.doubtDrift(taken)
	d.Warnings = append(b.doubts, doubtful(d.Measures)...)
	return d, refuse(d, opt.Anyway)
}

// rounds takes every item in each round. The last round ends after about left.
func (b *bench) rounds(ctx context.Context, left time.Duration, progress func(string)) (map[string][]float64, error) {
	// A collection of garbage would be in one round and not in another.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	slice := left / time.Duration(rounds*len(b.items))
	taken := make(map[string][]float64)
	for range rounds {
		for _, i := range b.items {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("measuring %s: %w", i.name, err)
			}
			progress(i.name)
			x, err := i.take(slice)
			if err != nil {
				return nil, fmt.Errorf("measuring %s: %w", i.name, err)
			}
			taken[i.name] = append(taken[i.name], x)
		}
	}
	return taken, nil
}

// summarise makes measures of what the rounds took, in the order of device.Names.
func summarise(taken map[string][]float64) (all []device.Measure) {
	for _, name := range device.Names() {
		if xs := taken[name]; len(xs) > 0 {
			unit, _ := device.UnitOf(name)
			m := device.Measure{Name: name, Unit: unit, Value: median(xs), Rounds: len(xs)}
			least, most := interval(xs)
			m.Spread = max(m.Value-least, most-m.Value) / m.Value
			m.Value, m.Spread = digits(m.Value, 5), digits(m.Spread, 3)
			all = append(all, m)
		}
	}
	return all
}

// digits rounds to n significant digits; more would pretend to be known.
func digits(x float64, n int) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, float64(n-1)-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// interval is the range of the rounds without the least and the largest: what a round may be, not how well the median
// is known. Rounds of one measurement are more alike than two measurements: the 95% interval of the median was a third
// of what two of them differed by. Of less than nine rounds it is the whole range.
func interval(xs []float64) (least, most float64) {
	sorted := slices.Sorted(slices.Values(xs))
	n, out := len(sorted), 0
	if n >= 9 {
		out = 1
	}
	return sorted[out], sorted[n-1-out]
}

func median(xs []float64) float64 {
	sorted := slices.Sorted(slices.Values(xs))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// patience is how long a busy machine is waited for.
const patience = 4 * time.Second

// mostForeign is the share of the machine that other programs may use at the start. A tenth of two cores is what a
// desktop does at rest; more would be in all figures of all cores.
const mostForeign = 0.1

// busy refuses to measure a machine on which other programs run.
func busy(ctx context.Context, anyway bool) error {
	if anyway {
		return nil
	}
	waited, err := load.WaitForQuiet(ctx, patience)
	if ctx.Err() != nil {
		return err
	}
	if err != nil || waited < patience {
		return nil // where /proc/stat cannot be read, spreads have to tell
	}
	before, err := load.Read()
	time.Sleep(time.Second)
	after, err2 := load.Read()
	if err != nil || err2 != nil {
		return nil
	}
	if share := load.Foreign(before, after, 0); share > mostForeign {
		return hint.New(fmt.Errorf("measuring this machine: other programs use %.0f%% of it", 100*share),
			"stop them, or wait; --anyway measures what they leave")
	}
	return nil
}

// mostDrift is the spread of the plainest loop from which a device file would be useless.
const mostDrift = 0.3

// refuse refuses figures of a processor that did not have one speed.
func refuse(d *device.Device, anyway bool) error {
	m, ok := d.Measure("cpu.integer.one")
	if !ok || anyway || m.Spread <= mostDrift {
		return nil
	}
	return hint.New(fmt.Errorf("measuring this machine: the speed of one core changed by +-%.0f%% meanwhile",
		100*m.Spread), "measure again when the machine, and its host, are quiet; --anyway keeps the figures")
}

func (b *bench) doubtLoad(foreign, steal float64) {
	if steal > 0.01 {
		b.doubt("the host took %.0f%% of the processors: figures may be too low", 100*steal)
	}
	if foreign-steal > load.MaxForeign {
		b.doubt("other programs used %.0f%% of the processors: figures may be too low", 100*(foreign-steal))
	}
}

// doubtDrift tells a processor that became slower or faster from one that only varied.
func (b *bench) doubtDrift(taken map[string][]float64) {
	xs := taken["cpu.integer.one"]
	if len(xs) < 6 {
		return
	}
	third := len(xs) / 3
	first, last := median(xs[:third]), median(xs[len(xs)-third:])
	if change := last/first - 1; math.Abs(change) > device.MostSpread {
		b.doubt("one core became %+.0f%% faster from the first third of the time to the last: heat, or the host", 100*change)
	}
}

// doubtful is the warning that names the measures that vary.
func doubtful(all []device.Measure) []string {
	var names []string
	for _, m := range all {
		if m.Spread > device.MostSpread {
			names = append(names, fmt.Sprintf("%s (+-%.0f%%)", m.Name, 100*m.Spread))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d measures varied by more than +-%.0f%%: %s",
		len(names), len(all), 100*device.MostSpread, strings.Join(names, ", "))}
}

// processorTime is the processor time of this process.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
