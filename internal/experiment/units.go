package experiment

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"whatif/internal/code/jit"
	"whatif/internal/code/sourcepath"
	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/kernel"
	"whatif/internal/code/symbol/scope"
	"whatif/internal/ledger"
	"whatif/internal/plan"
	"whatif/internal/point"
	"whatif/internal/profile"
)

// unitTable knows the units: which one the code at a place belongs to. It answers the kernel side's questions about
// that. A place is asked about once, when it is first sampled; a binary is opened once, for all processes that map it.
type unitTable struct {
	ledger  *ledger.Ledger
	kind    string
	targets []point.Target
	lines   []sampledLine
	mains   map[string]bool                   // names of the main executables: in scope wherever they lie
	any     bool                              // the executable of every process is one of them
	program []*symbol.Binary                  // the main executables, opened; see takeOver
	opened  func(*symbol.Binary, ledger.File) // called for each binary that is opened
	scope   *scope.Scope
	paths   sourcepath.Map
	list    bool           // see Config.List
	stacks  bool           // whole stacks are looked at: places have chains
	kernel  *kernel.Kernel // nil: its code has no units
	log     *slog.Logger

	mu       sync.Mutex
	binaries map[ledger.File]*symbol.Binary
	unitless map[*symbol.Binary]bool // see isUnitless
	vdso     *symbol.VDSO            // nil until it is asked about
	builds   map[string]*build       // by a binary's name
	lacking  map[string]string       // by a binary's name: what it lacks, if code in scope was sampled
	ids      map[unitID]uint32
	units    []profile.Unit // of id i+1
	known    atomic.Int64   // how many units there are, for count
	wanted   []bool         // of id i+1: one of the targets
	outside  []string       // of id i+1: when listing, why it is out of scope
	chains   map[string]uint32
	waits    map[uint32]ledger.WaitClass // units that are classes of waiting
	together *combination                // that all targets are; nil: each is for itself
	full     bool                        // the user was told that there is no room for more units

	made   *generated
	loops  []*jit.Runtime        // of id i+1: it is the loop of this interpreter
	saidOf map[*jit.Runtime]bool // the user was told how much it interpreted

	tablesFull bool // the user was told that there is no room for more tables
}

// newUnitTable makes a table without units. opened is called for each binary that is opened to answer a question.
func newUnitTable(
	l *ledger.Ledger, cfg *Config, k *kernel.Kernel, opened func(*symbol.Binary, ledger.File),
) *unitTable {
	t := &unitTable{
		ledger: l, kernel: k, opened: opened, log: cfg.Log,
		kind: cfg.Kind, targets: cfg.Targets, lines: sampledLines(cfg), any: cfg.System,
		scope: &cfg.Scope, paths: cfg.Paths, list: cfg.List, stacks: wholeStacks(cfg) != nil,
		mains:    make(map[string]bool),
		binaries: make(map[ledger.File]*symbol.Binary),
		unitless: make(map[*symbol.Binary]bool),
		builds:   make(map[string]*build),
		lacking:  make(map[string]string),
		ids:      make(map[unitID]uint32),
		chains:   make(map[string]uint32),
		waits:    make(map[uint32]ledger.WaitClass),
		together: newCombination(cfg),
		saidOf:   make(map[*jit.Runtime]bool),
	}
	t.made = newGenerated(l, cfg, &t.mu)
	t.made.set, t.made.met = t.setGenerated, t.nameRuntimes
	return t
}

// takeOver uses a program's binary, which is open already, for the places in it, and owns it from now on. What the
// first sample would wait for is read now, before the program runs: then it costs no samples. That takes some 10 ms,
// unless there is something to decompress.
func (t *unitTable) takeOver(b *symbol.Binary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.program = append(t.program, b)
	t.mains[b.Name()] = true
	t.noteBuild(b)
	if id, err := t.ledger.Identify(b.Image()); err == nil { // otherwise it is opened again
		t.binaries[id] = b
	}
	if !b.Compressed() {
		b.Origin(true)
	}
}

// isMain tells whether a binary is a program's own, and no library.
func (t *unitTable) isMain(b *symbol.Binary) bool { return t.mains[b.Name()] }

// unitOf is the unit that a chain of frames belongs to, by the first of them that is in scope; 0: none is.
func (t *unitTable) unitOf(m module, frames []symbol.Frame) uint32 {
	if t.list {
		return t.listed(m, frames)
	}
	blamed := t.scope.First(m.origin, frames)
	kind, i, target := t.kind, blamed, -1
	for k := range t.targets {
		if own := ownCode(&t.targets[k], frames, blamed); own >= 0 {
			kind, i, target = t.targets[k].UnitKind(), own, k
			break
		}
	}
	if i < 0 {
		return 0
	}
	t.noteMissing(m)
	u, ok := t.unitFrom(frames[i], kind, m.name)
	if !ok {
		return 0
	}
	if target >= 0 {
		return t.ofTarget(u, target)
	}
	return t.number(u, false, "")
}

// unitID is what tells units apart. When listing, code in scope and code out of scope, for one reason or another, are
// different units.
type unitID struct {
	profile.UnitKey
	outside string
}

// number gives a unit its id, the same whenever it is met.
func (t *unitTable) number(u profile.Unit, wanted bool, outside string) uint32 {
	key := unitID{u.Key(), outside}
	id, known := t.ids[key]
	if !known {
		if len(t.units)+1 >= ledger.MaxUnits || t.stacks && len(t.units)+1 >= ledger.MaxStackUnits {
			t.isFull(fmt.Errorf("%d units, one for each %s, are as many as can be told apart", len(t.units), t.kind))
			return 0
		}
		id = uint32(len(t.units) + 1)
		u.ID = id
		t.ids[key] = id
		t.units = append(t.units, u)
		t.wanted = append(t.wanted, wanted)
		t.outside = append(t.outside, outside)
		t.loops = append(t.loops, loopOf(u))
		t.known.Store(int64(id))
		// A collector's threads sleep nearly all the time, and would do so if collecting were faster.
		if jit.IsPart(u.Name) {
			t.ledger.WaitsForWork(id)
		}
	}
	return id
}

// isFull says, once, what there is no room for.
func (t *unitTable) isFull(why error) {
	if !t.full {
		t.full = true
		t.log.Warn("from here on new code belongs to no unit: " + why.Error())
	}
}

// loopOf is the runtime of which a unit is the interpreter's loop, nil if it is none.
func loopOf(u profile.Unit) *jit.Runtime {
	if u.Func == "" || u.Kind != "func" && u.Kind != "line" {
		return nil
	}
	return jit.LoopOf(u.Func)
}

// unitFrom makes the unit of a frame; none where nothing is known that could name it. Code without lines or a file is
// told apart by function. All instances of a line are one unit, whichever function they were inlined into.
func (t *unitTable) unitFrom(f symbol.Frame, kind, binary string) (profile.Unit, bool) {
	f.File = t.paths.Apply(f.File)
	u := profile.Unit{Kind: kind, File: f.File, Binary: binary}
	switch {
	case kind == "binary":
		u.Name, u.File = filepath.Base(binary), ""
	case kind == "file" && f.File != "":
		u.Name = filepath.Base(f.File)
	case kind == "func" || kind == "func-self" || f.Line == 0 || f.File == "":
		u.Kind, u.Name, u.Func, u.Self, u.Line = "func", f.Short, f.Func, kind != "func", f.Decl
	default:
		u.Line, u.Func = f.Line, f.Short
		u.Name = fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
	}
	return u, u.Name != ""
}

// samples reads the samples of every unit so far; index 0 is unit 1.
func (t *unitTable) samples() []int64 {
	return t.ledger.UnitSamples(t.count())
}

// count is how many units there are so far. It does without mu, which may be locked for as long as a binary is looked
// through: an experiment would be so much longer.
func (t *unitTable) count() int { return int(t.known.Load()) }

// noticeable is the share of the samples in scope from which a binary without debug information is worth a warning: the
// shell that starts a program is not.
const noticeable = 0.02

// noteMissing remembers what debug information a binary lacks in which code in scope was sampled.
func (t *unitTable) noteMissing(m module) {
	if m.binary == nil || m.origin.Part {
		return // that the kernel has no lines is the user's choice: --vmlinux
	}
	if said, known := t.lacking[m.name]; known && said == "" {
		return
	}
	if text := m.binary.Missing(); text != "" {
		t.lacking[m.name] = text
	}
}

// missing says of each binary that matters what debug information it lacks, once.
func (t *unitTable) missing() []string {
	counts := t.samples()
	t.mu.Lock()
	defer t.mu.Unlock()
	total, by := int64(0), make(map[string]int64)
	for i, n := range counts {
		total += n
		by[t.units[i].Binary] += n
	}
	var texts []string
	for path, text := range t.lacking {
		if float64(by[path]) > noticeable*float64(total) && text != "" {
			texts = append(texts, text)
			t.lacking[path] = "" // said
		}
	}
	slices.Sort(texts)
	return texts
}

// unit is the unit of an id that was given out.
func (t *unitTable) unit(id uint32) profile.Unit {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.units[id-1]
}

// candidates are the units that may be tried, weighted with the samples that they have had since before. Named targets
// are tried whether they ran or not, and have all the same weight.
func (t *unitTable) candidates(before []int64) []plan.Candidate {
	now := t.samples()
	t.mu.Lock()
	defer t.mu.Unlock()
	var c []plan.Candidate
	if t.together != nil {
		if id := t.togetherID(); id != 0 {
			c = append(c, plan.Candidate{Unit: id, Samples: 1})
		}
		return c
	}
	for i, n := range now {
		if len(t.targets) > 0 {
			if t.wanted[i] {
				c = append(c, plan.Candidate{Unit: uint32(i + 1), Samples: 1})
			}
			continue
		}
		if i < len(before) {
			n -= before[i]
		}
		// That an interpreter's loop is faster means nothing: all of the program's work is there.
		if n > 0 && t.loops[i] == nil {
			c = append(c, plan.Candidate{Unit: uint32(i + 1), Samples: n})
		}
	}
	return c
}

// placebo is the number of the unit that is no code; 0: there are too many other units.
func (t *unitTable) placebo() uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.number(profile.Unit{Kind: profile.Placebo, Name: profile.Placebo}, false, "")
}

// mayMeet tells whether some code that was met so far has a target.
func (t *unitTable) mayMeet(target point.Target) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, u := range t.units {
		if t.wanted[i] && target.Is(symbol.Frame{Func: u.Func, Short: u.Name, File: u.File, Line: u.Line}) {
			return true // in code that the program has made
		}
	}
	for _, b := range t.binaries {
		if b != nil && point.Check(target, []*symbol.Binary{b}) == nil {
			return true
		}
	}
	return false
}

func (t *unitTable) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.binaries {
		if b != nil {
			b.Close()
		}
	}
	t.made.close()
	for _, b := range t.program {
		b.Close() // a second time does nothing
	}
}
