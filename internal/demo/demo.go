// Package demo is the program that `whatif demo` profiles, with an answer that is
// known beforehand. It is whatif itself under a hidden first argument, so no
// compiler is needed.
//
// Rounds of some 7.5 ms, each with two workers that meet at a barrier and then a
// piece that runs alone:
//
//	worker 1  |AAAAAAAAAAAAAAA|CCCCC|      A: 3 units of work, line A
//	worker 2  |BBBBBBBBBB     |            B: 2 units, line B;  C: 1 unit, line C
//	                                ^ RoundDone
//
// Making A faster helps until A is as short as B, and no further. Making B faster
// helps nothing, however hot it is. Making C faster helps in proportion.
//
// What whatif does with it: profile Command with the progress point Point, and
// compare what it finds with Truth.
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

// argument is the hidden first argument that makes whatif the demo.
const argument = "__demo"

// Init never returns if this process is the demo. It belongs at the start of main.
func Init() {
	if len(os.Args) > 1 && os.Args[1] == argument {
		os.Exit(Main(os.Args[2:]))
	}
}

// Command is the command line of the demo; extra arguments are those of Main.
func Command(extra ...string) []string {
	return append([]string{"/proc/self/exe", argument}, extra...)
}

// Main is the demo. Its flags: -for how long (0: until killed), -a, -b, -c percent
// of that line's work to leave out, which is what a real speed-up would be.
// The number of rounds and the time go to stdout at the end.
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

// prepare keeps Go's runtime out of the workers' way: nothing is collected, and
// each worker has a processor of Go's for itself.
func prepare() {
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(4)
}

// unit is how long one unit of work is meant to take. It and the round are no
// multiple of a millisecond, so that samples taken every millisecond fall on all
// parts of a round. The two hand-overs, some 50 µs each where waking is dear, are
// to be little beside a round.
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

// perUnit finds how many iterations take one unit on this machine. Only the length
// of a round depends on it, not the proportions.
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

// sink keeps the compiler from leaving work out.
var sink atomic.Uint64

// rounds runs until the time is up, 0: for ever, calls done after each round and
// returns how many it was.
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
