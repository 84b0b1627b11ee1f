package jit

import (
	"slices"
	"strings"

	"whatif/internal/code/symbol"
)

// Runtime is a program that runs other programs' code, by interpreting it or by compiling it while it runs.
type Runtime struct {
	Name string
	// sign is the symbol of a function that each binary with the runtime has, and no other.
	sign string
	// loops are names of functions of the runtime, with * for any text: the interpreter's loop, or code that the engine
	// has made of its own. Each program spends its time there, whatever it does, so nothing follows from it.
	loops []string
	// Switch makes the runtime write down its code; "": none does.
	Switch string
	// parts are parts of the runtime that work for the whole program, on threads of their own.
	parts []part
}

// part is a part of a runtime that is a unit of its own. functions are those from which its threads call all else.
type part struct {
	name      string
	functions []string
}

// hotSpotParts are those of Java 11 to 25: of the collectors' threads, and what the VM's thread does for a collector.
var hotSpotParts = []part{
	{"jvm:gc", []string{"GangWorker::loop", "YieldingFlexibleGangWorker::loop", "WorkerThread::run",
		"ConcurrentGCThread::run", "ZThread::run", "VM_G1*::doit", "VM_Gen*::doit", "VM_Serial*::doit",
		"VM_Parallel*::doit", "VM_Collect*::doit", "VM_Z*::doit", "VM_X*::doit", "VM_Shenandoah*::doit"}},
	{"jvm:compiler", []string{"CompileBroker::compiler_thread_loop"}},
}

// HasParts reports whether some of the runtime's own code is units. A nil Runtime has none.
func (r *Runtime) HasParts() bool { return r != nil && len(r.parts) > 0 }

// IsPart reports whether a unit is a part of a runtime, such as its garbage collector.
func IsPart(unit string) bool {
	return slices.ContainsFunc(hotSpotParts, func(p part) bool { return p.name == unit })
}

// Part returns the unit of the runtime to which the code at a place belongs, "" if it is none.
func (r *Runtime) Part(frames []symbol.Frame) string {
	if !r.HasParts() {
		return ""
	}
	for _, f := range frames {
		for _, p := range r.parts {
			for _, name := range p.functions {
				if symbol.Glob(name, f.Short) {
					return p.name
				}
			}
		}
	}
	return ""
}

// The runtimes are recognised by their symbols, as many programs embed these engines. The names are those that the
// runtimes' own sources give to the loop; none is common enough to be a user's.
var runtimes = []Runtime{
	{"node", "Builtins_InterpreterEntryTrampoline", []string{"Builtins_*"},
		"node --perf-basic-prof --interpreted-frames-native-stack (names of functions), or node --perf-prof (lines)", nil},
	{"Python", "_PyEval_EvalFrameDefault", []string{"_PyEval_EvalFrameDefault*", "_PyEval_Vector", "PyEval_EvalFrameEx"},
		"python3.12 and later with PYTHONPERFSUPPORT=1", nil},
	{"Erlang", "erts_schedule", []string{"beam_jit_main*", "process_main"}, "erl +JPperf true", nil},
	{"Ruby", "rb_vm_exec", []string{"vm_exec_core*", "rb_vm_exec*"}, "ruby --yjit-perf", nil},
	{"PHP", "execute_ex", []string{"execute_ex*"}, "", nil},
	{"Perl", "Perl_runops_standard", []string{"Perl_runops_standard"}, "", nil},
	{"Java", "JNI_CreateJavaVM", nil, "", hotSpotParts},
	{"Lua", "luaV_execute", []string{"luaV_execute*"}, "", nil},
}

// LoopOf returns the runtime of which a function is the interpreter's loop, nil if it is none.
func LoopOf(function string) *Runtime {
	for i := range runtimes {
		for _, loop := range runtimes[i].loops {
			if symbol.Glob(loop, function) {
				return &runtimes[i]
			}
		}
	}
	return nil
}

// functions is the part of *symbol.Binary that In needs.
type functions interface{ HasSymbol(name string) bool }

// In returns the runtime that a binary has, nil if it has none.
func In(b functions) *Runtime {
	for i := range runtimes {
		if b.HasSymbol(runtimes[i].sign) {
			return &runtimes[i]
		}
	}
	return nil
}

// Variables are the variables of the environment, NAME=VALUE, with which runtimes write down their code. Where a
// variable has flags already they are added to those; getenv tells.
func Variables(getenv func(string) string) []string {
	set := []string{"PYTHONPERFSUPPORT=1"}
	for _, add := range [][2]string{
		{"NODE_OPTIONS", "--perf-basic-prof --interpreted-frames-native-stack"}, {"ERL_FLAGS", "+JPperf true"},
	} {
		value := strings.TrimSpace(getenv(add[0]) + " " + add[1])
		set = append(set, add[0]+"="+value)
	}
	return set
}
