package profile

import (
	"path"
	"strings"
)

// Data is what one run left in a file.
type Data struct {
	Run         Run
	Units       map[uint32]Unit   // by Unit.ID; the ids are valid in this run only
	Sources     map[string]string // Source.Sum by Unit.File
	Binaries    map[string]string // Binary.BuildID by path
	Experiments []Experiment      // in the order of the file, which is the order of time
	There       []Experiment      // likewise, about Run.Device
	Warnings    []Warning
	End         *End // nil if the run was killed before it could write it
	// Sampled is the samples of each unit over the whole run, if those of its experiments are not
	// known; else nil.
	Sampled map[uint32]int64

	// Part says that this is another part of the run before it. The baselines of one part are none
	// for the experiments of another.
	Part bool

	File string // file that the run was read from
	Line int    // line of its run record, from 1
	// Torn says that the run's last line was cut short, by a kill or a full disk. All records
	// before it are complete.
	Torn bool
	// recorded is the parts of the run's recording, which Recording puts together.
	recorded recorded
	// Unknown is the number of records that were ignored because their kind is not known.
	Unknown int
}

// OnDevice is the run with the experiments about its other machine in place of those about this one.
func (d *Data) OnDevice() *Data {
	there := *d
	there.Experiments, there.There = d.There, nil
	return &there
}

// UnitKey identifies a unit across runs and files. Ids cannot, because each run numbers the units
// that it meets.
type UnitKey struct {
	Kind, Name, File string
	Line             int
	Func, Binary     string
	Self             bool
}

// Key is the identity of u across runs. All instances of a line are one unit, so Func, the function
// in which the line was met first, is not part of its key. The line at which a function is declared
// is none of its: builds differ in it, and so may what is known of it.
func (u Unit) Key() UnitKey {
	if u.Kind == "line" {
		u.Func = ""
	} else {
		u.Line = 0
	}
	return UnitKey{Kind: u.Kind, Name: u.Name, File: u.File, Line: u.Line, Func: u.Func, Binary: u.Binary, Self: u.Self}
}

// MapFiles applies a function to the paths of all units' source files, and to the names that
// contain them.
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

// TicksEach is the number of ticks in each of the run's periods.
func (e *Experiment) TicksEach() int { return max(1, e.Ticks) }

// IsBaseline says whether nothing was sped up during e. A unit that is sped up by 0% makes a
// baseline too.
func (e *Experiment) IsBaseline() bool { return e.Unit == 0 || e.Speedup == 0 }

// IsPlacebo says whether e delayed everything and made nothing faster, see Placebo.
func (d *Data) IsPlacebo(e *Experiment) bool { return d.Units[e.Unit].Kind == Placebo }
