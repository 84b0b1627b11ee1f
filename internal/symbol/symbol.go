// Package symbol says which code an address belongs to: it turns an offset in
// an ELF file into source lines, functions and the calls inlined there, and a
// function's name or a source line that a user wrote into places in the file.
//
// Addresses come in as (binary, file offset): that is what a mapping in
// /proc/PID/maps gives, and it is the same in every process, wherever the
// binary was loaded. A return address is not the call: it may already belong
// to the next line, so look up the byte before it, Frames(offset-1).
//
// Open reads headers only. Everything else is read when it is first needed and
// kept: the symbol table as a whole, debug information one compile unit at a
// time (package dwarf). A Go binary without debug information is read by the
// tables of its runtime (package pclntab). Methods of a Binary may be called concurrently.
//
// Binaries are input that nobody vouches for. A damaged one costs its answers,
// never a panic, an endless loop or unbounded memory.
//
// Which of the frames found should be blamed, and which are a library's or a
// runtime's, is decided by Origin (scope.go), a pure function.
//
// Debug information that is not in the binary itself is looked for when it is
// first needed (package debugfile); Missing says what was not found.
//
// Not here yet: code made at run time.
package symbol

// Frame is one level of the code at an address: a source line, and the
// function around it.
type Frame struct {
	// Func is the function's name, demangled, as its language prints it.
	// Empty if nothing names it.
	Func string
	// Short is Func without parameters and return type, what a user writes.
	Short string
	// File is the full path that the compiler recorded, empty if unknown.
	File string
	// Line is 0 if unknown.
	Line int
}

// Func is a function that has an entry point in a binary.
type Func struct {
	Name       string // demangled
	Symbol     string // as in the symbol table
	FileOffset uint64 // of its first instruction
	Size       uint64 // in bytes; 0 if the symbol table does not say
	// Resolver is set where the code only chooses the function, for the dynamic linker.
	Resolver bool
}
