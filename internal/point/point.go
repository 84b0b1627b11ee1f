// Package point turns what a user wrote on the command line into places in
// code: progress points (-p) into the instructions to count, and targets (-t)
// into a test of whether a sample belongs to them.
//
// It is pure: it looks at binaries through package symbol and attaches
// nothing. The sequence of calls is Parse when flags are read, then Resolve
// once the binaries are known; likewise ParseTarget, Target.Check, then
// Target.Match for each sampled address.
package point

// Kind is a kind of progress point.
type Kind string

const (
	Func       Kind = "func"       // a function is entered
	Line       Kind = "line"       // the code of a source line is reached
	USDT       Kind = "usdt"       // a static probe in the program is passed
	Tracepoint Kind = "tracepoint" // a tracepoint of the kernel is passed
	Syscall    Kind = "syscall"    // a system call begins, or is over
	Sample     Kind = "sample"     // a line's samples stand for its visits
	Exit       Kind = "exit"       // a process ends
	Source     Kind = "source"     // a macro of whatif.h or its like is passed
)

// Spec is a progress point as its user wrote it.
type Spec struct {
	Name string // how reports call it
	Text string // what was written after NAME=
	Kind Kind

	Func     string // Func: the function's name
	Binary   string // Func: the path of the binary it is in, "" for any
	Return   bool   // Func: counted when it returns
	File     string // Line, Sample
	Line     int    // Line, Sample
	Provider string // USDT: "" for any
	Category string // Tracepoint
	Event    string // USDT, Tracepoint, Syscall, Source: the probe's or call's or point's name
	Over     bool   // Syscall: when the call is over, not when it begins
	Edge     Edge   // Source
}

// Edge is which event of its name a point in the source is.
type Edge string

const (
	Whole   Edge = ""      // a unit of work is done: a progress point, or the end of a pair
	AtBegin Edge = "begin" // of a pair
	AtEnd   Edge = "end"
)

// Probed reports whether the point is counted by probes in the code of binaries, where
// Resolve finds it.
func (s *Spec) Probed() bool {
	switch s.Kind {
	case Syscall, Tracepoint, Sample, Exit, Source:
		return false
	}
	return true
}
