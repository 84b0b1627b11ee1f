// Package demo is the program that `whatif demo` profiles. Its answer is known in advance. The program is whatif itself
// with a hidden first argument, so no compiler is needed.
//
// It repeats a round of some 7.5 ms. In each round two workers meet at a barrier, and then one works alone:
//
//	worker 1  |AAAAAAAAAAAAAAA|CCCCC|      A: 3 units of work, line A
//	worker 2  |BBBBBBBBBB     |            B: 2 units, line B;  C: 1 unit, line C
//	                                ^ RoundDone
//
// Making A faster helps until A is as short as B, and no further. Making B faster does not help, however hot it is.
// Making C faster helps in proportion.
//
// The normal sequence: main calls Init; whatif profiles Command with the progress point Point, and compares the result
// with Truth.
package demo

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// argument is the hidden first argument with which whatif is the demo.
const argument = "__demo"

// Init runs the demo and does not return, if this process is the demo. It must be called at the start of main.
func Init() {
	if len(os.Args) > 1 && os.Args[1] == argument {
		os.Exit(Main(os.Args[2:]))
	}
}

// Command is the command line of the demo; extra are arguments for Main.
func Command(extra ...string) []string {
	return append([]string{"/proc/self/exe", argument}, extra...)
}

// Main runs the demo. Its flags: -for is the time to run (0: until killed). -a, -b and -c are the percentages of a
// line's work to leave out, which is a real speed-up. At the end it prints the number of rounds and the time.
func Main(args []string) int { return run(args, os.Stdout, os.Stderr) }

func run(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet(argument, flag.ContinueOnError)
	f.SetOutput(stderr)
	length := f.Duration("for", 0, "")
	var less [3]int
	for i, name := range []string{"a", "b", "c"} {
		f.IntVar(&less[i], name, 0, "")
	}
	if err := f.Parse(args); err != nil {
		return 2
	}
	prepare()
	p := newPieces(less)
	begin := time.Now()
	n := p.rounds(*length, RoundDone)
	fmt.Fprintf(stdout, "%d rounds in %v\n", n, time.Since(begin).Round(time.Millisecond))
	return 0
}

// prepare keeps Go's runtime from disturbing the workers: there is no garbage collection, and each worker has a Go
// processor of its own.
func prepare() {
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(4)
}

// unit is the intended length of a unit of work. A unit and a round are no multiples of a millisecond, so that samples
// every millisecond fall on all parts of a round. A round is much longer than its two hand-overs, which take up to some
// 50 µs each.
const unit = 1870 * time.Microsecond

// The pieces of a round, in units.
const (
	unitsA = 3
	unitsB = 2
	unitsC = 1
)

// pieces are the iterations of each line in one round.
type pieces struct{ a, b, c int }

func newPieces(less [3]int) pieces {
	n := perUnit()
	cut := func(units, percent int) int { return units * n * (100 - min(max(percent, 0), 100)) / 100 }
	return pieces{cut(unitsA, less[0]), cut(unitsB, less[1]), cut(unitsC, less[2])}
}

// perUnit measures how many iterations take one unit on this machine. Only the length of a round depends on it; the
// proportions do not.
func perUnit() int {
	const n = 10000
	best := time.Duration(1 << 62)
	for range 5 {
		begin := time.Now()
		sink.Add(calibrate(n, 1))
		best = min(best, time.Since(begin))
	}
	return max(1, int(n*unit/max(best, 1)))
}

// sink keeps the compiler from removing the work.
var sink atomic.Uint64

// rounds runs rounds for a time (0: for ever), calls done after each one, and returns their number.
func (p pieces) rounds(length time.Duration, done func()) int {
	var b barrier
	var n int
	second := make(chan struct{})
	first := make(chan struct{})
	go func() {
		defer close(second)
		alone()
		b.worker2(p)
	}()
	go func() {
		defer close(first)
		alone()
		n = b.worker1(p, done)
	}()
	if length > 0 {
		time.Sleep(length)
		b.stop.Store(1)
	}
	<-first
	<-second
	return n
}
