package doctor

import (
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"whatif/internal/target"
)

// uprobes: progress points. A probe is set on a function of whatif itself, in this
// process only, and the function is called.
func uprobes(fs.FS) answer { return needs(tryUprobe(), "", "use a kernel with CONFIG_UPROBE_EVENTS=y") }

//go:noinline
func probed() { calls++ }

var calls int

// tryUprobe tries the newer kind of probe first (Linux 6.6): the older one needs
// cap_sys_admin on newer kernels.
func tryUprobe() error {
	offset, err := fileOffset(reflect.ValueOf(probed).Pointer())
	if err != nil {
		return err
	}
	self, err := link.OpenExecutable("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("opening whatif itself: %w", err)
	}
	multi := tryProbe(ebpf.AttachTraceUprobeMulti, func(p *ebpf.Program) (link.Link, error) {
		return self.UprobeMulti(nil, p, &link.UprobeMultiOptions{PID: uint32(os.Getpid()), Addresses: []uint64{offset}, Cookies: []uint64{1}})
	})
	if multi == nil {
		return nil
	}
	// The cookie, which tells points apart, needs Linux 5.15.
	return tryProbe(ebpf.AttachNone, func(p *ebpf.Program) (link.Link, error) {
		return self.Uprobe("", p, &link.UprobeOptions{PID: os.Getpid(), Address: offset, Cookie: 1})
	})
}

func tryProbe(kind ebpf.AttachType, attach func(*ebpf.Program) (link.Link, error)) error {
	counter, err := newCounter()
	if err != nil {
		return err
	}
	defer counter.Close()
	spec := counting(ebpf.Kprobe, counter)
	spec.AttachType = kind
	p, err := load(spec)
	if err != nil {
		return err
	}
	defer p.Close()
	probe, err := attach(p)
	if err != nil {
		return fmt.Errorf("setting a probe: %w", err)
	}
	defer probe.Close()
	probed()
	return reaches(counter, 1, 100*time.Millisecond)
}

// fileOffset of a function of this program.
func fileOffset(pc uintptr) (uint64, error) {
	entry := uint64(runtime.FuncForPC(pc).Entry())
	maps, err := target.Maps(os.Getpid())
	if err != nil {
		return 0, err
	}
	for _, m := range maps {
		if m.Start <= entry && entry < m.End {
			return entry - m.Start + m.Offset, nil
		}
	}
	return 0, fmt.Errorf("finding whatif itself in memory: nothing is mapped at %#x", entry)
}
