package probes

import (
	"errors"
	"log/slog"
	"time"

	"whatif/internal/code/jvm"
	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// Options say which points are counted, and what else is followed with probes.
type Options struct {
	Points    []point.Spec    // named by the user; the last of them are the ends of Latencies: see WithEnds
	Latencies []point.Latency // named by the user
	Source    bool            // points in the program's source are counted: all of them, if Points is empty

	Sleeps     bool // follow goroutines that sleep: their sleep counts for the line that calls time.Sleep
	Goroutines bool // follow goroutines that wait for each other

	NoJavaAgent bool // points in Java code cannot be counted

	Period time.Duration // of sampling
	Log    *slog.Logger
}

// Probes are all that is set in programs, in tables and in the kernel to count the visits of a run's points.
//
// LookInto, Execed and Mapped are for the goroutine that answers the kernel side, and so is Named while a run lasts.
// The session calls Named once more at its end. All other methods are for the session's goroutine.
type Probes struct {
	ledger   *ledger.Ledger
	options  Options
	ends     ends
	sites    *sites
	counters *counters
	java     *java

	points    []point.Spec      // of the run so far: those of the options, then those that were found
	pairs     []profile.Latency // found in the source before the target ran
	latencies []profile.Latency // that are measured
}

// New prepares the counting. Nothing is looked for or attached yet.
func New(l *ledger.Ledger, o Options) *Probes {
	e := endsOf(o)
	c := newCounters(l, o, e)
	s := newSites(l, o, e)
	return &Probes{
		ledger: l, options: o, ends: e, sites: s, counters: c, java: newJava(c, s, o, e),
		points: o.Points[:len(o.Points):len(o.Points)],
	}
}

// FindInSource looks for points in the source of programs that have not run yet, and in other files that they will
// load. Points that are found while nothing was named become points of the run.
func (p *Probes) FindInSource(programs []Program, others ...string) error {
	var files []string
	for _, each := range programs {
		files = append(files, each.Paths()...)
	}
	if err := p.counters.atStart(append(files, others...)); err != nil {
		return err
	}
	if err := checkForgotten(p.counters.unknown(), programs); err != nil {
		return err
	}
	found, pairs := p.counters.take()
	p.points, p.pairs = append(p.points, found...), pairs
	return nil
}

// HasPoints tells whether the run has points, or will have: a program may name some when it runs.
func (p *Probes) HasPoints() bool { return len(p.points) > 0 || p.counters.expected() }

// Attach begins to count, before the programs run, and to measure latencies.
func (p *Probes) Attach(programs []Program) error {
	if err := p.measureVisit(); err != nil {
		return err
	}
	if err := p.measure(append(p.ends.all(), p.pairs...)); err != nil {
		return err
	}
	if err := p.sites.atStart(programs); err != nil {
		return err
	}
	return p.hook(programs)
}

// Take makes points of the run of those that were found in the source since it was called last, and begins to measure
// the latencies between them. It gives both.
func (p *Probes) Take() (points []point.Spec, pairs []profile.Latency, err error) {
	points, pairs = p.counters.take()
	p.points = append(p.points, points...)
	if err := p.measure(pairs); err != nil {
		return points, nil, err
	}
	return points, pairs, nil
}

// Points are the points of the run so far.
func (p *Probes) Points() []point.Spec { return p.points }

// Latencies are those that are measured, in the order of the ledger's readings.
func (p *Probes) Latencies() []profile.Latency { return p.latencies }

// Places is at how many places each point is counted: of the code, and of tables.
func (p *Probes) Places() []int {
	all := p.counters.counts()[:len(p.points)]
	for i, n := range p.sites.counts() {
		all[i] += n
	}
	return all
}

// FoundAt is when the first place of a point was found, on the ledger's clock; 0: none was so far. It is false for
// points that need no place, such as system calls.
func (p *Probes) FoundAt(i int) (at uint64, needed bool) {
	switch spec := &p.points[i]; {
	case spec.Kind == point.Source:
		return p.counters.foundAt(i), true
	case spec.Probed():
		if at = p.sites.foundAt(i); at == 0 {
			at = p.counters.foundAt(i) // in Java code
		}
		return at, true
	}
	return 0, false
}

// LookInto probes the points that a binary has, once for each file.
func (p *Probes) LookInto(b *symbol.Binary, id ledger.File) { p.sites.lookInto(b, id) }

// Execed looks into the program that a process runs now.
func (p *Probes) Execed(e ledger.Event) { p.sites.execed(e) }

// Mapped tells the kernel side what a file that a process has mapped counts.
func (p *Probes) Mapped(e ledger.Event) error { return p.counters.mapped(e) }

// Named tells the kernel side which points the names are that programs have given since.
func (p *Probes) Named() error { return p.counters.named() }

// FollowingEnded says what made following goroutines too expensive; "" while they are followed, or none are.
func (p *Probes) FollowingEnded() string { return p.sites.followingEnded() }

// Missing is the error for points that nothing has had that ran.
func (p *Probes) Missing() error { return errors.Join(p.sites.missing(p.java), p.counters.missing()) }

// FollowJava has points counted in Java virtual machines among the processes that members gives: in those that run
// already, where it is an error if they cannot have a point, and in those that begin. starting is where these connect;
// nil: they are found some time later.
func (p *Probes) FollowJava(members func() ([]ledger.Process, error), starting *jvm.Starting) error {
	if len(p.java.specs) == 0 {
		return nil
	}
	p.java.members, p.java.starting = members, starting
	return p.java.follow()
}

// Close keeps later events from setting probes. Those that are set end with the ledger.
func (p *Probes) Close() {
	p.sites.close()
	p.java.close()
}
