package ledger

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// Stacks says how whole stacks are looked at: a place then has a chain, not a unit,
// see AddChain.
type Stacks struct {
	Enough     int  // units that a sample can be in at most; 0: any number
	BlamedOnly bool // each unit begins with the code that a sample is blamed on
}

// MaxStackUnits is how many units can be members of chains, 0 excluded.
const MaxStackUnits = int(bpf.LedgerLimitMAX_STACK_UNITS)

// LongestPath is how many functions a unit can ask for on the stack.
const LongestPath = stateMet

const stateMet = int(bpf.LedgerSharedNumberNUMBER_STATE_MET)

// Chain is what code at a place means for the units.
type Chain struct {
	Own     uint32 // the unit of a sample that is in no unit of any chain; 0: none
	Blamed  bool   // a sample's time is this code's, if none further in is blamed
	Members []Member
}

// Member is a unit to which the place matters. A unit asks for a row of functions on
// the stack, from the inside out. Steps and Later say how many of them have been met
// after this place, by how many were before; Later is for samples that are blamed
// on code further in.
type Member struct {
	Unit         uint32
	Steps, Later [LongestPath]int
	Functions    int // in the row
}

// packed gives the steps in the kernel side's form.
func (m *Member) packed(steps *[LongestPath]int) uint32 {
	word := uint32(stateMet) << (4 * stateMet)
	for state, next := range steps {
		if next >= m.Functions {
			next = stateMet
		}
		word |= uint32(next) << (4 * state)
	}
	return word
}

// ErrChainsFull says that the memory for chains in the kernel is used up.
var ErrChainsFull = errors.New("the kernel side's memory for what is on stacks is full")

// AddChain gives a chain its number, from 1, with which SetPlace is then called. It
// must not be called concurrently.
func (l *Ledger) AddChain(c Chain) (uint32, error) {
	if len(c.Members) > int(bpf.LedgerLimitLONGEST_CHAIN) {
		// So much is not inlined into one place but by a hostile compiler: the innermost is kept.
		c.Members = c.Members[:bpf.LedgerLimitLONGEST_CHAIN]
	}
	if l.chains+1 >= int(bpf.LedgerLimitMAX_CHAINS) || l.members+len(c.Members) > int(bpf.LedgerLimitMAX_MEMBERS) {
		return 0, ErrChainsFull
	}
	first := l.members
	for i := range c.Members {
		m := &c.Members[i]
		value := bpf.LedgerMember{Unit: m.Unit, Steps: m.packed(&m.Steps), Later: m.packed(&m.Later)}
		if err := l.maps.Members.Put(uint32(first+i), value); err != nil {
			return 0, fmt.Errorf("telling the kernel the units of a chain: %w", err)
		}
	}
	value := bpf.LedgerChain{Own: c.Own, First: uint32(first), Members: uint32(len(c.Members))}
	if c.Blamed {
		value.Blamed = 1
	}
	if err := l.maps.Chains.Put(uint32(l.chains+1), value); err != nil {
		return 0, fmt.Errorf("telling the kernel a chain: %w", err)
	}
	l.members += len(c.Members)
	l.chains++
	return uint32(l.chains), nil
}

// lookAtStacks makes the programs look at whole stacks, or spares the memory for it.
func lookAtStacks(spec *ebpf.CollectionSpec, s *Stacks) error {
	if s == nil {
		for _, name := range []string{"chains", "members", "progress"} {
			spec.Maps[name].MaxEntries = 1
		}
		return nil
	}
	blamedOnly := 0
	if s.BlamedOnly {
		blamedOnly = 1
	}
	for name, value := range map[string]int{"whole_stacks": 1, "enough": s.Enough, "blamed_only": blamedOnly} {
		if err := setVariable(spec, name, uint32(value)); err != nil {
			return err
		}
	}
	return nil
}
