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
	"golang.org/x/sys/unix"

	"whatif/internal/privilege"
	"whatif/internal/target"
)

// uprobes checks for probes, which count progress points: it sets a probe on a function of whatif itself, in this
// process only, and calls the function.
func uprobes(fs.FS) answer {
	err := tryUprobe()
	if permission(err) && os.Geteuid() != 0 {
		return bad("run whatif with sudo; or use "+multiLinks,
			"not permitted without cap_sys_admin, as since the fix of CVE-2025-38466: %s", oneLine(err))
	}
	return needs(err, "", "use a kernel with CONFIG_UPROBE_EVENTS=y")
}

const multiLinks = "Linux 6.6 or newer, where links for several probes need no cap_sys_admin"

// uprobesWithout checks whether a whatif without root's rights could set probes. On some kernels cap_bpf and
// cap_perfmon are enough for that. Root tries it on a thread that has only these.
func uprobesWithout(fs.FS) answer {
	if os.Geteuid() != 0 {
		if privilege.Permitted().Has(unix.CAP_SYS_ADMIN) {
			return good("not known: whatif has cap_sys_admin here")
		}
		return good("as the check before says")
	}
	err := privilege.With([]int{unix.CAP_BPF, unix.CAP_PERFMON}, tryUprobe)
	switch {
	case err == nil:
		return good("cap_bpf and cap_perfmon are enough")
	case permission(err):
		return bad("use sudo; or "+multiLinks,
			"this kernel wants cap_sys_admin for them, as since the fix of CVE-2025-38466: "+
				"a whatif with capabilities counts no points in code")
	}
	return bad("", "not known: trying it without root: %s", oneLine(err))
}

//go:noinline
func probed() { calls++ }

var calls int

// tryUprobe tries the newer kind of probe first (Linux 6.6), because the older one needs cap_sys_admin on newer
// kernels.
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
		return self.UprobeMulti(nil, p, &link.UprobeMultiOptions{
			PID: uint32(os.Getpid()), Addresses: []uint64{offset}, Cookies: []uint64{1},
		})
	})
	if multi == nil {
		return nil
	}
	// The cookie, which distinguishes points, needs Linux 5.15.
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

// fileOffset is the offset of a function in this program's file.
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
