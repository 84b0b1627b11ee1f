package spinwait

import "golang.org/x/arch/x86/x86asm"

// flow is what one iteration of a loop does, as far as it can be told.
type flow struct {
	f       *function
	slots   map[slotByte]place
	strange bool // something that is not modelled here

	written, exposed bits // by the loop; read before any write of the iteration
	reads            bool // memory that the loop does not only fill itself
	stores           bool // to memory besides stack slots
	attempts         bool // xchg, cmpxchg
	locked           bool // other atomic updates
	depends          bool // a cmpxchg stores what was computed from memory
	exits            bool
	slotReads        bits
}

// state is what is known before an instruction.
type state struct {
	seen   bool
	done   bits          // written since the iteration began, on every path
	loaded bits          // may hold what was computed from memory
	frame  [16]frameAddr // registers that point into the frame
}

// pure reports whether iterations differ only if memory changes.
func (w *flow) pure() bool {
	return w.idle() && w.reads && w.exits && !w.locked && !w.depends
}

// idle reports whether nothing is carried over or stored, atomics aside.
func (w *flow) idle() bool { return !w.strange && !w.carries() && !w.stores }

func (w *flow) carries() bool {
	for i := range w.written {
		if w.written[i]&w.exposed[i] != 0 {
			return true
		}
	}
	return false
}

// flow runs the loop's instructions over all paths, from the cut, to a fixed
// point. An iteration is what happens from one arrival at the cut to the next.
func (f *function) flow(l *loop, cut int) *flow {
	w := &flow{f: f, slots: map[slotByte]place{}}
	states := map[int]*state{}
	for _, i := range l.body {
		states[i] = &state{}
	}
	states[cut].seen = true
	// Each round only loses what is known or adds what may be loaded, so it
	// ends; the bound is for what nobody thought of.
	for round := 0; round < 64; round++ {
		changed := false
		for _, i := range l.body {
			if !states[i].seen {
				continue
			}
			out := *states[i]
			w.step(i, &out)
			if w.strange {
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
	// A slot that the loop never writes may be a variable that another
	// thread was given the address of.
	for i := range w.slotReads {
		if w.slotReads[i]&^w.written[i] != 0 {
			w.reads = true
		}
	}
	return w
}

// join adds a path on which something else is known.
func (s *state) join(o *state) bool {
	if !s.seen {
		*s = *o
		s.seen = true
		return true
	}
	before := *s
	for i := range s.done {
		s.done[i] &= o.done[i]
		s.loaded[i] |= o.loaded[i]
	}
	for i := range s.frame {
		if s.frame[i] != o.frame[i] {
			s.frame[i] = frameAddr{}
		}
	}
	return *s != before
}

// read notes that places are read, and reports whether one was loaded.
func (w *flow) read(s *state, places []place) (loaded bool) {
	for _, p := range places {
		if !s.done.has(p) {
			w.exposed.add(p)
		}
		if s.loaded.has(p) {
			loaded = true
		}
	}
	return loaded
}

func (w *flow) write(s *state, places []place, loaded bool) {
	for _, p := range places {
		w.written.add(p)
		s.done.add(p)
		if loaded {
			s.loaded.add(p)
		} else {
			s.loaded.remove(p)
		}
	}
}

// regPlaces gives the places of a register, nil if it is not a general one.
func (w *flow) regPlaces(r x86asm.Reg) []place {
	n, parts, ok := register(r)
	if !ok {
		w.strange = true
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

// slot gives the places of a stack slot, nil if the operand is other memory.
func (w *flow) slot(s *state, m x86asm.Mem, size int) []place {
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
				w.strange = true
				return nil
			}
			w.slots[b] = n
		}
		p = append(p, n)
	}
	return p
}

// frameAddr is the address of an operand, if it is known to be in the frame.
func (w *flow) frameAddr(s *state, m x86asm.Mem) frameAddr {
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
