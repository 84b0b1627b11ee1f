// Package unwind reads the tables by which a debugger or an exception finds the
// caller of a function that keeps no frame pointer (.eh_frame, .debug_frame), and
// turns them into rows that a small machine can follow: from this address on the
// caller's stack pointer is found so, its frame pointer so, the return address so.
// It follows no stack itself; the kernel side does (bpf/code/unwind.h).
//
// Nothing is read before it is asked for, and then only what covers the addresses
// asked about, through the binary search table of .eh_frame_hdr where there is one.
//
// The normal sequence: New for an ELF file, then Rows for ranges of code.
package unwind

// Rule says how to find the caller of the code at an address. It is comparable:
// a binary has thousands of rows, but few different rules.
type Rule struct {
	Kind   Kind
	Base   Base  // the register that the canonical frame address, the CFA, is found from
	Offset int32 // added to it
	Add    int32 // of kind CFAAt, added to what is read there
	FP, BX Saved // the caller's frame pointer; the caller's rbx
	RA     int32 // where the return address is, from the CFA; 0: in the link register
}

// Kind is what sort of a Rule it is.
type Kind uint8

// The kinds of rules. The CFA is the stack pointer that the caller has after the
// return.
const (
	Unknown      Kind = iota // the tables do not say, or in a way that is not understood
	End                      // there is no caller: the outermost function
	CFA                      // CFA = Base + Offset
	CFAAt                    // CFA = what is read at Base + Offset, + Add
	Signal                   // the registers are in the ucontext that the stack pointer points at
	FramePointer             // no tables here: the frame pointer points at the caller's, and at the return address
)

// Base is a register that a rule may need.
type Base uint8

// The registers that are followed up the stack. Another, Other + its DWARF number, is
// known only where the thread was interrupted.
const (
	NoBase Base = iota
	SP
	FP // rbp, x29
	BX // rbx: _dl_runtime_resolve keeps the CFA in it
	atCFA
	Other Base = 16
)

// Saved says where a function keeps the value that a register had in its caller.
type Saved struct {
	Where  Where
	Offset int32
}

// Where is the kind of a Saved.
type Where uint8

// Where a register is saved.
const (
	Same  Where = iota // still in the register
	AtCFA              // at CFA + Offset
	AtFP               // at this function's own frame pointer + Offset
	AtSP               // at this function's own stack pointer + Offset
	Gone               // not to be found
)

// Row says that from an address on, up to the next row, a rule holds.
type Row struct {
	Address uint64
	Rule    Rule
}
