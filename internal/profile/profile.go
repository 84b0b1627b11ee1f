// Package profile is the file that a run leaves behind: JSON lines, one record in each, appended
// across runs. It holds measurements and no conclusions. Those are package analyze's, so that a
// better analysis can read an old file.
//
// Writing: Append (or Overwrite), then Writer.Write for each record, then Close. Reading: Read or
// ReadFiles, which give one Data for each run.
//
// The order in a file is: a run record; then the binary, unit, source, experiment, recording and
// warning records of that run, as they come; then an end record. A run that was killed has no end
// record, and its last line may be cut short. Reading copes with both. A file has one writer at a
// time (it is locked), so runs never interleave.
//
// Reading a file fails if it is of a later version (VersionError), or if it is damaged
// (DamageError, which says where). Two things are no errors. A line that a kill cut short:
// Data.Torn says that the run ended so. And a record of unknown kind, because a later whatif may
// add kinds without a new version if the rest can be understood without them: Data.Unknown counts
// those.
package profile

import "time"

// Version is the version of the format that this package writes. Files of later versions are
// refused, earlier ones are read.
const Version = 1

// Record is one line of the file. Exactly one field is set.
type Record struct {
	Run        *Run        `json:"run,omitempty"`
	Binary     *Binary     `json:"binary,omitempty"`
	Unit       *Unit       `json:"unit,omitempty"`
	Experiment *Experiment `json:"experiment,omitempty"`
	There      *Experiment `json:"there,omitempty"`   // an experiment about another machine, see Standing
	Point      *Point      `json:"point,omitempty"`   // another point of the Run, found while it ran
	Latency    *Latency    `json:"latency,omitempty"` // likewise
	Source     *Source     `json:"source,omitempty"`
	Recording  *Recording  `json:"recording,omitempty"`
	Warning    *Warning    `json:"warning,omitempty"`
	End        *End        `json:"end,omitempty"`
}

// Run describes one execution of the profiler: what was run, where and how.
type Run struct {
	Version int       `json:"version"`
	ID      string    `json:"id"` // random; the later records of the run follow it in the file
	Started time.Time `json:"started"`
	Args    []string  `json:"args"` // the program and its arguments; if there were several, of one of them
	// Subject says what was profiled. "" is a program that whatif started, with its descendants;
	// "attach" is processes that ran already, those in PIDs; "system" is all processes.
	Subject  string `json:"subject,omitempty"`
	PIDs     []int  `json:"pids,omitempty"`
	Host     string `json:"host"`
	Kernel   string `json:"kernel"`
	CPUs     int    `json:"cpus"`
	CPUModel string `json:"cpu_model,omitempty"`
	Tool     string `json:"tool,omitempty"` // the tool that measured, if it was not whatif
	PeriodNS int64  `json:"period_ns"`      // the sampling period
	Seed     uint64 `json:"seed"`
	Speedups []int  `json:"speedups"` // the levels that the plan draws from, in percent
	// WholeRuns says that each experiment is one whole execution of the program, started and ended
	// with it.
	WholeRuns bool    `json:"whole_runs,omitempty"`
	Points    []Point `json:"points"`
	// Latencies are each measured between two of the points. Experiment.Latencies has the same
	// order, with the latencies that were known by then.
	Latencies []Latency `json:"latencies,omitempty"`
	// Targets are the units that were asked for by name (-t); empty if units were chosen by
	// sampling.
	Targets []string `json:"targets,omitempty"`
	// Together says that the targets are sped up at once, each by its own amount: they are one unit,
	// of kind Together, and experiments with it have a speed-up of 100%. Else it is empty.
	Together []Part `json:"together,omitempty"`
	// Device is the machine that the run's There records are about.
	Device *Standing `json:"device,omitempty"`
	// Knobs is what the program really had of another machine: its network, its disk or both.
	Knobs *Knobs `json:"knobs,omitempty"`
	// Scope is the user's rules on which code may be a unit, as "include KIND:GLOB" or "exclude
	// KIND:GLOB"; empty for the default scope, and in older files.
	Scope []string `json:"scope,omitempty"`
	// Waiting is the classes of waits that count as time of the unit that a thread waits in: disk,
	// net, sleep, lock, child, other.
	Waiting []string `json:"waiting,omitempty"`
	// Unit is the kind of unit that code without a target belongs to (-u); "" in older files, where it
	// is that of the units.
	Unit string `json:"unit,omitempty"`
	// BuildIDs maps the path of a program to its build id, for those known at the start.
	BuildIDs map[string]string `json:"build_ids,omitempty"`
}

// Standing is another machine, as experiments imitate it: whole classes of time are sped up all the
// time, in baselines too, each by what it is faster there than the slowest class is. What is sped up
// in an experiment is so on top. Amounts are parts of the time, from 0 to 1.
type Standing struct {
	Name  string  `json:"name"`
	CPU   float64 `json:"cpu"` // time on a core
	Disk  float64 `json:"disk"`
	Net   float64 `json:"net"`
	Clock float64 `json:"clock"` // what takes as long on all machines
}

// Alike says whether experiments about one machine are experiments about the other, whatever the names.
func (s Standing) Alike(t Standing) bool {
	s.Name = t.Name
	return s == t
}

// Knobs are the limits of a run's network and disk, by which these were as slow as on another
// machine. 0: as here.
type Knobs struct {
	Device      string  `json:"device"`
	Text        string  `json:"text"`                    // the limits, for people
	NetBytes    float64 `json:"net_bytes,omitempty"`     // that loopback transfers in a second
	RoundTripNS int64   `json:"round_trip_ns,omitempty"` // that a round trip to a process outside takes longer
	// The operations and bytes in a second of the disk on which the program was started.
	ReadOps    float64 `json:"read_ops,omitempty"`
	WriteOps   float64 `json:"write_ops,omitempty"`
	ReadBytes  float64 `json:"read_bytes,omitempty"`
	WriteBytes float64 `json:"write_bytes,omitempty"`
}

// Net tells whether the network is limited.
func (k *Knobs) Net() bool { return k.NetBytes > 0 || k.RoundTripNS > 0 }

// Disk tells whether the disk is limited.
func (k *Knobs) Disk() bool {
	return k.ReadOps > 0 || k.WriteOps > 0 || k.ReadBytes > 0 || k.WriteBytes > 0
}

// Point is a progress point of the run. Experiment.Points has the same order, with the points that
// were known by then.
type Point struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // func, exit, …
	Spec string `json:"spec"` // as the user wrote it
	// Sites is the number of places in code at which it was counted when the run began; 0 if it is
	// not counted in code. End.Sites includes places in libraries that were loaded later.
	Sites int `json:"sites,omitempty"`
}

// Latency is the time from one point to another. Begin and End are indices of Run.Points.
type Latency struct {
	Name  string `json:"name"`
	Spec  string `json:"spec"` // as the user wrote it
	Begin int    `json:"begin"`
	End   int    `json:"end"`
	// Found says that whatif found it as a pair of points in the program's source.
	Found bool `json:"found,omitempty"`
}

// Binary is a file of code. Its record comes before that of the first unit in it.
type Binary struct {
	Path string `json:"path"` // as in Unit.Binary
	// BuildID is as in Run.BuildIDs. A file without a build id has one made from its content.
	BuildID string `json:"build_id"`
}

// Unit is a piece of code that can be sped up. Its record comes before the first experiment record
// that mentions its ID.
type Unit struct {
	ID uint32 `json:"id"` // within the run, from 1
	// Kind is line, func, file, binary or path; wait for a class of waits in all code; Together; or
	// Placebo.
	Kind   string `json:"kind"`
	Name   string `json:"name"` // such as parse.c:118
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"` // of a function: where it is declared, if that is known
	Func   string `json:"func,omitempty"`
	Self   bool   `json:"self,omitempty"` // a function's own code only, without the functions that it calls
	Binary string `json:"binary,omitempty"`
	// Text is the text of a line when it was met, if its source was there. Lines move from build to
	// build, so the number does not identify them.
	Text string `json:"text,omitempty"`
}

// Placebo is the kind of the unit that is no code. Its experiments delay the program by
// Experiment.Speedup percent of the time, about as much as other experiments do, and make nothing
// virtually faster. What changes all the same is an error.
const Placebo = "placebo"

// Source is a source file of units as it was during the run. A file that was not found has none.
type Source struct {
	File string `json:"file"`
	Sum  string `json:"sum"` // of the content, see package sourcefile
}

// Experiment is one stretch of time during which one unit was sped up by one amount; in a baseline,
// none was.
type Experiment struct {
	Index   int   `json:"n"`        // from 0, in order of time within the run
	StartNS int64 `json:"start_ns"` // since the run's start
	RealNS  int64 `json:"real_ns"`  // how long it took in real time
	// DelayNS is by how much the global delay G grew; in a baseline, by the time that probes and
	// ticks take. The effective duration of the experiment is RealNS - DelayNS.
	DelayNS int64  `json:"delay_ns"`
	Unit    uint32 `json:"unit"` // 0 for a baseline
	// Pair is the number of the pair, from 1 within the run, of a baseline and an experiment that
	// the plan drew together (in random order); 0 if the plan made no pair. The unit should be
	// chosen before either of the two begins. Then the baseline is as far inside the unit's phase
	// of the program as the experiment, which the phase correction relies on. If no experiment of a
	// run has a pair, package analyze takes neighbours for pairs.
	Pair int `json:"pair,omitempty"`
	// Chance is the probability with which the plan drew the pair's unit from those that ran; 0 if
	// nothing was drawn.
	Chance  float64 `json:"chance,omitempty"`
	Speedup int     `json:"speedup"` // percent; 0 for a baseline
	// Points has the visits of each progress point of the run.
	Points    []Visits    `json:"points"`
	Latencies []Durations `json:"latencies,omitempty"`
	// Samples is the number of samples of the target, and UnitSamples of each unit that had any.
	// They are scaled to one tick in each of the run's periods.
	Samples     int64            `json:"samples"`
	UnitSamples map[uint32]int64 `json:"unit_samples,omitempty"`
	// TooSoon is those samples of the unit sped up that are of periodic threads which come too
	// often in virtual time (docs/statistics.md).
	TooSoon int64 `json:"too_soon,omitempty"`
	// UnitWaits is, for each unit, the time in which at least one thread waited in its code and the
	// wait counted as the unit's time (Run.Waiting). With UnitSamples, it is how much the unit took
	// part. WaitedNS is the time that threads waited, in units and elsewhere, summed over threads,
	// by class of wait; UnitWaitedNS the same for each unit.
	UnitWaits    map[uint32]int64            `json:"unit_waits,omitempty"`
	WaitedNS     map[string]int64            `json:"waited_ns,omitempty"`
	UnitWaitedNS map[uint32]map[string]int64 `json:"unit_waited_ns,omitempty"`
	// The rest is needed to judge the experiment.
	Ticks     int   `json:"ticks,omitempty"`      // ticks in each of the run's periods, if more than one: see TicksEach
	PausedNS  int64 `json:"paused_ns"`            // time that cores were really stopped, summed over cores
	HeldNS    int64 `json:"held_ns,omitempty"`    // return delays: time that threads waited after a sleep
	UnpaidNS  int64 `json:"unpaid_ns"`            // largest debt left at the end
	StealNS   int64 `json:"steal_ns,omitempty"`   // taken by the hypervisor, summed over cores
	ForeignNS int64 `json:"foreign_ns,omitempty"` // CPU time of tasks outside the target that have nothing to do with it
	DealtNS   int64 `json:"dealt_ns,omitempty"`   // CPU time of outsiders that the target talks to, such as its clients
	// Wakes is how often a thread of the target was woken, and NetworkWakes how often by a packet
	// from another machine.
	Wakes        int64 `json:"wakes,omitempty"`
	NetworkWakes int64 `json:"network_wakes,omitempty"`
	OwnNS        int64 `json:"own_ns,omitempty"`     // CPU time of whatif itself
	SpinTurns    int64 `json:"spin_turns,omitempty"` // turns of the loops of stopped cores; too few show hidden contention
	SpinNS       int64 `json:"spin_ns,omitempty"`    // time of those turns, summed over cores; 0 in older files
	// LevelsNS is by how much the levels of the target's threads changed, summed over threads, by
	// the reason of the change (bpf/vtime/level.h).
	LevelsNS map[string]int64 `json:"levels_ns,omitempty"`
	// Losses is what was lost in the kernel, by name, without zeros.
	Losses map[string]int64 `json:"losses,omitempty"`
	// SetAside is the reason why the runner discarded the experiment ("steal", "ended early", …);
	// empty for a good one.
	SetAside string `json:"set_aside,omitempty"`
}

// Visits is what one progress point did in one experiment. Weight is the number of visits weighted
// by a window that fades in and out. (The window's edges fall between visits, and a hard edge would
// count one too many or too few.) WindowNS is the window's area in effective (virtual) time. The
// rate is Weight/WindowNS.
type Visits struct {
	Count    int64   `json:"count"`
	Weight   float64 `json:"weight"`
	WindowNS float64 `json:"window_ns"`
}

// Warning is a doubt that arose during a run.
type Warning struct {
	Code string `json:"code"` // such as foreign-cpu or never-visited
	Text string `json:"text"`
}

// End is the last record of a run that was not killed.
type End struct {
	RealNS int64 `json:"real_ns"`
	Status int   `json:"status"` // the program's exit status, as a shell gives it
	// Ended says that whatif ended the program, because its time was over or enough was known.
	Ended  bool    `json:"ended,omitempty"`
	Visits []int64 `json:"visits"` // of each point, over the whole run
	// Sites is the number of places of each point at the end, and CountingNS the time that counting
	// its visits took.
	Sites      []int            `json:"sites,omitempty"`
	CountingNS []int64          `json:"counting_ns,omitempty"`
	Losses     map[string]int64 `json:"losses,omitempty"`
	Tables     *Tables          `json:"tables,omitempty"`
}

// Tables is how much of the kernel's memory for unwind tables the run used.
type Tables struct {
	Rows    int `json:"rows"`
	MaxRows int `json:"max_rows"`
	Bytes   int `json:"bytes"` // of the whole memory, used or not
}
