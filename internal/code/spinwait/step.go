package spinwait

import "golang.org/x/arch/x86/x86asm"

// scratch has the registers that a call may change (System V's convention).
var scratch = []x86asm.Reg{
	x86asm.RAX, x86asm.RCX, x86asm.RDX, x86asm.RSI, x86asm.RDI, x86asm.R8, x86asm.R9, x86asm.R10, x86asm.R11,
}

// step applies an instruction to the state before it. Instructions that are not listed make the
// iteration unknown: a wait needs few kinds.
func (w *iteration) step(i int, s *state) {
	inst := &w.f.insts[i]
	dst, src := inst.Args[0], inst.Args[1]
	switch op := inst.Op; op {
	case x86asm.NOP, x86asm.PAUSE, x86asm.LFENCE, x86asm.SFENCE, x86asm.MFENCE:
	case x86asm.CALL: // judge has checked that the callee only yields: it changes nothing else
		for _, r := range scratch {
			w.assign(s, inst, r, false)
		}
	case x86asm.JMP:
		if _, ok := dst.(x86asm.Rel); !ok {
			w.unknown = true
		}
	case x86asm.CMP, x86asm.TEST, x86asm.BT:
		w.operand(s, inst, dst)
		w.operand(s, inst, src)
	case x86asm.MOV, x86asm.MOVZX, x86asm.MOVSX, x86asm.MOVSXD:
		w.move(s, inst, dst, src)
	case x86asm.LEA:
		w.lea(s, dst, src)
	case x86asm.XOR, x86asm.SUB:
		if dst == src {
			w.assign(s, inst, dst, false) // always zero
			return
		}
		w.update(s, inst, dst, src)
	case x86asm.ADD, x86asm.OR, x86asm.AND, x86asm.SHL, x86asm.SHR, x86asm.SAR:
		w.update(s, inst, dst, src)
	case x86asm.INC, x86asm.DEC, x86asm.NEG, x86asm.NOT:
		w.update(s, inst, dst, nil)
	case x86asm.XADD:
		w.update(s, inst, dst, src)
		w.update(s, inst, src, dst)
	case x86asm.IMUL:
		w.imul(s, inst)
	case x86asm.XCHG:
		w.xchg(s, inst, dst, src)
	case x86asm.CMPXCHG:
		w.cmpxchg(s, inst, dst, src)
	case x86asm.CWDE, x86asm.CDQE, x86asm.CBW:
		ax := w.regPlaces(x86asm.RAX)
		w.write(s, ax, w.read(s, ax))
	case x86asm.CDQ, x86asm.CQO:
		w.write(s, w.regPlaces(x86asm.RDX), w.read(s, w.regPlaces(x86asm.RAX)))
	default:
		switch {
		case isSet(op):
			w.assign(s, inst, dst, false)
		case isCmov(op):
			w.update(s, inst, dst, src)
		case isBranch(op) && op != x86asm.JCXZ && op != x86asm.JECXZ && op != x86asm.JRCXZ &&
			op != x86asm.LOOP && op != x86asm.LOOPE && op != x86asm.LOOPNE:
		default:
			w.unknown = true
		}
	}
	// The addresses of stack slots are relative to these registers.
	if w.written.has(regSP*partsOfReg+2) || w.f.frameBP && w.written.has(regBP*partsOfReg+2) {
		w.unknown = true
	}
}

// operand reads an operand, and reports whether its value may come from memory.
func (w *iteration) operand(s *state, inst *x86asm.Inst, a x86asm.Arg) (loaded bool) {
	switch a := a.(type) {
	case nil, x86asm.Imm:
		return false
	case x86asm.Reg:
		return w.read(s, w.regPlaces(a))
	case x86asm.Mem:
		w.address(s, a)
		if p := w.slot(s, a, inst.MemBytes); p != nil {
			for _, b := range p {
				w.slotReads.add(b)
			}
			return w.read(s, p)
		}
		w.reads = true
		return true
	}
	w.unknown = true
	return false
}

// address reads the registers of an address.
func (w *iteration) address(s *state, m x86asm.Mem) {
	for _, r := range []x86asm.Reg{m.Base, m.Index} {
		if r != 0 && r != x86asm.RIP && r != x86asm.EIP {
			w.read(s, w.regPlaces(r))
		}
	}
}

// assign writes an operand.
func (w *iteration) assign(s *state, inst *x86asm.Inst, a x86asm.Arg, loaded bool) {
	switch a := a.(type) {
	case x86asm.Reg:
		if n, _, ok := register(a); ok {
			s.frame[n] = frameAddr{}
		}
		w.write(s, w.regPlaces(a), loaded)
	case x86asm.Mem:
		w.address(s, a)
		if p := w.slot(s, a, inst.MemBytes); p != nil {
			w.write(s, p, loaded)
			return
		}
		w.stores = true
	default:
		w.unknown = true
	}
}

func (w *iteration) move(s *state, inst *x86asm.Inst, dst, src x86asm.Arg) {
	loaded := w.operand(s, inst, src)
	w.assign(s, inst, dst, loaded)
	to, ok1 := dst.(x86asm.Reg)
	from, ok2 := src.(x86asm.Reg)
	if !ok1 || !ok2 || inst.DataSize != 64 {
		return
	}
	n, _, _ := register(to)
	switch m, _, ok := register(from); {
	case from == x86asm.RSP || from == x86asm.RBP && w.f.frameBP:
		s.frame[n] = frameAddr{known: true, base: from}
	case ok:
		s.frame[n] = s.frame[m]
	}
}

func (w *iteration) lea(s *state, dst, src x86asm.Arg) {
	m, ok := src.(x86asm.Mem)
	r, ok2 := dst.(x86asm.Reg)
	if !ok || !ok2 {
		w.unknown = true
		return
	}
	// Unlike in a load, the result is the address itself.
	loaded := false
	for _, from := range []x86asm.Reg{m.Base, m.Index} {
		if from != 0 && from != x86asm.RIP && from != x86asm.EIP && w.read(s, w.regPlaces(from)) {
			loaded = true
		}
	}
	a := w.frameAddr(s, m)
	w.assign(s, nil, dst, loaded)
	if n, parts, ok := register(r); ok && parts == 7 {
		s.frame[n] = a
	}
}

// update reads and writes an operand. An update of locked memory is atomic.
func (w *iteration) update(s *state, inst *x86asm.Inst, dst, src x86asm.Arg) {
	if m, ok := dst.(x86asm.Mem); ok && isLocked(inst) {
		if imm, ok := src.(x86asm.Imm); ok && imm == 0 && m.Base == x86asm.RSP {
			return // lock or $0, (%rsp): a fence
		}
		w.operand(s, inst, src)
		w.address(s, m)
		w.reads, w.locked = true, true
		return
	}
	from := w.operand(s, inst, src)
	own := w.operand(s, inst, dst)
	w.assign(s, inst, dst, own || from)
}

func (w *iteration) imul(s *state, inst *x86asm.Inst) {
	switch {
	case inst.Args[1] == nil: // RDX:RAX = RAX * operand
		from := w.operand(s, inst, inst.Args[0])
		from = w.read(s, w.regPlaces(x86asm.RAX)) || from
		w.write(s, w.regPlaces(x86asm.RAX), from)
		w.write(s, w.regPlaces(x86asm.RDX), from)
	case inst.Args[2] == nil:
		w.update(s, inst, inst.Args[0], inst.Args[1])
	default:
		w.assign(s, inst, inst.Args[0], w.operand(s, inst, inst.Args[1]))
	}
}

// xchg exchanges two operands. With memory that is atomic: an attempt to take a lock.
func (w *iteration) xchg(s *state, inst *x86asm.Inst, dst, src x86asm.Arg) {
	if m, ok := src.(x86asm.Mem); ok {
		dst, src = m, dst
	}
	mem, ok := dst.(x86asm.Mem)
	if !ok {
		from, own := w.operand(s, inst, src), w.operand(s, inst, dst)
		w.assign(s, inst, dst, from)
		w.assign(s, inst, src, own)
		return
	}
	w.operand(s, inst, src)
	w.address(s, mem)
	w.assign(s, inst, src, true)
	w.reads = true
}

func (w *iteration) cmpxchg(s *state, inst *x86asm.Inst, dst, src x86asm.Arg) {
	mem, ok := dst.(x86asm.Mem)
	r, ok2 := src.(x86asm.Reg)
	if !ok || !ok2 || !isLocked(inst) {
		w.unknown = true
		return
	}
	w.address(s, mem)
	if w.operand(s, inst, r) {
		w.storesLoaded = true
	}
	// RAX as wide as the operand.
	_, parts, _ := register(r)
	ax := w.regPlaces(x86asm.RAX)
	switch parts {
	case 1, 2:
		ax = ax[:1]
	case 3:
		ax = ax[:2]
	}
	w.read(s, ax)
	w.write(s, ax, true)
	s.frame[regAX] = frameAddr{}
	w.reads = true
}

func isLocked(inst *x86asm.Inst) bool {
	for _, p := range inst.Prefix {
		if p&0xff == x86asm.PrefixLOCK && p&x86asm.PrefixInvalid == 0 {
			return true
		}
	}
	return false
}

func isSet(op x86asm.Op) bool {
	switch op {
	case x86asm.SETA, x86asm.SETAE, x86asm.SETB, x86asm.SETBE, x86asm.SETE, x86asm.SETG, x86asm.SETGE, x86asm.SETL,
		x86asm.SETLE, x86asm.SETNE, x86asm.SETNO, x86asm.SETNP, x86asm.SETNS, x86asm.SETO, x86asm.SETP, x86asm.SETS:
		return true
	}
	return false
}

func isCmov(op x86asm.Op) bool {
	switch op {
	case x86asm.CMOVA, x86asm.CMOVAE, x86asm.CMOVB, x86asm.CMOVBE, x86asm.CMOVE, x86asm.CMOVG, x86asm.CMOVGE, x86asm.CMOVL,
		x86asm.CMOVLE, x86asm.CMOVNE, x86asm.CMOVNO, x86asm.CMOVNP, x86asm.CMOVNS, x86asm.CMOVO, x86asm.CMOVP, x86asm.CMOVS:
		return true
	}
	return false
}
