// Package symbol maps addresses to code and back. It turns an offset in an ELF file into source
// lines, functions and the calls inlined there. It turns a function's name or a source line, as a
// user writes them, into offsets in the file.
//
// An address is given as a binary and a file offset. /proc/PID/maps gives both, and they are the
// same in every process, wherever the binary is loaded. A return address may already belong to the
// next line, so look up the byte before it: Frames(offset-1).
//
// Call Open, then Frames for each address, or Functions and LineEntries for what the user wrote,
// and Close at the end. Open reads only headers. Everything else is read when it is first needed,
// and kept: the symbol table as a whole, debug information one compile unit at a time (package
// dwarf). Of a Go binary without debug information, the runtime's tables are read (package
// pclntab). Debug information outside of the binary is searched when it is first needed (package
// debugfile); Missing says what was not found. The methods of a Binary may be called concurrently.
//
// Origin decides whether a frame is the user's own code, or a library's or a runtime's. It is a
// pure function.
//
// Binaries are not trusted. A damaged one costs its answers, but never a panic, an endless loop or
// unbounded memory. Code that is generated at run time is not supported.
package symbol

// Frame is one level of the code at an address: a source line, and the function around it.
type Frame struct {
	// Func is the function's name, demangled, as its language prints it. It is empty if the name
	// is not known.
	Func string
	// Short is Func without parameters and return type, as users write it.
	Short string
	// File is the full path that the compiler recorded, empty if not known.
	File string
	// Line is 0 if not known.
	Line int
	// Decl is the line of File at which the function is declared, 0 if not known or in another file.
	Decl int
}

// Func is a function with an entry point in a binary.
type Func struct {
	Name       string // demangled
	Symbol     string // as in the symbol table
	FileOffset uint64 // of its first instruction
	Size       uint64 // in bytes; 0 if the symbol table does not say
	// Resolver is set if the code only chooses one of several implementations, for the dynamic linker.
	Resolver bool
}
