// Package synthetic makes small programs with threads and runs them in a machine of its own. A run gives a recording,
// as the kernel side would have made it, and the truth: what the same program does when some of it takes less time. So
// the engine in package simulate can be tested with thousands of programs, without a kernel.
//
// The package is written apart from the engine: the two share the model of a recording, and nothing else. Its machine
// knows what a program means (which lock, which queue); the engine only sees what a kernel sees.
//
//	p := synthetic.Random(seed)
//	r := p.Record()                  // what simulate.New gets
//	c := p.Changes(3)[0]             // for example: kind 1 takes 50% less
//	truth := p.Truth(c)              // the changed program, run from the recording's begin
//	m, err := simulate.New(r)
//	... synthetic.Compare(m.Run(simulate.Change{}), m.Run(p.Asked(r, c)), truth)
//
// Each duration is drawn from the program's seed, the thread, the step and the number of times that the thread has done
// this step. A changed program draws the same durations, so the truth has no noise of its own.
//
// What is invisible to a kernel is not in the recording: taking a free lock, putting something into a queue for which
// nobody waits, arriving first at a barrier until the thread sleeps there.
package synthetic
