package recorder

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"whatif/bpf"
	"whatif/internal/ledger"
	"whatif/internal/recording"
	"whatif/internal/target"
)

// What recording takes of the target's time. The kernel side's programs measure themselves, one record in some dozens.
// The way to them is measured here, in this process: of which nothing is recorded, so they end at once.

// tracing is what it takes to reach a program at a tracepoint and to come back, in ns. A few dozen instructions of the
// kernel's do that.
const tracing = 50

// ways are what it takes to reach programs and to come back, in ns.
type ways struct {
	mu     sync.Mutex // binaries are found, and get probes, while it is recorded
	probes map[ledger.Cost]float64
	most   map[string]float64 // by the handler of probes: the largest
	sample float64
}

// timeProbes finds out what probes take, as far as that is not known yet.
func (k *kernelSide) timeProbes(handler string, all []Probe) error {
	k.ways.mu.Lock()
	defer k.ways.mu.Unlock()
	for _, p := range all {
		if _, known := k.ways.probes[p.Cost]; !known {
			took, err := ledger.TimeProbe(p.Cost, target.OwnCode, func(own ledger.Probe) ([]io.Closer, error) {
				return k.set(handler, []Probe{{Probe: own}})
			})
			if err != nil {
				return err
			}
			k.ways.probes[p.Cost] = float64(took)
		}
		k.ways.most[handler] = math.Max(k.ways.most[handler], k.ways.probes[p.Cost])
	}
	return nil
}

// probeWay is what it takes to reach the program of a handler.
func (k *kernelSide) probeWay(handler string) float64 {
	k.ways.mu.Lock()
	defer k.ways.mu.Unlock()
	return k.ways.most[handler]
}

// Samples of this thread come so often, and for so long of its time, while it is measured what they take.
const (
	timedPeriod = 100 * time.Microsecond
	timedFor    = 8 * time.Millisecond
)

// timeSamples finds out what a sample takes: each sample is a gap of this thread. The gaps of samples are the longest
// ones, but for a few by interrupts that come all the same; the median does not see these.
func (k *kernelSide) timeSamples() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr := clockOf(timedPeriod)
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return fmt.Errorf("measuring what a sample costs: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, k.Programs["record_sample"].FD()); err != nil {
		return fmt.Errorf("measuring what a sample costs: setting the program: %w", err)
	}
	if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
		return fmt.Errorf("measuring what a sample costs: %w", err)
	}
	gaps := ledger.BusyGaps(timedFor)
	// Of a clock, the count is for how long it has run.
	var ran [8]byte
	if _, err := unix.Read(fd, ran[:]); err != nil {
		return fmt.Errorf("measuring what a sample costs: %w", err)
	}
	k.ways.sample = longestOf(gaps, int(binary.NativeEndian.Uint64(ran[:])/uint64(timedPeriod)))
	return nil
}

// longestOf is the median of the n longest of some gaps, in ns.
func longestOf(gaps []ledger.Gap, n int) float64 {
	var times []uint64
	for _, g := range gaps {
		times = append(times, g.To-g.From)
	}
	slices.Sort(times)
	times = times[max(0, len(times)-n):]
	if len(times) == 0 {
		return 0
	}
	return float64(times[len(times)/2])
}

// clockOf is an event of the kernel's clock of a core's busy time, which works without counters in hardware.
func clockOf(period time.Duration) unix.PerfEventAttr {
	return unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_CPU_CLOCK, Sample: uint64(period),
		Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})), Bits: unix.PerfBitExcludeIdle | unix.PerfBitDisabled,
	}
}

// costs are what it has taken to record events.
func (k *kernelSide) costs() recording.Costs {
	spent := func(way float64, kinds ...bpf.RecordRecordKind) int64 {
		var ns, n float64
		for _, cpu := range k.cpus {
			for _, kind := range kinds {
				ns += float64(k.cores[cpu].Spent[kind])
				n += float64(k.cores[cpu].Measured[kind])
			}
		}
		if n > 0 {
			way += ns / n
		}
		if way > mostCost {
			return 0
		}
		return int64(way)
	}
	return recording.Costs{
		Switch: spent(tracing, bpf.RecordRecordKindRECORD_SWITCH),
		Wake:   spent(tracing, bpf.RecordRecordKindRECORD_WAKE),
		Sample: spent(k.ways.sample, bpf.RecordRecordKindRECORD_SAMPLE),
		Visit:  spent(k.visitWay(), bpf.RecordRecordKindRECORD_VISIT),
		Goroutine: spent(k.probeWay(momentHandler), bpf.RecordRecordKindRECORD_RUN, bpf.RecordRecordKindRECORD_PARK,
			bpf.RecordRecordKindRECORD_READY),
	}
}

// visitWay is what it takes on average to reach the program that records a visit: by a probe, or by a tracepoint.
func (k *kernelSide) visitWay() float64 {
	var probed, hooked float64
	for _, cpu := range k.cpus {
		probed += float64(k.cores[cpu].Visited)
		hooked += float64(k.cores[cpu].Hooked)
	}
	return (k.probeWay(pointHandler)*probed + tracing*hooked) / math.Max(1, probed+hooked)
}

// mostCost bounds what is believed, in ns: a core that was taken from this process while it measured is no cost.
const mostCost = 1e5
