package ledger

import (
	"fmt"
	"log/slog"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
)

// Where the kernel keeps the count of how deep preemption is off: enum preempt_count of bpf/pay/locks.h.
const (
	countOfCore   uint32 = 1
	countOfThread uint32 = 2
)

// preemptionSettings tell the programs where that count is, and where each core keeps the registers that its last
// interrupt has found. offsets are those of coreVariables.
func preemptionSettings(kernel *btf.Spec, offsets map[string]int64) (all []setting) {
	arm64 := runtime.GOARCH == "arm64"
	if arm64 {
		all = append(all, setting{"preempt_count_kept", countOfThread})
	}
	queue, ok := offsets["runqueues"]
	if !ok {
		return all
	}
	if registers, ok := offsets["__irq_regs"]; ok {
		all = append(all, setting{"irq_regs_at", registers - queue})
	}
	if count, ok := preemptCount(kernel, offsets); ok && !arm64 {
		all = append(all, setting{"preempt_count_at", count - queue}, setting{"preempt_count_kept", countOfCore})
	}
	return all
}

// preemptCount is the offset of the count among the variables of each core, on machines where it is one of them.
func preemptCount(kernel *btf.Spec, offsets map[string]int64) (at int64, ok bool) {
	if at, ok = offsets["__preempt_count"]; ok {
		return at, true
	}
	at, ok = offsets["pcpu_hot"] // Linux 6.2 to 6.14
	if !ok {
		return 0, false
	}
	var hot *btf.Struct
	if err := kernel.TypeByName("pcpu_hot", &hot); err != nil {
		return 0, false
	}
	member, ok := memberOf(hot.Members, "preempt_count")
	return at + int64(member), ok
}

// seeMode makes the kernel side see whether a tick has interrupted user space, on a kernel that does not count how deep
// preemption is off. There, code that runs in the kernel pays at a later tick. uncounted is Options.uncounted.
func (k *kernelSide) seeMode(uncounted bool) error {
	counts, err := k.countsPreemption()
	if err != nil || counts && !uncounted {
		return err
	}
	if err := k.attach("on_raise_see_mode"); err != nil {
		return err
	}
	k.page.control.SeesMode = 1
	slog.Debug("the kernel does not count how deep preemption is off: cores are stopped in user space only")
	return nil
}

// countsPreemption tells whether the kernel counts how deep preemption is off. The kernel switches preemption off while
// it runs this program.
func (k *kernelSide) countsPreemption() (bool, error) {
	program, err := k.programs.get("see_preempt_count")
	if err != nil {
		return false, err
	}
	depth, err := program.Run(&ebpf.RunOptions{})
	if err != nil {
		return false, fmt.Errorf("asking how deep preemption is off: %w", err)
	}
	return depth > 0, nil
}
