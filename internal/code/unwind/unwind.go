// Package unwind reads the tables by which debuggers and exceptions find the caller of a function
// without a frame pointer (.eh_frame, .debug_frame). It turns them into rows for the kernel side: a
// row says how, from an address on, the caller's stack pointer, frame pointer and return address
// are found. The package follows no stack itself; the kernel side does (bpf/code/unwind.h).
//
// Call New for an ELF file, then Rows for ranges of code. A call reads only the tables for its
// range: the search table of .eh_frame_hdr finds them, if there is one.
package unwind

// Rule says how to find the caller of the code at an address. It is comparable:
// a binary has thousands of rows, but few different rules.
type Rule struct {
	Kind   Kind
	Base   Base  // the register from which the CFA (canonical frame address) is computed
	Offset int32 // added to Base
	Add    int32 // for CFAAt, added to the value that is read
	FP, BX Saved // the caller's frame pointer; the caller's rbx
	RA     int32 // distance of the return address from the CFA; 0: in the link register
}

// Kind is a kind of Rule.
type Kind uint8

// The kinds of rules. The CFA is the caller's stack pointer after the return.
const (
	Unknown      Kind = iota // the tables say nothing, or cannot be understood
	End                      // there is no caller: the outermost function
	CFA                      // CFA = Base + Offset
	CFAAt                    // CFA = memory[Base + Offset] + Add
	Signal                   // the registers are in the ucontext at the stack pointer
	FramePointer             // no tables: the caller's frame pointer and the return address are at the frame pointer
	Interpreter              // the interpreter of a Java VM: by frame pointers, and its frames have a bytecode
)

// Base is a register from which a rule computes.
type Base uint8

// The registers that are followed up the stack. Any other register, Other + its DWARF number, is
// known only in the innermost frame.
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

// Where is a kind of place.
type Where uint8

// The places of a saved register.
const (
	Same  Where = iota // still in the register
	AtCFA              // at CFA + Offset
	AtFP               // at this function's own frame pointer + Offset
	AtSP               // at this function's own stack pointer + Offset
	Gone               // lost
)

// Row is a rule that holds from an address up to the next row.
type Row struct {
	Address uint64
	Rule    Rule
}
