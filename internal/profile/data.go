package profile

import (
	"path"
	"strings"
)

// Data is what one run left in a file.
type Data struct {
	Run         Run
	Units       map[uint32]Unit   // by Unit.ID; the ids mean nothing outside the run
	Sources     map[string]string // by Unit.File: Source.Sum
	Binaries    map[string]string // by path: Binary.BuildID
	Experiments []Experiment      // in the order of the file, which is the order of time
	Warnings    []Warning
	End         *End // nil when the run was killed before it could write it
	// Sampled is the samples of each unit over the whole run, where those of its
	// experiments are not known; else nil.
	Sampled map[uint32]int64

	// Part is set for more of the run before, whose baselines are none for these
	// experiments, nor the other way round.
	Part bool

	File string // where the run was read from
	Line int    // of its run record, from 1
	// Torn is set when the run's last line was cut short, as a kill or a full
	// disk leaves it. What came before it is complete.
	Torn bool
	// Unknown is how many records were passed over because their kind is not known.
	Unknown int
}

// UnitKey identifies a unit across runs and files. Ids cannot: each run numbers
// the units that it meets.
type UnitKey struct {
	Kind, Name, File string
	Line             int
	Func, Binary     string
	Self             bool
}

// Key is the identity of u across runs. All instances of a line are one unit, and Func is
// that in which it was met first: no part of what it is.
func (u Unit) Key() UnitKey {
	if u.Kind == "line" {
		u.Func = ""
	}
	return UnitKey{Kind: u.Kind, Name: u.Name, File: u.File, Line: u.Line, Func: u.Func, Binary: u.Binary, Self: u.Self}
}

// MapFiles changes the paths of all units' source files, and the names that are
// made of them.
func (d *Data) MapFiles(apply func(file string) string) {
	sources := make(map[string]string, len(d.Sources))
	for file, sum := range d.Sources {
		sources[apply(file)] = sum
	}
	d.Sources = sources
	for id, u := range d.Units {
		to := apply(u.File)
		if u.File == "" || to == u.File {
			continue
		}
		if rest, ok := strings.CutPrefix(u.Name, path.Base(u.File)); ok && u.Kind != "func" {
			u.Name = path.Base(to) + rest
		}
		u.File = to
		d.Units[id] = u
	}
}

// TicksEach is how many ticks came in each of the run's periods.
func (e *Experiment) TicksEach() int { return max(1, e.Ticks) }

// IsBaseline says whether e is one of the experiments during which nothing was
// sped up. A unit that is sped up by nothing is one too.
func (e *Experiment) IsBaseline() bool { return e.Unit == 0 || e.Speedup == 0 }

// IsPlacebo says whether e delayed everything for nothing: see Placebo.
func (d *Data) IsPlacebo(e *Experiment) bool { return d.Units[e.Unit].Kind == Placebo }
