package doctor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"whatif/internal/kerneltypes"
	"whatif/internal/privilege"
)

// usedTracepoints are the tracepoints to which whatif's kernel side always attaches.
var usedTracepoints = []string{
	"sched_process_fork", "sched_process_exec", "sched_process_exit", "sched_switch", "sched_waking",
	"hrtimer_expire_entry", "hrtimer_expire_exit", "irq_handler_entry", "irq_handler_exit",
	"softirq_entry", "softirq_exit", "netif_rx",
}

const license = "Dual MIT/GPL"

var (
	u32 = &btf.Int{Name: "unsigned int", Size: 4}
	u64 = &btf.Int{Name: "unsigned long long", Size: 8}
)

func load(spec *ebpf.ProgramSpec) (*ebpf.Program, error) {
	spec.License = license
	return ebpf.NewProgram(spec)
}

// tryAll loads programs together.
func tryAll(specs ...*ebpf.ProgramSpec) error {
	all := &ebpf.CollectionSpec{Programs: make(map[string]*ebpf.ProgramSpec)}
	for i, spec := range specs {
		spec.License = license
		all.Programs[fmt.Sprintf("%d of %d", i+1, len(specs))] = spec
	}
	types, err := kerneltypes.Get()
	if err != nil {
		return err
	}
	c, err := ebpf.NewCollectionWithOptions(all, ebpf.CollectionOptions{Cache: types.Cache})
	if err != nil {
		return err
	}
	c.Close()
	return nil
}

func tracepointPrograms() []*ebpf.ProgramSpec {
	var specs []*ebpf.ProgramSpec
	for _, name := range usedTracepoints {
		specs = append(specs, passive(ebpf.Tracing, ebpf.AttachTraceRawTp, name))
	}
	return specs
}

// passive is a program for a hook that does nothing.
func passive(t ebpf.ProgramType, at ebpf.AttachType, to string) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{
		Name: "doctor", Type: t, AttachType: at, AttachTo: to,
		Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()},
	}
}

// counting is a program that counts its runs in the only element of an array.
func counting(t ebpf.ProgramType, counter *ebpf.Map) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{
		Name: "doctor", Type: t, KernelVersion: privilege.KernelVersion,
		Instructions: append(lookUp(counter.FD()),
			asm.Mov.Imm(asm.R1, 1),
			asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, 0),
			asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"),
			asm.Return(),
		),
	}
}

func newCounter() (*ebpf.Map, error) {
	return ebpf.NewMap(&ebpf.MapSpec{Name: "doctor", Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: 1})
}

// reaches waits until the counter has reached n, for at most patience.
func reaches(counter *ebpf.Map, n uint64, patience time.Duration) error {
	var got uint64
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if err := counter.Lookup(uint32(0), &got); err != nil {
			return fmt.Errorf("reading a counter: %w", err)
		}
		if got >= n {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the program ran %d times in %v instead of %d", got, patience, n)
		}
	}
}

// lookUp puts the address of a map's element 0 into R0, or jumps to "exit".
func lookUp(fd int) asm.Instructions {
	return asm.Instructions{
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, fd),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "exit"),
	}
}

// function marks the first instruction of a function, with the function's type. The verifier requires types in programs
// that pass functions to helpers.
func function(name string, linkage btf.FuncLinkage, first asm.Instruction, params ...btf.FuncParam) asm.Instruction {
	result := &btf.Int{Name: "int", Size: 4, Encoding: btf.Signed}
	f := &btf.Func{Name: name, Linkage: linkage, Type: &btf.FuncProto{Return: result, Params: params}}
	return btf.WithFuncMetadata(first.WithSymbol(name), f)
}

// loadFunction puts the address of a function into a register.
func loadFunction(dst asm.Register, name string) asm.Instruction {
	load := asm.Instruction{OpCode: asm.LoadImmOp(asm.DWord), Dst: dst, Src: asm.PseudoFunc, Constant: -1}
	return load.WithReference(name)
}

func newTaskStorage() (*ebpf.Map, error) {
	return ebpf.NewMap(&ebpf.MapSpec{
		Name: "doctor", Type: ebpf.TaskStorage, Flags: 1, // BPF_F_NO_PREALLOC
		KeySize: 4, ValueSize: 8, Key: u32, Value: u64,
	})
}

func taskStorageProgram(m *ebpf.Map) *ebpf.ProgramSpec {
	spec := passive(ebpf.Tracing, ebpf.AttachTraceRawTp, "sched_switch")
	spec.Instructions = asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, 16, asm.DWord), // the third argument, the next task
		asm.LoadMapPtr(asm.R1, m.FD()),
		asm.Mov.Imm(asm.R3, 0),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnTaskStorageGet.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	}
	return spec
}

func tryTaskStorage() error {
	m, err := newTaskStorage()
	if err != nil {
		return err
	}
	defer m.Close()
	return tryAll(taskStorageProgram(m))
}

func loopProgram() *ebpf.ProgramSpec {
	spec := passive(ebpf.Tracing, ebpf.AttachTraceRawTp, "sched_switch")
	spec.Instructions = asm.Instructions{
		function("doctor", btf.GlobalFunc, asm.Mov.Imm(asm.R1, 10),
			btf.FuncParam{Name: "ctx", Type: &btf.Pointer{Target: u64}}),
		loadFunction(asm.R2, "turn"),
		asm.Mov.Imm(asm.R3, 0),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnLoop.Call(),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
		function("turn", btf.StaticFunc, asm.Mov.Imm(asm.R0, 0),
			btf.FuncParam{Name: "i", Type: u32}, btf.FuncParam{Name: "ctx", Type: &btf.Pointer{Target: &btf.Void{}}}),
		asm.Return(),
	}
	return spec
}

func tryLoop() error { return tryAll(loopProgram()) }

// timerProgram is a program that starts a timer of 0 ns and returns the result of bpf_timer_start.
func timerProgram(spec *ebpf.ProgramSpec, timers *ebpf.Map, flags int32) *ebpf.ProgramSpec {
	pointer := &btf.Pointer{Target: &btf.Void{}}
	body := lookUp(timers.FD())
	body[0] = function("doctor", btf.GlobalFunc, body[0], btf.FuncParam{Name: "ctx", Type: pointer})
	spec.Instructions = append(body,
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.LoadMapPtr(asm.R2, timers.FD()),
		asm.Mov.Imm(asm.R3, 1), // CLOCK_MONOTONIC
		asm.FnTimerInit.Call(),
		asm.Mov.Reg(asm.R1, asm.R6),
		loadFunction(asm.R2, "fired"),
		asm.FnTimerSetCallback.Call(),
		asm.Mov.Reg(asm.R1, asm.R6),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Imm(asm.R3, flags),
		asm.FnTimerStart.Call(),
		asm.Return().WithSymbol("exit"),
		function("fired", btf.StaticFunc, asm.Mov.Imm(asm.R1, 1),
			btf.FuncParam{Name: "map", Type: pointer}, btf.FuncParam{Name: "key", Type: pointer},
			btf.FuncParam{Name: "value", Type: pointer}),
		asm.StoreMem(asm.R3, 16, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
	)
	return spec
}

func newTimers() (*ebpf.Map, error) {
	opaque := &btf.Struct{Name: "bpf_timer", Size: 16, Members: []btf.Member{
		{Name: "a", Type: u64}, {Name: "b", Type: u64, Offset: 64},
	}}
	return ebpf.NewMap(&ebpf.MapSpec{
		Name: "doctor", Type: ebpf.Array, KeySize: 4, ValueSize: 24, MaxEntries: 1,
		Key: u32, Value: &btf.Struct{Name: "value", Size: 24, Members: []btf.Member{
			{Name: "timer", Type: opaque}, {Name: "fired", Type: u64, Offset: 128},
		}},
	})
}

// tracingTimerProgram is timerProgram for a tracepoint, whose programs must return 0.
func tracingTimerProgram(timers *ebpf.Map) *ebpf.ProgramSpec {
	spec := timerProgram(passive(ebpf.Tracing, ebpf.AttachTraceRawTp, "hrtimer_expire_exit"), timers, 0)
	for i, ins := range spec.Instructions {
		if ins.Symbol() == "exit" {
			spec.Instructions = slices.Insert(spec.Instructions, i, asm.Mov.Imm(asm.R0, 0).WithSymbol("exit"))
			spec.Instructions[i+1] = asm.Return()
			break
		}
	}
	return spec
}

func tryTimer() error {
	timers, err := newTimers()
	if err != nil {
		return err
	}
	defer timers.Close()
	return tryAll(tracingTimerProgram(timers))
}

// tryTogether loads programs of all kinds at once, which takes less time than loading them one by one. If it fails, the
// single tries find the reason.
func tryTogether() error {
	timers, err := newTimers()
	if err != nil {
		return err
	}
	defer timers.Close()
	tasks, err := newTaskStorage()
	if err != nil {
		return err
	}
	defer tasks.Close()
	return tryAll(append(tracepointPrograms(), taskStorageProgram(tasks), loopProgram(), tracingTimerProgram(timers))...)
}

// tryPinnedTimer lets a pinned timer fire once. A socket filter starts it, because that kind of program can be run on
// demand without further capabilities.
func tryPinnedTimer() error {
	timers, err := newTimers()
	if err != nil {
		return err
	}
	defer timers.Close()
	const pinned = 2 // BPF_F_TIMER_CPU_PIN
	p, err := load(timerProgram(&ebpf.ProgramSpec{Name: "doctor", Type: ebpf.SocketFilter}, timers, pinned))
	if err != nil {
		return err
	}
	defer p.Close()
	status, err := p.Run(&ebpf.RunOptions{Data: make([]byte, 14)})
	if err != nil {
		return err
	}
	if int32(status) != 0 {
		return fmt.Errorf("the kernel does not know pinned timers (%d)", int32(status))
	}
	value := make([]byte, 24)
	for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := timers.Lookup(uint32(0), value); err != nil {
			return fmt.Errorf("reading a counter: %w", err)
		}
		if value[16] != 0 {
			return nil
		}
	}
	return errors.New("a pinned timer did not fire within 100 ms")
}
