package ledger

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"whatif/internal/kerneltypes"
)

// Where the kernel has the count of how deep preemption is off: enum preempt_count of bpf/pay/locks.h.
const (
	countOfCore   uint32 = 1
	countOfThread uint32 = 2
)

// findVariables tells the programs where each core has that count, and the registers that its last interrupt has
// found.
func findVariables(spec *ebpf.CollectionSpec, types kerneltypes.Types) error {
	if runtime.GOARCH == "arm64" {
		if err := setVariable(spec, "preempt_count_kept", countOfThread); err != nil {
			return err
		}
	}
	of, err := coreVariables(types.Kernel)
	if err != nil {
		return err
	}
	queue, ok := of["runqueues"]
	if !ok {
		return nil
	}
	if regs, ok := of["__irq_regs"]; ok {
		if err := setVariable(spec, "irq_regs_at", regs-queue); err != nil {
			return err
		}
	}
	if runtime.GOARCH == "arm64" {
		return nil
	}
	count, ok := of["__preempt_count"]
	if !ok { // Linux 6.2 to 6.14
		if count, ok = of["pcpu_hot"]; !ok {
			return nil
		}
		var hot *btf.Struct
		if err := types.Kernel.TypeByName("pcpu_hot", &hot); err != nil {
			return nil
		}
		at, found := memberOf(hot.Members, "preempt_count")
		if !found {
			return nil
		}
		count += int64(at)
	}
	return errors.Join(setVariable(spec, "preempt_count_at", count-queue), setVariable(spec, "preempt_count_kept", countOfCore))
}

// coreVariables are the variables of which each core has one, and where they are among all of these.
func coreVariables(kernel *btf.Spec) (map[string]int64, error) {
	var section *btf.Datasec
	if err := kernel.TypeByName(".data..percpu", &section); errors.Is(err, btf.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("looking for the variables of each core: %w", err)
	}
	of := make(map[string]int64, len(section.Vars))
	for _, v := range section.Vars {
		of[v.Type.TypeName()] = int64(v.Offset)
	}
	return of, nil
}

// memberOf is where a member is, also one of a struct or union without a name inside.
func memberOf(members []btf.Member, name string) (at uint32, ok bool) {
	for _, m := range members {
		if m.Name == name {
			return m.Offset.Bytes(), true
		}
		var inner []btf.Member
		switch t := btf.UnderlyingType(m.Type).(type) {
		case *btf.Struct:
			inner = t.Members
		case *btf.Union:
			inner = t.Members
		}
		if m.Name == "" {
			if at, ok := memberOf(inner, name); ok {
				return m.Offset.Bytes() + at, true
			}
		}
	}
	return 0, false
}

// seeMode has the kernel side see what a tick has interrupted, on a kernel that does not count how deep preemption
// is off. What code owes that runs in the kernel is paid later there.
func (l *Ledger) seeMode() error {
	counts, err := l.countsPreemption()
	if err != nil || counts && !l.opt.uncounted {
		return err
	}
	k, err := l.programs.attach("on_raise_see_mode")
	if err != nil {
		return err
	}
	l.links.add(k)
	l.page.control.SeesMode = 1
	slog.Debug("the kernel does not count how deep preemption is off: cores are stopped in user space only")
	return nil
}

// countsPreemption tells whether the kernel counts how deep preemption is off. The kernel switches it off while it
// runs this program.
func (l *Ledger) countsPreemption() (bool, error) {
	see, err := l.programs.get("see_preempt_count")
	if err != nil {
		return false, err
	}
	depth, err := see.Run(&ebpf.RunOptions{})
	if err != nil {
		return false, fmt.Errorf("asking how deep preemption is off: %w", err)
	}
	return depth > 0, nil
}
