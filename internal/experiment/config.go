package experiment

import (
	"log/slog"
	"os"
	"slices"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/sourcepath"
	"whatif/internal/symbol/scope"
	"whatif/internal/target"
)

// Config says what to profile and how.
type Config struct {
	Args []string // the program and its arguments; none with Attach, and maybe with System
	User string   // see target.Config

	Attach     *Attach           // processes that run already; nil: none
	System     bool              // all processes; until Args, if there are any, have ended
	Exempt     target.Exemptions // from System, besides those that always are
	saidExempt bool              // which those are has been said

	Points []point.Spec // none: each execution of the program is one experiment
	// Latencies are measured between two points each, which count as others do. They
	// come after Points, in this order, begin and end.
	Latencies []point.Latency
	firstEnd  int            // the place among Points of the first one's begin
	noSource  bool           // the kernel cannot count points in the source
	Targets   []point.Target // none: units are chosen by sampling

	Scope scope.Scope // which code may be a unit
	// Kernel: that of the running kernel, too. Vmlinux is its image with debug information, for
	// lines; "" for none.
	Kernel  bool
	Vmlinux string
	Paths   sourcepath.Map // how source files are called

	// List: no experiments; units are counted wherever they are, and why those
	// out of scope are is told in the Outcome. Points and targets do not matter.
	List bool

	Kind       string             // of unit: line, func, func-self, file or binary
	Waiting    []ledger.WaitClass // that counts as time of the unit in whose code it is
	Speedups   []int              // percent
	Period     time.Duration      // of sampling
	Finer      bool               // nobody asked for that period: ticks may come more often, see refine
	Experiment time.Duration      // least length of an experiment
	Warmup     time.Duration      // before the first experiment
	Duration   time.Duration      // stop profiling after this; 0: when the program ends
	Repeat     int                // executions of the program; 0: one, or as many as fit in Duration
	Seed       uint64
	// Enough, when set, makes the plan one that cares for the leading units (plan.Race), and is asked now and then
	// whether what the data say is enough: then
	// profiling stops as if Duration were over.
	Enough func(*analyze.Result) bool
	// RunsOn: when Enough says so experiments end, and the program runs on without them. The plan is the usual one.
	RunsOn bool
	// Even makes the plan of the COZ paper, for comparison.
	Even bool

	Output *profile.Writer
	Stdout *os.File // of the program; nil: whatif's own

	// Progress, when set, is called about once a second with all that has been
	// measured so far. The data must not be kept.
	Progress func(Progress)
	Log      *slog.Logger
}

// Rests tells whether all that is asked is where the time goes and how often points are visited: nothing is sped up, no requests
// are timed (how many are under way is looked at when samples are taken), and no point is sampled (its visits are
// periods, and are to mean the same in all runs).
func (c *Config) Rests() bool {
	sampled := func(p point.Spec) bool { return p.Kind == point.Sample }
	return !c.speedsUp() && len(c.Latencies) == 0 && !slices.ContainsFunc(c.Points, sampled)
}

// speedsUp tells whether anything is to be sped up.
func (c *Config) speedsUp() bool {
	return slices.ContainsFunc(c.Speedups, func(percent int) bool { return percent > 0 })
}

// samplesOnly tells whether the scheduler need not be followed, nor interrupts. What a program counts in its own memory is read
// when its threads go to sleep; and an interrupt may pass a tracepoint that its thread does not.
func samplesOnly(c *Config) bool {
	traced := func(p point.Spec) bool { return p.Kind == point.Tracepoint }
	return c.Rests() && len(c.Waiting) == 0 && len(waitTargets(c)) == 0 && !countsSource(c) && !slices.ContainsFunc(c.Points, traced)
}

// Progress is the state of a running session.
type Progress struct {
	Elapsed time.Duration
	Data    *profile.Data
	Visits  []int64 // of each point so far
}

// Outcome is what Profile returns beside what it wrote.
type Outcome struct {
	Status  int // the program's exit status, as a shell would give it
	Data    *profile.Data
	Written bool // all of it is in Config.Output
	Settled bool // Config.Enough said so
	Ended   bool // the program was ended by Duration or Enough, and not by itself or by an interruption
	Listing *Listing
}

// MaxPoints is how many progress points one run can have.
const MaxPoints = ledger.MaxPoints

// longestStop bounds one stop. More than a few sampling periods are only ever owed by a
// thread that slept long; what is left it pays at its next ticks. Where everything is stopped, the machine
// has to stay usable: what is urgent waits for a stop, and for what the stop is prolonged by.
//
// The kernel side prolongs a stop by up to four times this, for what others earn meanwhile, but to 20 ms at most.
func (s *session) longestStop() time.Duration {
	if s.cfg.System {
		return min(2*s.cfg.Period, 2*time.Millisecond)
	}
	return min(4*s.cfg.Period, 20*time.Millisecond)
}
