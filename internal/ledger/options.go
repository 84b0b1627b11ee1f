package ledger

import (
	"fmt"
	"math/bits"
	"os"
	"slices"
	"time"

	"github.com/cilium/ebpf"

	"whatif/bpf"
	"whatif/internal/kerneltypes"
)

// Options are fixed for the life of a Ledger.
type Options struct {
	Period time.Duration // between the samples of one core
	Cap    time.Duration // the longest single stop
	Stacks *Stacks       // nil: a sample belongs to the first unit up its stack

	// UnitWaits are the classes of waiting that count as time of the unit in whose code the thread waits. Waits are
	// the classes that are units themselves. With neither, waiting threads are not looked at.
	UnitWaits, Waits []WaitClass
	// SamplesOnly says that only samples and visits matter: nothing is sped up, no waits are followed, and no
	// latencies are measured. So the scheduler is not followed, which would cost each switch. Then nothing can be
	// paid: NobodyPays has to be set, too. The time of other programs is unknown, as they may work for the target.
	SamplesOnly bool
	// NobodyPays says that nothing is compared. So the cost of counting is booked as no delay, and no thread is
	// stopped for what it costs others.
	NobodyPays bool
	// Kernel is set where the kernel's own code has units, too. Its places have inode 0.
	Kernel *KernelCode
	// Stops says that cores are stopped. Only one session of the machine may do so at a time: where another one
	// does, Open returns an AnotherSession.
	Stops bool

	Without []string // rules that are switched off, as of ParseRules

	Keys     bool // latencies can have begins and ends with the same key
	Counters bool // count the progress points in the program's source, see SetFile

	uncounted bool // for tests: the kernel is taken for one that does not count how deep preemption is off
}

// setting is a value that a variable of the kernel programs has before they are loaded.
type setting struct {
	variable string
	value    any
}

// settings are what the kernel programs have to know of the options, of this machine and of its kernel.
func (opt *Options) settings() ([]setting, error) {
	cpus, err := ebpf.PossibleCPU()
	if err != nil {
		return nil, fmt.Errorf("asking how many CPUs there may be: %w", err)
	}
	types, err := kerneltypes.Get()
	if err != nil {
		return nil, err
	}
	ofCores, err := coreVariables(types.Kernel)
	if err != nil {
		return nil, err
	}
	return slices.Concat(
		[]setting{
			{"page_shift", uint32(bits.TrailingZeros(uint(os.Getpagesize())))},
			{"possible_cores", min(uint32(cpus), uint32(bpf.LedgerLimitMAX_CPUS))},
			{"waits_counted", setOf(opt.UnitWaits)},
			{"waits_followed", setOf(slices.Concat(opt.UnitWaits, opt.Waits))},
			{"samples_only", flag(opt.SamplesOnly)},
			{"nobody_pays", flag(opt.NobodyPays)},
			{"counting", flag(opt.Counters)},
			{"rules_off", rulesOff(opt.Without)},
		},
		opt.Stacks.settings(), opt.Kernel.settings(), preemptionSettings(types.Kernel, ofCores),
	), nil
}

// flag is a truth value as the kernel programs have it.
func flag(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// mapSizes are the sizes of the maps that depend on the options. A map that is not needed has one entry.
func (opt *Options) mapSizes() map[string]uint32 {
	sizes := make(map[string]uint32)
	for _, m := range []struct {
		needed bool
		names  []string
	}{
		{opt.Stacks != nil, []string{"chains", "members", "progress"}},
		{opt.Kernel != nil, []string{"kernel_stacks"}},
		{opt.Counters, []string{"sources", "files", "counters", "names"}},
		{opt.Keys, []string{"begun_by_key"}},
		{slices.Contains(opt.UnitWaits, WaitSleep), []string{"goroutines"}},
	} {
		for _, name := range m.names {
			if !m.needed {
				sizes[name] = 1
			}
		}
	}
	if opt.Kernel != nil {
		sizes["kernel_function"] = uint32(max(1, len(opt.Kernel.Functions)))
	}
	return sizes
}

// attached are the programs that are attached as long as the ledger is open.
func (opt *Options) attached(p *programs) []string {
	names := slices.Clone(memberPrograms)
	if !opt.SamplesOnly {
		names = slices.Concat(names, schedulerPrograms, p.attachable(irqWorkPrograms))
	} else if opt.Kernel != nil {
		names = append(names, "on_softirq_raise")
	}
	if opt.Counters {
		names = append(names, p.attachable(sourcePrograms)...)
	}
	return names
}
