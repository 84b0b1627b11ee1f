// Package profile is the file that a run leaves behind: JSON lines, one record
// a line, appended across runs. It holds what was measured and nothing that was
// concluded from it: conclusions are package analyze's, so that a better
// analysis can read an old file.
//
// The order in a file is: a run record, then as they come binary, unit, source, experiment
// and warning records of that run, then an end record. A run that was killed has no
// end record; its last line may be cut short. Reading copes with both. A file
// has one writer at a time (it is locked), so runs never interleave.
//
// Writing: Append, then Writer.Write for each record, then Close.
// Reading: Read or ReadFiles, which give one Data for each run.
//
// What can be wrong with a file when it is read: it comes from a later version
// (VersionError), or it is damaged (DamageError, which says where). A line that
// a kill cut short is neither: Data.Torn says that the run ended so. Nor is a record of a kind
// that is not known: a later whatif may add kinds without a new version where the rest can be
// understood without them. Data.Unknown counts those.
package profile

import "time"

// Version is the version of the format that this package writes. A file of a
// later version is refused; earlier ones are read.
const Version = 1

// Record is one line of the file: exactly one field is set.
type Record struct {
	Run        *Run        `json:"run,omitempty"`
	Binary     *Binary     `json:"binary,omitempty"`
	Unit       *Unit       `json:"unit,omitempty"`
	Experiment *Experiment `json:"experiment,omitempty"`
	Point      *Point      `json:"point,omitempty"`   // one more for the Run: found while it ran
	Latency    *Latency    `json:"latency,omitempty"` // likewise
	Source     *Source     `json:"source,omitempty"`
	Warning    *Warning    `json:"warning,omitempty"`
	End        *End        `json:"end,omitempty"`
}

// Run describes one execution of the profiler: what was run, where and how.
type Run struct {
	Version int       `json:"version"`
	ID      string    `json:"id"` // random; later records of the run follow it in the file
	Started time.Time `json:"started"`
	Args    []string  `json:"args"` // the program and its arguments; of several, one
	// Subject says what was profiled where that was not only a program that whatif started, and its
	// descendants: "attach", processes that ran already, PIDs; "system", all.
	Subject  string `json:"subject,omitempty"`
	PIDs     []int  `json:"pids,omitempty"`
	Host     string `json:"host"`
	Kernel   string `json:"kernel"`
	CPUs     int    `json:"cpus"`
	CPUModel string `json:"cpu_model,omitempty"`
	Tool     string `json:"tool,omitempty"` // that measured, if it was not whatif
	PeriodNS int64  `json:"period_ns"`      // the sampling period
	Seed     uint64 `json:"seed"`
	Speedups []int  `json:"speedups"` // the levels that the plan draws from, in percent
	// WholeRuns is set when an experiment is one whole execution of the
	// program, started and ended with it.
	WholeRuns bool    `json:"whole_runs,omitempty"`
	Points    []Point `json:"points"`
	// Latencies are measured between two of the points each. Experiment.Latencies
	// has the same order, and those that were known by then.
	Latencies []Latency `json:"latencies,omitempty"`
	// Targets are the units that were asked for by name (-t); empty when they
	// were chosen by sampling.
	Targets []string `json:"targets,omitempty"`
	// Waiting are the classes of waiting that count as time of the unit in whose code
	// a thread waits: disk, net, sleep, lock, child, other.
	Waiting []string `json:"waiting,omitempty"`
	// BuildIDs: path of a program to its build id, for those known at the start.
	BuildIDs map[string]string `json:"build_ids,omitempty"`
}

// Point is a progress point of the run. Experiment.Points has the same order, and those
// points that were known by then.
type Point struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // func, exit, …
	Spec string `json:"spec"` // as the user wrote it
	// Sites is how many places in code it was counted at when the run began; those in libraries that
	// were loaded later are in End.Sites. 0 for what is not counted in code.
	Sites int `json:"sites,omitempty"`
}

// Latency is the time from one point to another. Begin and End are places in
// Run.Points.
type Latency struct {
	Name  string `json:"name"`
	Spec  string `json:"spec"` // as the user wrote it
	Begin int    `json:"begin"`
	End   int    `json:"end"`
	// Found: nobody asked for it, it is a pair in the program's source.
	Found bool `json:"found,omitempty"`
}

// Binary is a file of code. Its record comes before that of the first unit in it.
type Binary struct {
	Path string `json:"path"` // as in Unit.Binary
	// BuildID is as in Run.BuildIDs; of a file without one it is made of the content.
	BuildID string `json:"build_id"`
}

// Unit is a piece of code that can be sped up. A unit record comes before the
// first experiment record that mentions its ID.
type Unit struct {
	ID     uint32 `json:"id"`   // within the run, from 1
	Kind   string `json:"kind"` // line, func, file, binary, path; wait: a class of waiting, in all code; Placebo
	Name   string `json:"name"` // parse.c:118
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Func   string `json:"func,omitempty"`
	Self   bool   `json:"self,omitempty"` // of a function its own code only, not what it calls
	Binary string `json:"binary,omitempty"`
	// Text is what a line said when it was met, if its source was there: lines move.
	Text string `json:"text,omitempty"`
}

// Placebo is the kind of the unit that is no code. In its experiments the program is delayed by Experiment.Speedup
// percent of the time, about as much as in the others, and nothing is virtually faster: what still changes is an error.
const Placebo = "placebo"

// Source is a source file as it was while the run went on: the File of units. There is
// none for a file that was not found.
type Source struct {
	File string `json:"file"`
	Sum  string `json:"sum"` // of the content, see package sourcefile
}

// Experiment is one stretch of time during which one unit was (or, for a
// baseline, nothing was) sped up by one amount.
type Experiment struct {
	Index   int   `json:"n"`        // from 0, in order of time within the run
	StartNS int64 `json:"start_ns"` // since the run's start
	RealNS  int64 `json:"real_ns"`  // how long it took on the wall clock
	// DelayNS is by how much the global delay G grew, in a baseline by what probes and
	// ticks take; the effective duration of the experiment is RealNS - DelayNS.
	DelayNS int64  `json:"delay_ns"`
	Unit    uint32 `json:"unit"` // 0 for a baseline
	// Pair is the same for the baseline and the experiment that the plan drew
	// together (in random order), from 1 within the run; 0 if the plan made no
	// pair. The unit should be chosen before either of the two begins: then the
	// baseline is as far inside the unit's phase of the program as the experiment,
	// on which phase correction relies. Where no experiment of a run has a pair,
	// package analyze takes neighbours for pairs.
	Pair int `json:"pair,omitempty"`
	// Chance is the probability with which the plan drew the pair's unit, among those that
	// ran; 0 where nothing was drawn.
	Chance  float64 `json:"chance,omitempty"`
	Speedup int     `json:"speedup"` // percent; 0 for a baseline
	// Points: what each progress point of the run did meanwhile.
	Points    []Visits    `json:"points"`
	Latencies []Durations `json:"latencies,omitempty"`
	// Samples of the target, as many as in each of the run's periods there were: of all of it, and of each unit that had any.
	Samples     int64            `json:"samples"`
	UnitSamples map[uint32]int64 `json:"unit_samples,omitempty"`
	// TooSoon: those of the unit sped up by threads that come too often in virtual time, as the clock has them (docs/statistics.md).
	TooSoon int64 `json:"too_soon,omitempty"`
	// UnitWaits: of each unit, the time for which at least one thread waited in its code for what
	// counts as the unit's time (Run.Waiting); with UnitSamples, that is how much the
	// unit took part. WaitedNS: what threads waited for, in units and elsewhere, summed over the
	// threads, by class; and of each unit.
	UnitWaits    map[uint32]int64            `json:"unit_waits,omitempty"`
	WaitedNS     map[string]int64            `json:"waited_ns,omitempty"`
	UnitWaitedNS map[uint32]map[string]int64 `json:"unit_waited_ns,omitempty"`
	// What is needed to judge the experiment.
	Ticks     int   `json:"ticks,omitempty"`      // in each of the run's periods, where that was more than one: see TicksEach
	PausedNS  int64 `json:"paused_ns"`            // time that cores were really stopped, summed over them
	HeldNS    int64 `json:"held_ns,omitempty"`    // time that threads which had slept by the clock were kept from going on
	UnpaidNS  int64 `json:"unpaid_ns"`            // largest debt left at the end
	StealNS   int64 `json:"steal_ns,omitempty"`   // taken by the hypervisor, summed over cores
	ForeignNS int64 `json:"foreign_ns,omitempty"` // CPU time of tasks outside the target that have nothing to do with it
	DealtNS   int64 `json:"dealt_ns,omitempty"`   // CPU time of those that it deals with, such as its clients
	// Times that a thread of the target was woken, and those that were by a packet from another machine.
	Wakes        int64 `json:"wakes,omitempty"`
	NetworkWakes int64 `json:"network_wakes,omitempty"`
	OwnNS        int64 `json:"own_ns,omitempty"`     // CPU time of whatif itself
	SpinTurns    int64 `json:"spin_turns,omitempty"` // loop turns while stopped: the canary for hidden contention
	SpinNS       int64 `json:"spin_ns,omitempty"`    // for which there were those turns, summed over cores; 0 in older files
	// LevelsNS is by how much the levels of the target's threads changed, by reason (bpf/vtime/level.h), summed over
	// them: why they were charged for delays, or not.
	LevelsNS map[string]int64 `json:"levels_ns,omitempty"`
	// Losses counted in the kernel, by name; only those that are not zero.
	Losses map[string]int64 `json:"losses,omitempty"`
	// SetAside says why the runner found that the experiment should not be
	// used ("steal", "ended early", …); empty for a good one.
	SetAside string `json:"set_aside,omitempty"`
}

// Visits is what one progress point did in one experiment. Weight is the number
// of visits weighted by a window that fades in and out (its edges fall between
// visits, and a hard edge would count one too many or too few), and WindowNS is
// that window's area in effective (virtual) time: the rate is Weight/WindowNS.
type Visits struct {
	Count    int64   `json:"count"`
	Weight   float64 `json:"weight"`
	WindowNS float64 `json:"window_ns"`
}

// Warning is a doubt that arose while measuring.
type Warning struct {
	Code string `json:"code"` // foreign-cpu, never-visited, …
	Text string `json:"text"`
}

// End is the last record of a run that was not killed.
type End struct {
	RealNS int64   `json:"real_ns"`
	Status int     `json:"status"` // the program's exit status, as a shell would give it
	Visits []int64 `json:"visits"` // of each point, over the whole run
	// Sites of each point in the end; CountingNS is what counting its visits took.
	Sites      []int            `json:"sites,omitempty"`
	CountingNS []int64          `json:"counting_ns,omitempty"`
	Losses     map[string]int64 `json:"losses,omitempty"`
	Tables     *Tables          `json:"tables,omitempty"`
}

// Tables is how much of the kernel's memory for unwind tables the run used.
type Tables struct {
	Rows    int `json:"rows"`
	MaxRows int `json:"max_rows"`
	Bytes   int `json:"bytes"` // of all of it, used or not
}
