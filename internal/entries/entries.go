// Package entries counts for a moment how often functions of running processes are entered.
//
// A probe at a function that runs a million times a second would stop the program nearly. So each function is first
// watched alone, and no longer than until it has been entered a few hundred times. The probes are only in the processes
// that are named, and all of them are gone when Count returns.
package entries

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"

	"whatif/internal/code/trap"
	"whatif/internal/openfile"
	"whatif/internal/privilege"
)

// Most is how often a second a function may be entered to be counted for longer. A probe takes a microsecond or two, so
// that is a few percent of a core.
const Most = 10_000

const (
	aloneFor    = 25 * time.Millisecond // the longest that a function is watched alone
	enough      = 300                   // entries
	looksEvery  = time.Millisecond
	mostAtOnce  = 2 * Most // entries a second, of all functions that are counted together
	mostProcess = 16       // processes that get probes
)

// A Function is one to count.
type Function struct {
	File   *os.File
	Offset uint64 // of its first instruction, in the file
}

// A Rate is how often a function was entered.
type Rate struct {
	PerSecond float64
	TooOften  bool // above Most; PerSecond is a rough figure
	Unknown   bool // no probe could be set, or there was no time
}

// Count counts entries of functions in these processes. First each function is watched alone, for 25 ms at most, then
// those together that are not entered too often, for the given time. The error is about what concerns all functions.
func Count(ctx context.Context, pids []int, functions []Function, together time.Duration) ([]Rate, error) {
	pids = pids[:min(len(pids), mostProcess)]
	rates := make([]Rate, len(functions))
	counts, err := newCounts(len(functions))
	if err != nil {
		return nil, fmt.Errorf("counting entries of functions: %w", err)
	}
	defer counts.Close()
	for i, f := range functions {
		rates[i] = counts.watch(ctx, i, f, pids)
	}
	var slow []int
	sum := 0.0
	for i, r := range rates {
		if !r.TooOften && !r.Unknown && sum+r.PerSecond <= mostAtOnce {
			sum += r.PerSecond
			slow = append(slow, i)
		}
	}
	return rates, counts.together(ctx, slow, functions, pids, rates, together)
}

// counts has a number of entries for each function.
type counts struct{ *ebpf.Map }

func newCounts(n int) (counts, error) {
	m, err := ebpf.NewMap(&ebpf.MapSpec{
		Name: "entries", Type: ebpf.Array, KeySize: 4, ValueSize: uint32(8 * max(n, 1)), MaxEntries: 1,
	})
	return counts{m}, err
}

func (c counts) read() ([]uint64, error) {
	value := make([]byte, c.ValueSize())
	if err := c.Lookup(uint32(0), value); err != nil {
		return nil, err
	}
	all := make([]uint64, len(value)/8)
	for i := range all {
		all[i] = binary.NativeEndian.Uint64(value[8*i:])
	}
	return all, nil
}

// program makes the probe of function i: it adds 1 to its count.
func (c counts) program(i int, multi bool) (*ebpf.Program, error) {
	spec := &ebpf.ProgramSpec{
		Name: "entered", Type: ebpf.Kprobe, License: "Dual MIT/GPL", KernelVersion: privilege.KernelVersion,
		Instructions: asm.Instructions{
			asm.LoadMapValue(asm.R1, c.FD(), uint32(8*i)),
			asm.Mov.Imm(asm.R2, 1),
			asm.AddAtomic.Mem(asm.R1, asm.R2, asm.DWord, 0),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
		},
	}
	if multi {
		spec.AttachType = ebpf.AttachTraceUprobeMulti
	}
	return ebpf.NewProgram(spec)
}

// attach sets the probes of function i, one for each process. They are in no other process: a perf event's probe is in
// the processes of its address space only. Without CAP_SYS_ADMIN the kernel takes the newer kind of link alone.
func (c counts) attach(i int, f Function, pids []int) (detach func(), err error) {
	x, err := link.OpenExecutable(openfile.Path(int(f.File.Fd())))
	if err != nil {
		return nil, err
	}
	offset := f.Offset
	if runtime.GOARCH == "amd64" {
		code := make([]byte, 64)
		n, err := f.File.ReadAt(code, int64(offset))
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		offset += uint64(trap.Behind(code[:n]))
	}
	var links []link.Link
	detach = func() {
		for _, k := range links {
			k.Close()
		}
	}
	for _, multi := range []bool{false, true} {
		program, err1 := c.program(i, multi)
		if err1 != nil {
			return nil, err1
		}
		for _, pid := range pids {
			var k link.Link
			if multi {
				k, err = x.UprobeMulti(nil, program, &link.UprobeMultiOptions{Addresses: []uint64{offset}, PID: uint32(pid)})
			} else {
				k, err = x.Uprobe("", program, &link.UprobeOptions{Address: offset, PID: pid})
			}
			if err == nil {
				links = append(links, k)
			}
		}
		program.Close() // links keep it
		if len(links) > 0 {
			return detach, nil
		}
	}
	return nil, err
}

// watch counts one function, until enough is known.
func (c counts) watch(ctx context.Context, i int, f Function, pids []int) Rate {
	if ctx.Err() != nil {
		return Rate{Unknown: true}
	}
	detach, err := c.attach(i, f, pids)
	if err != nil {
		return Rate{Unknown: true} // the function may begin with an instruction that takes no probe
	}
	defer detach()
	before, err := c.read()
	if err != nil {
		return Rate{Unknown: true}
	}
	begun := time.Now()
	for {
		time.Sleep(looksEvery)
		now, err := c.read()
		if err != nil {
			return Rate{Unknown: true}
		}
		n, took := now[i]-before[i], time.Since(begun)
		if n >= enough || took >= aloneFor || ctx.Err() != nil {
			rate := float64(n) / took.Seconds()
			return Rate{PerSecond: rate, TooOften: rate > Most}
		}
	}
}

// together counts those functions that are entered seldom, for a longer time, and writes their rates.
func (c counts) together(ctx context.Context, these []int, functions []Function, pids []int, rates []Rate,
	length time.Duration,
) error {
	if len(these) == 0 || length <= 0 {
		return nil
	}
	for _, i := range these {
		detach, err := c.attach(i, functions[i], pids)
		if err != nil {
			rates[i] = Rate{Unknown: true}
			continue
		}
		defer detach()
	}
	before, err := c.read()
	if err != nil {
		return fmt.Errorf("counting entries of functions: %w", err)
	}
	begun := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(length):
	}
	took := time.Since(begun)
	after, err := c.read()
	if err != nil {
		return fmt.Errorf("counting entries of functions: %w", err)
	}
	if took < aloneFor {
		return errors.Join(ctx.Err())
	}
	for _, i := range these {
		if !rates[i].Unknown {
			rate := float64(after[i]-before[i]) / took.Seconds()
			rates[i] = Rate{PerSecond: rate, TooOften: rate > Most}
		}
	}
	return nil
}
