package ledger

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// knownCode is the part of a Ledger that tells the kernel side whose code is at a place, and how to find the callers
// there. The kernel side asks by events; the answers are in maps and in the shared memory.
type knownCode struct {
	*kernelSide
	places, tables       *ebpf.Map // by place, and by page
	addresses            *ebpf.Map // what the kernel side keeps by address
	chains, chainMembers *ebpf.Map
	kernelFunctions      *ebpf.Map

	events *events // nil: not open yet
	rows   *TableRows

	addedChains, addedMembers int
}

func newKnownCode(k *kernelSide) *knownCode {
	return &knownCode{
		kernelSide: k, places: k.maps.Places, tables: k.maps.Tables, addresses: k.maps.Addresses,
		chains:       k.maps.Chains,
		chainMembers: k.maps.Members, kernelFunctions: k.maps.KernelFunction, rows: NewTableRows(k.page.rules, k.page.rows),
	}
}

// Place is a place in code: an offset in a file, the same in every process that maps the file.
type Place = bpf.LedgerPlace

// Code is what the kernel side is told of a place.
type Code struct {
	Unit  uint32 // with Options.Stacks the place's chain; 0: none
	Spins bool   // the instruction is in a busy-waiting loop
	Line  bool   // the place is in the line of a sampled point, which is Point
	Point int
}

// SetPlace says what is known of the code at a place.
func (k *knownCode) SetPlace(p Place, c Code) error {
	word := c.Unit
	if c.Spins {
		word |= 1 << 31
	}
	if c.Line {
		word |= uint32(1+c.Point) << bpf.LedgerSharedNumberNUMBER_UNIT_POINT_SHIFT
	}
	if err := k.places.Put(p, word); err != nil {
		return fmt.Errorf("telling the kernel the unit of a place: %w", err)
	}
	return nil
}

// ForgetPlace makes the kernel side ask about a place again, because there is no answer now.
func (k *knownCode) ForgetPlace(p Place) error {
	if err := k.places.Delete(p); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting a place: %w", err)
	}
	return nil
}

// Generated reports whether an event is about code that a process has made, in memory of no file. Its place is of one
// address space.
func (e *Event) Generated() bool {
	return e.Place.Dev == uint32(bpf.LedgerSharedNumberNUMBER_GENERATED)
}

// Bytecode reports whether an event is about code that a Java VM interprets. Its place is of one address space, and
// Place.Offset is the bytecode's address; Address is that of the method.
func (e *Event) Bytecode() bool { return IsBytecode(e.Place) }

// IsBytecode reports whether a place is a bytecode of a Java VM.
func IsBytecode(p Place) bool { return p.Dev == uint32(bpf.LedgerSharedNumberNUMBER_BYTECODE) }

// ForgetAddress makes the kernel side look at the place of generated code again. Otherwise what it knows of an address
// holds for up to a second, which is right for code in files.
func (k *knownCode) ForgetAddress(p Place) error {
	key := struct{ Space, Address uint64 }{p.Inode, p.Offset}
	if err := k.addresses.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting the code at an address: %w", err)
	}
	return nil
}

// setKernelFunctions gives the kernel side the functions of the kernel.
func (k *knownCode) setKernelFunctions(code *KernelCode) error {
	if code == nil || len(code.Functions) == 0 {
		return nil
	}
	keys := make([]uint32, len(code.Functions))
	for i := range keys {
		keys[i] = uint32(i)
	}
	if _, err := k.kernelFunctions.BatchUpdate(keys, code.Functions, nil); err != nil {
		return fmt.Errorf("telling the kernel programs where the kernel's functions are: %w", err)
	}
	return nil
}
