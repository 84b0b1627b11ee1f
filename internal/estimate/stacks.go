package estimate

import (
	"whatif/internal/code/symbol"
	"whatif/internal/point"
	"whatif/internal/recording"
)

// code is the stacks of a recording as units see them.
type code struct {
	frames  []symbol.Frame // by the number of the frame
	binary  []string
	inScope []bool
	stacks  []stack // by the number of the stack
	place   []int32 // the stack of each place, or No
}

// stack is the frames of one stack, the innermost first.
type stack struct {
	frames  []int32 // numbers in code.frames
	symbols []symbol.Frame
	ends    []int // where the frames of one address end, in order: a chain of inlined calls
	blamed  int   // index of the frame that the stack's time belongs to; -1: no frame is in scope
}

func newCode(r *recording.Recording) *code {
	c := &code{inScope: scopeOf(r)}
	for _, f := range r.Frames {
		s := symbol.Frame{Func: f.Function, Short: f.Short, File: f.File, Line: int(f.Line)}
		if s.Short == "" {
			s.Short = s.Func
		}
		c.frames = append(c.frames, s)
		c.binary = append(c.binary, f.Binary)
	}
	for _, numbers := range r.Stacks {
		c.stacks = append(c.stacks, c.newStack(r, numbers))
	}
	for _, p := range r.Places {
		at := p.Stack
		if at < 0 || int(at) >= len(c.stacks) {
			at = recording.No
		}
		c.place = append(c.place, at)
	}
	return c
}

// newStack finds out which frame a stack's time belongs to. As in package experiment, that is the first in scope of the
// innermost address that has one; within an address a frame further out with a line is preferred to one without.
func (c *code) newStack(r *recording.Recording, numbers recording.Stack) stack {
	s := stack{blamed: -1}
	begin := 0
	for _, f := range numbers {
		if f < 0 || int(f) >= len(c.frames) {
			continue
		}
		s.frames = append(s.frames, f)
		s.symbols = append(s.symbols, c.frames[f])
		if r.Frames[f].Inlined {
			continue
		}
		s.endAddress(c, begin)
		begin = len(s.frames)
	}
	if begin < len(s.frames) {
		s.endAddress(c, begin)
	}
	return s
}

// endAddress says that the frames from begin on are all of one address.
func (s *stack) endAddress(c *code, begin int) {
	s.ends = append(s.ends, len(s.frames))
	if s.blamed < 0 {
		if i := s.firstInScope(c, begin, len(s.frames)); i >= 0 {
			s.blamed = begin + i
		}
	}
}

// firstInScope gives the frame that the time of one address belongs to, counted from begin; -1: none is in scope.
func (s *stack) firstInScope(c *code, begin, end int) int {
	first := -1
	for i := begin; i < end; i++ {
		switch {
		case !c.inScope[s.frames[i]]:
		case s.symbols[i].Line > 0:
			return i - begin
		case first < 0:
			first = i - begin
		}
	}
	return first
}

// scopeOf says of each frame whether it is in scope. The recorder has said so; a recording in which nothing is in scope
// is from one that did not know, and the default holds.
func scopeOf(r *recording.Recording) []bool {
	in := make([]bool, len(r.Frames))
	known := false
	for i := range r.Frames {
		in[i] = r.Frames[i].InScope
		known = known || in[i]
	}
	if known {
		return in
	}
	programs, lines := map[string]bool{}, map[string]bool{}
	for _, t := range r.Threads {
		programs[t.Program] = true
	}
	for _, f := range r.Frames {
		lines[f.Binary] = lines[f.Binary] || f.Line > 0
	}
	for i, f := range r.Frames {
		o := symbol.Origin{Path: f.Binary, Executable: programs[f.Binary], Lines: lines[f.Binary]}
		in[i] = !f.Kernel && o.InScope(symbol.Frame{Func: f.Function, Short: f.Short, File: f.File, Line: int(f.Line)})
	}
	return in
}

// in says whether a stack is in a target, and gives the frame of the target's own code: see point.Target and package
// experiment's chains.go, which do the same for the kernel side.
func (s *stack) in(c *code, t *point.Target) (own int, in bool) {
	met, begin, over := 0, 0, false // over: the stack's time belongs to code further in
	own = -1
	for _, end := range s.ends {
		frames := s.symbols[begin:end]
		blamed, at := s.firstInScope(c, begin, end), -1
		if !t.Inclusive() && !over {
			at = t.Match(frames)
			if t.Self && blamed >= 0 && at > blamed {
				at = -1 // that is code in scope of its own, inlined there
			}
		}
		isOwn := func(i int) bool { return t.Inclusive() || i == at }
		if own < 0 {
			for i := range frames {
				if isOwn(i) && t.Is(frames[i]) {
					own = begin + i
					break
				}
			}
		}
		if met = t.Step(met, frames, isOwn); met >= t.Length() {
			return own, true
		}
		over = over || blamed >= 0 || at >= 0
		begin = end
	}
	return -1, false
}
