package spinwait

import "golang.org/x/arch/x86/x86asm"

// iteration is what one iteration of a loop does.
type iteration struct {
	f       *function
	slots   map[slotByte]place
	unknown bool // an instruction is not modelled here

	written      bits // places that the loop writes
	exposed      bits // places that it reads before it writes them
	reads        bool // it reads memory that others may write
	stores       bool // it stores to memory besides stack slots
	locked       bool // it has atomic updates besides xchg and cmpxchg
	storesLoaded bool // a cmpxchg stores a value that was computed from memory
	exits        bool // it can leave the loop
	slotReads    bits
}

// state is what is known before an instruction.
type state struct {
	seen     bool
	assigned bits          // written since the iteration began, on every path
	loaded   bits          // may hold a value that was computed from memory
	frame    [16]frameAddr // registers that point into the frame
}

// pure reports whether iterations differ only if memory changes.
func (w *iteration) pure() bool {
	return w.idle() && w.reads && w.exits && !w.locked && !w.storesLoaded
}

// idle reports whether an iteration carries nothing over and stores nothing, except by atomics.
func (w *iteration) idle() bool { return !w.unknown && !w.carries() && !w.stores }

// carries reports whether an iteration reads a register or stack slot that an earlier one wrote.
func (w *iteration) carries() bool {
	for i := range w.written {
		if w.written[i]&w.exposed[i] != 0 {
			return true
		}
	}
	return false
}

// iteration analyses one iteration: all paths from one arrival at the cut to the next, to a fixed
// point.
func (f *function) iteration(l *loop, cut int) *iteration {
	w := &iteration{f: f, slots: map[slotByte]place{}}
	states := map[int]*state{}
	for _, i := range l.body {
		states[i] = &state{}
	}
	states[cut].seen = true
	// A round only removes knowledge or adds loaded places, so the rounds come to an end. The bound
	// is a safeguard.
	for round := 0; round < 64; round++ {
		changed := false
		for _, i := range l.body {
			if !states[i].seen {
				continue
			}
			out := *states[i]
			w.step(i, &out)
			if w.unknown {
				return w
			}
			for _, s := range f.succ[i] {
				if s != cut && states[s] != nil && states[s].join(&out) {
					changed = true
				}
			}
		}
		if !changed {
			break
		}
	}
	for _, i := range l.body {
		if s := f.succ[i]; isBranch(f.insts[i].Op) && !(l.has(s[0]) && l.has(s[1])) {
			w.exits = true
		}
	}
	// A slot that the loop never writes may be a variable of which another thread has the address.
	for i := range w.slotReads {
		if w.slotReads[i]&^w.written[i] != 0 {
			w.reads = true
		}
	}
	return w
}

// join merges the state of another path into s, and reports whether s changed.
func (s *state) join(o *state) bool {
	if !s.seen {
		*s = *o
		s.seen = true
		return true
	}
	before := *s
	for i := range s.assigned {
		s.assigned[i] &= o.assigned[i]
		s.loaded[i] |= o.loaded[i]
	}
	for i := range s.frame {
		if s.frame[i] != o.frame[i] {
			s.frame[i] = frameAddr{}
		}
	}
	return *s != before
}

// read records that places are read, and reports whether one may hold a loaded value.
func (w *iteration) read(s *state, places []place) (loaded bool) {
	for _, p := range places {
		if !s.assigned.has(p) {
			w.exposed.add(p)
		}
		if s.loaded.has(p) {
			loaded = true
		}
	}
	return loaded
}

func (w *iteration) write(s *state, places []place, loaded bool) {
	for _, p := range places {
		w.written.add(p)
		s.assigned.add(p)
		if loaded {
			s.loaded.add(p)
		} else {
			s.loaded.remove(p)
		}
	}
}

// regPlaces returns the places of a general register. Any other makes the iteration unknown.
func (w *iteration) regPlaces(r x86asm.Reg) []place {
	n, parts, ok := register(r)
	if !ok {
		w.unknown = true
		return nil
	}
	var p []place
	for i := range partsOfReg {
		if parts&(1<<i) != 0 {
			p = append(p, place(n*partsOfReg+i))
		}
	}
	return p
}

// slot returns the places of a stack slot, nil if the operand is other memory.
func (w *iteration) slot(s *state, m x86asm.Mem, size int) []place {
	a := w.frameAddr(s, m)
	if !a.known || size <= 0 || size > 16 {
		return nil
	}
	var p []place
	for i := range int64(size) {
		b := slotByte{a.base, a.disp + i}
		n, ok := w.slots[b]
		if !ok {
			n = slotPlaces + place(len(w.slots))
			if n >= maxPlaces {
				w.unknown = true
				return nil
			}
			w.slots[b] = n
		}
		p = append(p, n)
	}
	return p
}

// frameAddr returns the address of an operand, if it is known to be in the frame.
func (w *iteration) frameAddr(s *state, m x86asm.Mem) frameAddr {
	if m.Index != 0 || m.Segment == x86asm.FS || m.Segment == x86asm.GS {
		return frameAddr{}
	}
	if m.Base == x86asm.RSP || m.Base == x86asm.RBP && w.f.frameBP {
		return frameAddr{true, m.Base, m.Disp}
	}
	if n, parts, ok := register(m.Base); ok && parts == 7 && s.frame[n].known {
		a := s.frame[n]
		a.disp += m.Disp
		return a
	}
	return frameAddr{}
}
