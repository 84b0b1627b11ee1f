package recorder

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"golang.org/x/sys/unix"

	"whatif/bpf"
	"whatif/internal/kerneltypes"
	"whatif/internal/ledger"
	"whatif/internal/privilege"
)

// kernelSide is the loaded programs and maps, and the memory that they share with this process.
type kernelSide struct {
	*ebpf.Collection
	memory  []byte
	control *bpf.RecordRecordControl
	cores   *[bpf.LedgerLimitMAX_CPUS]bpf.RecordRecordCore
	alive   *uint64
	calls   *[2][bpf.LedgerLimitMAX_CALLS]uint32
	tables  *ledger.TableRows
	cpus    []int
	rings   []*ringbuf.Reader // of cpus
	links   []io.Closer
	clocks  []int // file descriptors
	period  time.Duration
	shifted time.Time // when the clocks were given other periods
	singly  bool      // the kernel has no links for several probes
	windows uint64

	hooks       int     // of control.Hooks that are in use
	callsHooked [2]bool // at their begin, and at their end

	windowRecords int // that a window may have, of all cores
	ways          ways
}

// openKernel loads the programs, and attaches those that follow the scheduler and interrupts, on these cores.
func openKernel(memory int, cpus []int) (_ *kernelSide, err error) {
	spec, err := bpf.LoadRecord()
	if err != nil {
		return nil, fmt.Errorf("reading the kernel programs: %w", err)
	}
	types, err := kerneltypes.Get()
	if err != nil {
		return nil, err
	}
	k := &kernelSide{
		cpus: cpus, singly: errors.Is(features.HaveBPFLinkUprobeMulti(), ebpf.ErrNotSupported),
		ways: ways{probes: make(map[ledger.Cost]float64), most: make(map[string]float64)},
	}
	k.choosePrograms(spec, types)
	room := roomFor(memory, len(k.cpus))
	k.windowRecords = room.window
	spec.Maps["rings"].InnerMap.MaxEntries = room.ring
	for _, name := range []string{"known_addresses", "known_stacks"} {
		spec.Maps[name].MaxEntries = max(spec.Maps[name].MaxEntries, room.known)
	}
	for name, value := range map[string]any{
		"page_shift":    uint32(bits.TrailingZeros(uint(os.Getpagesize()))),
		"window_budget": uint64(room.window),
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			return nil, fmt.Errorf("setting %s of the kernel programs: %w", name, err)
		}
	}
	layout, err := ledger.Variables(spec)
	if err != nil {
		return nil, err
	}
	k.Collection, err = ebpf.NewCollectionWithOptions(spec, ebpf.CollectionOptions{
		Cache: types.Cache, Programs: ebpf.ProgramOptions{KernelTypes: types.Kernel},
	})
	if err != nil {
		return nil, fmt.Errorf("loading the recording programs into the kernel: %w", err)
	}
	defer func() {
		if err != nil {
			k.close()
		}
	}()
	if err := k.mapShared(layout); err != nil {
		return nil, err
	}
	if err := k.openRings(spec.Maps["rings"].InnerMap); err != nil {
		return nil, err
	}
	if err = k.attach(); err == nil {
		err = k.timeSamples()
	}
	return k, err
}

// room is what there is room for on a machine.
type room struct {
	ring   uint32 // bytes of each core's ring
	window int    // records of all cores in a window
	known  uint32 // least entries of a table that evicts what was used least recently
}

// roomFor divides the memory. A window may be filled by one core alone: cores do not share what they have left, as each
// event would then write to the same cache line. User space counts what all of them have written, and ends the window.
func roomFor(memory, cores int) room {
	return room{
		ring:   ringSize(memory / ringsPart / cores),
		window: memory / windowPart / recordSize,
		known:  uint32(keptFree * cores),
	}
}

// keptFree is how many entries of an evicting table each core needs. A core takes 128 free ones at a time
// (LOCAL_FREE_TARGET in the kernel's bpf_lru_list.c). Where that would use up the table, older kernels evict what is in
// use although other cores have free entries.
const keptFree = 256

// memoryFor is the bound of a recording's memory if nothing else is asked for: what DefaultMemory is for up to 64
// cores, and as much for each core on larger machines, where a window has to be as long.
func memoryFor(cores int) int { return max(DefaultMemory, cores*(DefaultMemory/64)) }

// ringSize is the largest power of two that is not above a size, within what one core needs.
func ringSize(most int) uint32 {
	const smallest, largest = 1 << 16, 1 << 22
	return uint32(min(max(1<<(bits.Len(uint(most))-1), smallest), largest))
}

// choosePrograms takes those out that this kernel cannot run.
func (k *kernelSide) choosePrograms(spec *ebpf.CollectionSpec, types kerneltypes.Types) {
	for name, p := range spec.Programs {
		p.KernelVersion = privilege.KernelVersion
		traced := p.Type == ebpf.Tracing && p.AttachType == ebpf.AttachTraceRawTp
		if traced && !types.HasTracepoint(p.AttachTo) {
			delete(spec.Programs, name)
		}
	}
	for _, handler := range []string{pointHandler, momentHandler} {
		unused := "on_single_" + handler
		if k.singly {
			unused = "on_" + handler
		}
		delete(spec.Programs, unused)
	}
}

// mapShared maps the variables.
func (k *kernelSide) mapShared(layout map[string]btf.VarSecinfo) error {
	m := k.Maps[".bss"]
	var err error
	k.memory, err = unix.Mmap(m.FD(), 0, int(m.ValueSize()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mapping the memory shared with the kernel: %w", err)
	}
	var rules *[bpf.LedgerLimitMAX_RULES]bpf.LedgerRule
	var rows *[bpf.LedgerLimitMAX_ROWS]bpf.LedgerRow
	for name, pointer := range map[string]any{
		"control": &k.control, "record_cores": &k.cores, "member_count": &k.alive, "rules": &rules, "rows": &rows,
		"call_hooks": &k.calls,
	} {
		v, to := layout[name], reflect.ValueOf(pointer).Elem()
		if uintptr(v.Size) != to.Type().Elem().Size() || int(v.Offset)+int(v.Size) > len(k.memory) {
			return fmt.Errorf("mapping the shared variable %s: the kernel object has another layout: generate it anew", name)
		}
		to.Set(reflect.NewAt(to.Type().Elem(), unsafe.Pointer(&k.memory[v.Offset])))
	}
	k.tables = ledger.NewTableRows(rules, rows)
	k.control.Secret = rand.Uint64() | 1
	return nil
}

// openRings makes a ring for each core that is on line.
func (k *kernelSide) openRings(spec *ebpf.MapSpec) error {
	for _, cpu := range k.cpus {
		ring, err := ebpf.NewMap(spec)
		if err != nil {
			return fmt.Errorf("making the ring of CPU %d: %w", cpu, err)
		}
		k.links = append(k.links, ring)
		if err := k.Maps["rings"].Put(uint32(cpu), ring); err != nil {
			return fmt.Errorf("making the ring of CPU %d: %w", cpu, err)
		}
		reader, err := ringbuf.NewReader(ring)
		if err != nil {
			return fmt.Errorf("opening the ring of CPU %d: %w", cpu, err)
		}
		reader.SetDeadline(time.Unix(1, 0)) // it returns what is there, and never waits
		k.rings = append(k.rings, reader)
	}
	return nil
}

// attach attaches the programs that are written for tracepoints, but those for system calls (see Hook).
func (k *kernelSide) attach() error {
	for name, p := range k.Programs {
		if p.Type() != ebpf.Tracing || strings.HasPrefix(name, "record_join") || name == "record_states" ||
			name == callBegins || name == callIsOver {
			continue
		}
		attached, err := link.AttachTracing(link.TracingOptions{Program: p})
		if err != nil {
			return fmt.Errorf("attaching %s: %w", name, err)
		}
		k.links = append(k.links, attached)
	}
	return nil
}

// sample begins to sample all cores.
func (k *kernelSide) sample(period time.Duration) error {
	k.period = period
	program := k.Programs["record_sample"]
	for _, cpu := range k.cpus {
		attr := clockOf(period)
		fd, err := unix.PerfEventOpen(&attr, -1, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ENODEV) {
			continue // taken off line meanwhile
		}
		if err != nil {
			return fmt.Errorf("sampling CPU %d: %w", cpu, err)
		}
		k.clocks = append(k.clocks, fd)
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_SET_BPF, program.FD()); err != nil {
			return fmt.Errorf("sampling CPU %d: setting the program: %w", cpu, err)
		}
		if err := unix.IoctlSetInt(fd, unix.PERF_EVENT_IOC_ENABLE, 0); err != nil {
			return fmt.Errorf("sampling CPU %d: %w", cpu, err)
		}
	}
	return nil
}

// A program that does something by the clock would always be sampled in the same place by a clock of its period. So
// each core's rate changes at random, by up to shiftBy of it. That takes an interrupt: it is done a few times a second.
const (
	shiftEvery = 100 * time.Millisecond
	shiftBy    = 0.25
)

// shift gives each core another period of sampling, if it is time. The mean of the rates is that which was asked for.
func (k *kernelSide) shift() {
	if time.Since(k.shifted) < shiftEvery {
		return
	}
	k.shifted = time.Now()
	for _, fd := range k.clocks {
		period := uint64(float64(k.period) / (1 + shiftBy*(2*rand.Float64()-1)))
		// If that fails, as where the core was taken off line, the period stays as it is.
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.PERF_EVENT_IOC_PERIOD, uintptr(unsafe.Pointer(&period)))
	}
}

// join takes processes in, by their numbers in this process's namespace.
func (k *kernelSide) join(pids []int) error {
	if _, err := k.Programs["find_level"].Run(&ebpf.RunOptions{}); err != nil {
		return fmt.Errorf("asking for the namespace of process numbers: %w", err)
	}
	for _, pid := range pids {
		if err := k.Maps["recorded"].Put(uint32(pid), uint32(1)); err != nil {
			return fmt.Errorf("choosing process %d: %w", pid, err)
		}
	}
	defer func() {
		for _, pid := range pids {
			k.Maps["recorded"].Delete(uint32(pid)) // it is there
		}
	}()
	return ledger.RunOnTasks(k.Programs["record_join"])
}

func (k *kernelSide) members() int { return int(atomic.LoadUint64(k.alive)) }

// begin begins a window, and returns when it is known what all threads do. What happened before that is recorded, too,
// as a thread may change while the others are looked at.
func (k *kernelSide) begin() (uint64, error) {
	k.windows++
	atomic.StoreUint64(&k.control.Closed, 0)
	atomic.StoreUint64(&k.control.Window, k.windows)
	if err := ledger.RunOnTasks(k.Programs["record_states"]); err != nil {
		return 0, err
	}
	return ledger.Now(), nil
}

// recording tells whether the window goes on.
func (k *kernelSide) recording() bool { return atomic.LoadUint64(&k.control.Window) != 0 }

// end ends the window, if no core has done that already, and gives when it ended.
func (k *kernelSide) end() uint64 {
	now := ledger.Now()
	open := atomic.SwapUint64(&k.control.Window, 0)
	if closed := atomic.LoadUint64(&k.control.Closed); open == 0 && closed != 0 {
		return closed
	}
	return now
}

// counts are what the cores have counted.
type counts struct {
	written, lost, samples, wakes, unknown uint64

	cost   float64 // ns that recording took of the core that it took most of
	probes float64 // the same of probes on Go's runtime
	each   []coreCounts
}

type coreCounts struct{ cost, probes float64 }

func (k *kernelSide) counts() counts {
	var c counts
	way := k.probeWay(momentHandler)
	for _, cpu := range k.cpus {
		core := &k.cores[cpu]
		c.written += core.Written
		c.lost += core.Lost
		c.samples += core.Samples
		c.wakes += core.Wakes
		c.unknown += core.Unknown
		each := coreCounts{probes: way * float64(core.Probed)}
		var measured, spent uint64
		for kind := range core.Measured {
			measured, spent = measured+core.Measured[kind], spent+core.Spent[kind]
		}
		if measured > 0 {
			each.cost = float64(core.Written) * (tracing + float64(spent)/float64(measured))
		}
		each.cost += each.probes
		c.each = append(c.each, each)
	}
	return c
}

// since is what was counted since then.
func (c counts) since(then counts) counts {
	c.written -= then.written
	c.lost -= then.lost
	c.samples -= then.samples
	c.wakes -= then.wakes
	c.unknown -= then.unknown
	for i := range c.each {
		c.cost = max(c.cost, c.each[i].cost-then.each[i].cost)
		c.probes = max(c.probes, c.each[i].probes-then.each[i].probes)
	}
	return c
}

// close detaches all and frees the memory.
func (k *kernelSide) close() error {
	var errs []error
	for _, fd := range k.clocks {
		errs = append(errs, unix.Close(fd))
	}
	for _, r := range k.rings {
		errs = append(errs, r.Close())
	}
	for _, l := range k.links {
		errs = append(errs, l.Close())
	}
	if k.memory != nil {
		errs = append(errs, unix.Munmap(k.memory))
	}
	k.Collection.Close()
	return errors.Join(errs...)
}

// online are the CPUs that are on line.
func online() ([]int, error) {
	c, err := ledger.ReadCPUs(os.DirFS("/sys/devices/system"))
	return c.Online, err
}
