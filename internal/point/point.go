// Package point parses what the user writes on the command line, and finds it in code: progress
// points (-p) become instructions to count, targets (-t) become a test whether a sample belongs to
// them, latencies (-l) are pairs of points.
//
// For a point call Parse when flags are read, then Resolve with the binaries that the program
// starts with, then Find with each binary that is loaded later. For a target call ParseTarget,
// then Check, then Target.Match or Target.Step for each sample. The package is pure: it reads
// binaries through package symbol, and attaches nothing.
//
// Package whatif/point is another package: users put it into their programs. This one calls its
// points source points.
package point

// Kind is a kind of progress point: the event that is a visit.
type Kind string

const (
	Func       Kind = "func"       // a function is entered, or returns
	Line       Kind = "line"       // the statement of a source line begins
	USDT       Kind = "usdt"       // the program passes a static probe
	Tracepoint Kind = "tracepoint" // the kernel passes a tracepoint
	Syscall    Kind = "syscall"    // a system call begins, or ends
	Sample     Kind = "sample"     // a sample falls on a source line
	Exit       Kind = "exit"       // a process ends
	Source     Kind = "source"     // the program passes a macro of whatif.h, or its like
)

// Spec is a progress point as the user wrote it. Each kind uses some of the fields.
type Spec struct {
	Name string // in reports
	Text string // the text behind NAME=
	Kind Kind

	Func     string // Func: the function's name
	Binary   string // Func: the path of its binary, "" for any
	Return   bool   // Func: counted when it returns
	File     string // Line, Sample
	Line     int    // Line, Sample
	Provider string // USDT: "" for any
	Category string // Tracepoint
	Event    string // USDT, Tracepoint, Syscall, Source: the name of the probe, call or point
	AtExit   bool   // Syscall: counted when the call ends, not when it begins
	Edge     Edge   // Source
}

// Edge says which event of a name in the source is meant.
type Edge string

const (
	Whole   Edge = ""      // a unit of work is done: a progress point, or the end of a pair
	AtBegin Edge = "begin" // the begin of a pair
	AtEnd   Edge = "end"   // the end of a pair
)

// Probed reports whether probes in the code of binaries count the point: Resolve finds the places.
func (s *Spec) Probed() bool {
	switch s.Kind {
	case Syscall, Tracepoint, Sample, Exit, Source:
		return false
	}
	return true
}
