package bpf

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// The stacks of a program's functions that call each other share 512 bytes. Kernels before 6.8 count 32 bytes at a
// time, newer ones 16, so a program that loads here may be too large there.
func TestStackDepth(t *testing.T) {
	objects, err := filepath.Glob("*_bpfel.o")
	if err != nil || len(objects) != 4 {
		t.Fatalf("%v: %v", objects, err)
	}
	timers := 0
	for _, object := range objects {
		side, err := ebpf.LoadCollectionSpec(object)
		if err != nil {
			t.Fatal(err)
		}
		for name, p := range side.Programs {
			all := functions(p.Instructions)
			begins := []string{p.Instructions[0].Symbol()}
			if all[timerCallback] != nil {
				begins = append(begins, timerCallback)
				timers++
			}
			for _, begin := range begins {
				if depth, path := deepest(all, begin, nil); depth > 512 {
					t.Errorf("%s: %s: the stacks of %v, with their sizes, take %d bytes", object, name, path, depth)
				}
			}
		}
	}
	if timers == 0 {
		t.Errorf("no program sets %s as a timer's callback", timerCallback)
	}
}

// timerCallback begins with a stack of its own.
const timerCallback = "on_tick"

// function is what counts of a function of a program.
type function struct {
	stack uint64
	calls []string // or is called back
}

// functions are those of a program, by their names. As much of the stack is taken as an instruction reaches.
func functions(instructions asm.Instructions) map[string]*function {
	all := make(map[string]*function)
	var f *function
	for i := range instructions {
		ins := &instructions[i]
		if name := ins.Symbol(); name != "" {
			f = &function{}
			all[name] = f
		}
		if ins.IsFunctionReference() && ins.Reference() != timerCallback {
			f.calls = append(f.calls, ins.Reference())
		}
		class := ins.OpCode.Class()
		switch {
		case class.IsStore() && ins.Dst == asm.RFP || class.IsLoad() && ins.Src == asm.RFP:
			f.stack = max(f.stack, uint64(-ins.Offset))
		case ins.OpCode.ALUOp() == asm.Add && ins.OpCode.Source() == asm.ImmSource && i > 0 &&
			instructions[i-1].OpCode.ALUOp() == asm.Mov && instructions[i-1].Src == asm.RFP &&
			instructions[i-1].Dst == ins.Dst && ins.Constant < 0:
			f.stack = max(f.stack, uint64(-ins.Constant))
		}
	}
	return all
}

// deepest is the largest sum of stacks on a way from a function, and that way.
func deepest(all map[string]*function, name string, path []string) (most uint64, way []string) {
	f := all[name]
	path = append(path, fmt.Sprint(name, " ", f.stack))
	way = slices.Clone(path)
	for _, called := range f.calls {
		if depth, w := deepest(all, called, path); depth > most {
			most, way = depth, w
		}
	}
	return most + (max(f.stack, 1)+31)/32*32, way
}
