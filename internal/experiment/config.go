package experiment

import (
	"log/slog"
	"os"
	"slices"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/code/sourcepath"
	"whatif/internal/code/symbol/scope"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/target"
)

const (
	// MaxPoints is how many progress points one run can have.
	MaxPoints = ledger.MaxPoints
	// MaxTogether is how many units can be sped up at once.
	MaxTogether = ledger.MaxSelected
	// MaxLatencies is how many latencies one run can measure.
	MaxLatencies = ledger.MaxSpans
)

// Config says what to profile and how.
type Config struct {
	Args []string // the program and its arguments; none with Attach, and perhaps with System
	User string   // see target.Config
	// RuntimeFlags: what is started gets the variables with which runtimes write down the code that they make.
	RuntimeFlags bool
	// NoJavaAgent: nothing is loaded into Java VMs. Their units are methods then.
	NoJavaAgent bool

	Attach *Attach           // processes that run already; nil: none
	System bool              // all processes; until Args, if there are any, have ended
	Exempt target.Exemptions // from System, besides those that always are

	Points []point.Spec // none: each execution of the program is one experiment
	// Latencies are measured between two points each. Their ends are counted as other points are, and come after Points.
	Latencies []point.Latency
	Targets   []point.Target // none: units are chosen by sampling
	// Together, where set, has an amount in percent for each of Targets: they are sped up at once, as one unit.
	Together []float64

	Scope scope.Scope // which code may be a unit
	// Kernel: code of the running kernel may be a unit, too. Vmlinux is the kernel's image with debug information, for
	// lines; "": none.
	Kernel  bool
	Vmlinux string
	Paths   sourcepath.Map // how source files are called

	// List: no experiments. Units are counted wherever they are, and the Outcome says of those out of scope why they are.
	// Points and targets do not matter.
	List bool

	Kind       string             // of unit: line, func, func-self, file or binary
	Waiting    []ledger.WaitClass // that counts as time of the unit whose code waits
	Speedups   []int              // percent
	Period     time.Duration      // of sampling
	Finer      bool               // Period was not asked for: ticks may come more often, see finerTicks
	Experiment time.Duration      // least length of an experiment
	Warmup     time.Duration      // before the first experiment
	Duration   time.Duration      // stop profiling after this; 0: when the program ends
	Record     time.Duration      // how much of the run is recorded, for estimates, without experiments; 0: nothing
	// RecordAfter is how long experiments come before that; 0: as long as the constant of that name.
	RecordAfter time.Duration
	Repeat      int // executions of the program; 0: one, or as many as fit in Duration
	Seed        uint64
	// Device, where set, is another machine: every other pair of experiments is about it.
	Device *profile.Standing
	// Knobs, where set, is what the program's Place really has of another machine.
	Knobs *profile.Knobs
	Place target.Place
	// Enough, when set, is asked now and then whether the data say enough: then profiling stops as if Duration were over.
	// The plan prefers the leading units (plan.Race).
	Enough func(*analyze.Result) bool
	// RunsOn: when Enough says so, experiments end, and the program runs on without them. The plan is the usual one.
	RunsOn bool
	// Even makes the plan of the COZ paper, for comparison.
	Even bool
	// Without are rules of the kernel side that are switched off, as of ParseRules, to see what they are worth.
	Without []string

	Output *profile.Writer
	Stdout *os.File // of the program; nil: whatif's own

	// Progress, when set, is called about once a second with all that has been measured so far. The data must not be
	// kept.
	Progress func(Progress)
	Log      *slog.Logger
}

// ParseRules reads a list of rules for Config.Without.
func ParseRules(list string) ([]string, error) { return ledger.ParseRules(list) }

// Starts tells whether a program is started for a session.
func (c *Config) Starts() bool { return len(c.Args) > 0 }

// Rests tells whether nothing is asked but where the time goes and how often points are visited. So nothing is sped up;
// no latency is measured, as the requests that are under way are counted when samples are taken; and no point is
// sampled, as its visits are periods, and should mean the same in all runs.
func (c *Config) Rests() bool {
	sampled := func(p point.Spec) bool { return p.Kind == point.Sample }
	return !c.speedsUp() && len(c.Latencies) == 0 && !slices.ContainsFunc(c.Points, sampled)
}

// speedsUp tells whether anything is to be sped up.
func (c *Config) speedsUp() bool {
	return slices.ContainsFunc(c.Speedups, func(percent int) bool { return percent > 0 })
}

// needsScheduler tells whether the kernel side has to follow the scheduler and interrupts: not where nothing but
// samples is asked for. It also has to where points in the source are counted, as they are read when the program's
// threads go to sleep, and where tracepoints are, as an interrupt may pass one and its thread does not.
func (c *Config) needsScheduler(source bool) bool {
	traced := func(p point.Spec) bool { return p.Kind == point.Tracepoint }
	return !c.Rests() || len(c.Waiting) > 0 || len(waitTargets(c)) > 0 || source || slices.ContainsFunc(c.Points, traced)
}

// longestStop bounds one stop. A thread owes more than a few sampling periods only after a long sleep; the rest it pays
// at its next ticks. Where the whole machine is profiled it has to stay usable: urgent work waits for a stop, and for
// what the stop is prolonged by.
//
// The kernel side prolongs a stop by up to four times this, for what other threads earn meanwhile, but to 20 ms at
// most.
func (c *Config) longestStop() time.Duration {
	if c.System {
		return min(2*c.Period, 2*time.Millisecond)
	}
	return min(4*c.Period, 20*time.Millisecond)
}

// Progress is the state of a running session.
type Progress struct {
	Elapsed time.Duration
	Data    *profile.Data // nil while it is recorded
	Visits  []int64       // of each point so far
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
