package ledger

import (
	"errors"
	"fmt"

	"whatif/bpf"
)

// Stacks makes units depend on whole stacks: a place then has a chain instead of a unit, see AddChain.
type Stacks struct {
	Enough     int  // most units that a sample can be in; 0: any number
	BlamedOnly bool // each unit begins with the code that a sample is blamed on
}

// settings make the kernel programs follow whole stacks.
func (s *Stacks) settings() []setting {
	if s == nil {
		return nil
	}
	return []setting{
		{"whole_stacks", uint32(1)}, {"enough", uint32(s.Enough)}, {"blamed_only", flag(s.BlamedOnly)},
	}
}

// MaxStackUnits is how many units can be members of chains. Number 0 is no unit.
const MaxStackUnits = int(bpf.LedgerLimitMAX_STACK_UNITS)

// LongestPath is how many functions on the stack a unit can ask for.
const LongestPath = stateMet

const stateMet = int(bpf.LedgerSharedNumberNUMBER_STATE_MET)

// Chain says what code at a place means for the units.
type Chain struct {
	Own     uint32 // the unit of a sample that is in none of the members; 0: none
	Blamed  bool   // this code gets the sample's time, unless code further in is blamed
	Members []Member
}

// Member is a unit that code at the place can be part of. The unit is a row of functions on the stack, met from the
// inside out. Steps says how many of them have been met after this place, by how many were met before it. Later is the
// same for samples where code further in was blamed.
type Member struct {
	Unit         uint32
	Steps, Later [LongestPath]int
	Functions    int // in the row
}

// packed gives the steps in the form of the kernel side.
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

// ErrChainsFull is returned when the kernel side's memory for chains is used up.
var ErrChainsFull = errors.New("the kernel side's memory for what is on stacks is full")

// AddChain gives a chain a number, from 1 on, which is the Unit of places in SetPlace. It must not be called
// concurrently.
func (k *knownCode) AddChain(c Chain) (uint32, error) {
	if len(c.Members) > int(bpf.LedgerLimitLONGEST_CHAIN) {
		// Only a hostile compiler inlines so much into one place. The innermost members are kept.
		c.Members = c.Members[:bpf.LedgerLimitLONGEST_CHAIN]
	}
	if k.addedChains+1 >= int(bpf.LedgerLimitMAX_CHAINS) ||
		k.addedMembers+len(c.Members) > int(bpf.LedgerLimitMAX_MEMBERS) {
		return 0, ErrChainsFull
	}
	first := k.addedMembers
	for i := range c.Members {
		m := &c.Members[i]
		value := bpf.LedgerMember{Unit: m.Unit, Steps: m.packed(&m.Steps), Later: m.packed(&m.Later)}
		if err := k.chainMembers.Put(uint32(first+i), value); err != nil {
			return 0, fmt.Errorf("telling the kernel the units of a chain: %w", err)
		}
	}
	value := bpf.LedgerChain{
		Own: c.Own, First: uint32(first), Members: uint32(len(c.Members)), Blamed: flag(c.Blamed),
	}
	if err := k.chains.Put(uint32(k.addedChains+1), value); err != nil {
		return 0, fmt.Errorf("telling the kernel a chain: %w", err)
	}
	k.addedMembers += len(c.Members)
	k.addedChains++
	return uint32(k.addedChains), nil
}
