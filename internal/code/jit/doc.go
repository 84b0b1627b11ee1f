// Package jit knows the code that a program's runtime makes while it runs: which function, and perhaps which line, is
// at an address of a process. No file has that code, so the runtime has to write down what it makes. There are two
// formats: perf-PID.map, a text with addresses and names, and jitdump, with lines.
//
// A Follower reads such a file as it grows, and puts what it says into a Table. Both formats are written by the
// profiled program, so a reader believes nothing: it is limited in time and memory, and what makes no sense is left
// out. Names are made readable by Clean, which knows how runtimes write them. Runtimes is the table of interpreters,
// and of the switches by which their programs write such files.
//
// The package reads only from an io.ReaderAt. Package experiment finds and opens the files.
package jit
