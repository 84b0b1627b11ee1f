package synthetic

import (
	"strings"

	"whatif/internal/recording"
)

// layer is where the innermost frame of a stack is.
type layer uint8

const (
	frameProgram layer = iota
	frameLibrary
	frameKernel
)

// tables number stacks, frames and places, as a recording does.
type tables struct {
	stacks  []recording.Stack
	frames  []recording.Frame
	places  []recording.Place
	stackOf map[stackKey]int32
	frameOf map[recording.Frame]int32
	placeOf map[recording.Place]int32
	program string
}

// stackKey is a function as called by the function of a thread, at a line of it.
type stackKey struct {
	layer        layer
	name, thread string
	line         int32
}

func (t *tables) init() {
	t.stackOf = map[stackKey]int32{}
	t.frameOf = map[recording.Frame]int32{}
	t.placeOf = map[recording.Place]int32{}
	t.program = "/usr/bin/synthetic"
}

// numberOf gives the number of what is in a list, and puts it there if it is not.
func numberOf[T comparable](x T, numbers map[T]int32, list *[]T) int32 {
	n, ok := numbers[x]
	if !ok {
		n = int32(len(*list))
		*list = append(*list, x)
		numbers[x] = n
	}
	return n
}

func (t *tables) frame(f recording.Frame) int32 { return numberOf(f, t.frameOf, &t.frames) }

// stack is the number of a stack: the function that runs, and its callers.
func (t *tables) stack(l layer, name, thread string, line int32) int32 {
	key := stackKey{l, name, thread, line}
	if n, ok := t.stackOf[key]; ok {
		return n
	}
	var s recording.Stack
	if l == frameKernel {
		s = append(s, t.frame(recording.Frame{Function: systemCall(name), Binary: "[kernel]", Kernel: true}))
	}
	if l == frameProgram {
		s = append(s, t.frame(recording.Frame{Function: name, File: name + ".c", Line: 20, Binary: t.program}))
	} else {
		s = append(s, t.frame(recording.Frame{Function: name, Binary: "/usr/lib/libc.so.6"}))
	}
	s = append(s, t.frame(recording.Frame{Function: thread, File: "main.c", Line: 10 + line, Binary: t.program}))
	n := int32(len(t.stacks))
	t.stacks = append(t.stacks, s)
	t.stackOf[key] = n
	return n
}

// systemCall is the kernel's function for a call of the library.
func systemCall(name string) string {
	if strings.HasPrefix(name, "pthread_") || strings.HasPrefix(name, "sem_") {
		name = "futex"
	}
	return "__x64_sys_" + name
}

func (t *tables) place(p recording.Place) int32 { return numberOf(p, t.placeOf, &t.places) }
