package experiment

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/code/jit"
	"whatif/internal/code/symbol"
	"whatif/internal/code/unwind"
	"whatif/internal/ledger"
	"whatif/internal/openfile"
	"whatif/internal/privilege"
	"whatif/internal/target"
)

// generated is the code that processes of the target make while they run, as far as their runtimes write it down in a
// perf-PID.map or a jitdump, or an agent tells of it. answer takes the kernel side's questions about it.
type generated struct {
	kernel  codeKernel
	log     *slog.Logger
	noAgent bool // see Config.NoJavaAgent
	// set tells the kernel side what the code at a place is. The process is nil if too many make code.
	set func(m *maker, p ledger.Place, a madeAnswer) error
	// met is called when some code has got a name.
	met func()

	mu       *sync.Mutex // guards all that follows
	budget   jit.Budget
	makers   map[makerID]*maker
	answers  int // of all makers
	named    bool
	runtimes map[*symbol.Binary]*jit.Runtime // whose programs' code has names
	places   map[*symbol.Binary][]ledger.Place
	over     sync.Once
	stop     chan struct{}
	doubts   []string // about Java VMs, not told yet
}

// codeKernel is the part of a kernel side that corrects what it knows of code that is made at run time.
type codeKernel interface {
	SetRule(ledger.Place, unwind.Rule) error
	ForgetTable(ledger.Place) error
	ForgetPlace(ledger.Place) error
	ForgetAddress(ledger.Place) error
}

func newGenerated(k codeKernel, cfg *Config, mu *sync.Mutex) *generated {
	return &generated{
		kernel: k, log: cfg.Log, noAgent: cfg.NoJavaAgent, mu: mu, met: func() {},
		budget: jit.Budget{Left: jit.DefaultBudget}, makers: make(map[makerID]*maker),
		runtimes: make(map[*symbol.Binary]*jit.Runtime), places: make(map[*symbol.Binary][]ledger.Place),
		stop: make(chan struct{}),
	}
}

// makerID is a process as long as it has one address space: by exec it gets another one. For code in a file without
// contents of its own, such as a memfd, the space is 0.
type makerID struct {
	process int
	space   uint64
}

// maker is a process that makes code.
type maker struct {
	process  int
	program  string // its executable
	table    *jit.Table
	follower *jit.Follower // nil: nothing tells what it makes
	file     *os.File
	isDump   bool
	// when the files were looked for last, and how often they were not there
	looked   time.Time
	missed   int
	followed time.Time
	answers  map[ledger.Place]madeAnswer
	told     bool    // that there was no memory for its code
	java     *javaVM // nil: it is no Java virtual machine
}

// madeAnswer is what the kernel side was told of a place.
type madeAnswer struct {
	address uint64
	body    *jit.Body // nil: unknown code
	untold  bool      // it has not been told yet, as the code will be known soon
}

const (
	// followEvery is how often what processes write of their code is read. Until code is known its samples count for the
	// code that called it.
	followEvery = 50 * time.Millisecond
	// followSoon is the same while a Java VM is about to tell of its code: all samples there wait for it.
	followSoon = 5 * time.Millisecond
	// A question is answered with what the file has now, but files are not read for each of many questions.
	followAgain = 2 * time.Millisecond
	// lookAgain is how long whatif waits before it looks for a file again that was not there, and then ever longer, up to
	// longestLook.
	lookAgain   = 50 * time.Millisecond
	longestLook = time.Second
	// mostMakers bounds the processes that are followed; a file is open for each. mostAnswers bounds the places whose
	// answer can still change.
	mostMakers  = 256
	mostAnswers = 1 << 18
)

// answer resolves a place in code that a process has made.
func (g *generated) answer(e ledger.Event) error {
	m := g.makerOf(e)
	if m == nil {
		return g.set(nil, e.Place, madeAnswer{})
	}
	if time.Since(m.followed) > followAgain {
		g.follow(m)
	}
	a := m.find(e.Address)
	switch {
	case m.java == nil:
	case a.body == nil:
		m.java.unknown = true
		a.untold = m.java.isAwaited()
	case m.java.agent != nil:
		g.sharpen(m, a.body)
	}
	kept := g.remember(m, e.Place, a)
	if a.untold && kept {
		return nil // samples there wait for the answer
	}
	return g.set(m, e.Place, a)
}

// remember keeps an answer, which may change, if there is room.
func (g *generated) remember(m *maker, p ledger.Place, a madeAnswer) (kept bool) {
	if g.answers >= mostAnswers {
		return false
	}
	if _, again := m.answers[p]; !again {
		g.answers++
	}
	m.answers[p] = a
	return true
}

// makerOf gives the process that an event is about, nil if there are too many.
func (g *generated) makerOf(e ledger.Event) *maker {
	id := makerID{process: e.Process}
	if e.Generated() || e.Bytecode() {
		id.space = e.Place.Inode
	}
	m := g.makers[id]
	if m == nil && len(g.makers) < mostMakers {
		m = &maker{process: e.Process, table: jit.NewTable(&g.budget), answers: make(map[ledger.Place]madeAnswer)}
		if exe, err := target.Executable(e.Process); err == nil {
			m.program = exe.Path
		}
		m.java = g.javaOf(e.Process)
		g.makers[id] = m
	}
	return m
}

// setGenerated tells the kernel side what the code at a place is.
func (t *unitTable) setGenerated(m *maker, p ledger.Place, a madeAnswer) error {
	if m != nil && m.java != nil && !ledger.IsBytecode(p) {
		t.made.setFrame(m, p, a) // first: when the unit is known, the kernel side keeps both
	}
	if a.body == nil {
		return t.ledger.SetPlace(p, ledger.Code{})
	}
	frames := a.body.Frames(a.address)
	var code ledger.Code
	code.Point, code.Line = pointOf(t.lines, frames)
	return t.setPlace(p, code, module{origin: a.body.Origin(m.program), name: m.program}, frames)
}

// followAll reads what processes write of their code, until stopAll is called.
func (g *generated) followAll() {
	wait := time.NewTimer(followEvery)
	defer wait.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-wait.C:
		}
		next := followEvery
		g.mu.Lock()
		for id, m := range g.makers {
			g.follow(m)
			if m.java != nil && m.java.isAwaited() {
				next = followSoon
			}
			if errors.Is(unix.Kill(m.process, 0), unix.ESRCH) {
				g.forgetMaker(m)
				delete(g.makers, id)
			}
		}
		g.mu.Unlock()
		wait.Reset(next)
	}
}

func (g *generated) stopAll() { g.over.Do(func() { close(g.stop) }) }

// follow reads what a process has written since the last time, and corrects the answers that were given.
func (g *generated) follow(m *maker) {
	m.followed = time.Now()
	changed := false
	if m.java != nil {
		changed = g.followJava(m)
	}
	if m.java == nil || m.java.agent == nil {
		changed = g.followFile(m) || changed
	}
	if m.table.Full() && !m.told {
		m.told = true
		g.log.Warn(fmt.Sprintf("process %d has made more code than there is memory for: "+
			"its newest code belongs to no unit", m.process))
	}
	if changed {
		g.correct(m)
	}
	if m.java != nil && m.java.asksFirst && !m.java.isAwaited() {
		m.java.asksFirst = false
		g.tellUntold(m)
	}
}

// tellUntold answers what was not answered as a Java VM's code was about to be known.
func (g *generated) tellUntold(m *maker) {
	for p, a := range m.answers {
		if !a.untold {
			continue
		}
		a.untold = false
		m.answers[p] = a
		if err := g.set(m, p, a); err != nil {
			g.log.Debug("answering about a place", "error", err)
		}
	}
}

// followFile reads what a process has written; changed reports whether the table may have changed.
func (g *generated) followFile(m *maker) (changed bool) {
	wait := min(longestLook, lookAgain<<min(m.missed, 8))
	if (m.follower == nil || !m.isDump) && time.Since(m.looked) > wait {
		m.looked = time.Now()
		m.missed++
		m.look(g.log)
	}
	if m.follower == nil {
		return false
	}
	changed, _, err := m.follower.Follow()
	if err != nil {
		g.log.Debug(err.Error(), "process", m.process, "file", m.file.Name())
	}
	return changed
}

// correct corrects the answers about a process's code that are other ones now.
func (g *generated) correct(m *maker) {
	g.met()
	for p, was := range m.answers {
		now := m.find(was.address)
		if now.body == was.body {
			continue
		}
		m.answers[p] = now
		err := g.set(m, p, now)
		if forgetting := g.kernel.ForgetAddress(p); err != nil || forgetting != nil {
			g.log.Debug("correcting a place", "error", errors.Join(err, forgetting))
		}
	}
}

// look looks for the files in which a process writes down its code. A jitdump is better: it may have lines.
func (m *maker) look(log *slog.Logger) {
	inner, err := target.InnerOf(m.process)
	if err != nil {
		return // it is gone
	}
	root := fmt.Sprintf("/proc/%d/root", m.process)
	open := func(path string) (f *os.File) {
		privilege.InTarget(func() { f, err = openfile.OwnFile(inner.UID, root, path) })
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			log.Debug("opening what a runtime writes of its code", "process", m.process, "file", path, "error", err)
		}
		return f
	}
	if path := dumpOf(m.process); path != "" {
		if f := open(path); f != nil {
			m.table.Close()
			m.use(f, jit.FollowDump(sized{f}, m.table))
			m.isDump = true
			return
		}
	}
	if m.follower == nil {
		if f := open(jit.MapFile(inner.PID)); f != nil {
			m.use(f, jit.FollowMap(sized{f}, m.table))
		}
	}
}

func (m *maker) use(f *os.File, follower *jit.Follower) {
	if m.file != nil {
		m.file.Close()
	}
	m.file, m.follower = f, follower
}

// forgetFile has the file opened, and read, once more.
func (m *maker) forgetFile() {
	if m.file != nil {
		m.file.Close()
	}
	m.table.Close() // it can be filled again
	m.file, m.follower = nil, nil
}

var dumpName = regexp.MustCompile(`^jit-[0-9]+\.dump$`)

// dumpOf is the path of a process's jitdump, in its own mount namespace; "": it has none. A runtime maps the first page
// of the file as code, to be found by.
func dumpOf(process int) string {
	maps, err := target.Maps(process)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(maps, func(m target.Mapping) bool {
		return !m.Deleted && dumpName.MatchString(filepath.Base(m.Path))
	})
	if i < 0 {
		return ""
	}
	return maps[i].Path
}

// sized makes a jit.File of a file.
type sized struct{ *os.File }

func (s sized) Size() (int64, error) {
	info, err := s.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// forgetMaker gives back what a process has taken that is gone.
func (g *generated) forgetMaker(m *maker) {
	for p := range m.answers {
		if err := errors.Join(g.kernel.ForgetPlace(p), g.kernel.ForgetTable(p)); err != nil {
			g.log.Debug(err.Error())
		}
	}
	g.forgetJava(m)
	g.answers -= len(m.answers)
	m.table.Close()
	if m.file != nil {
		m.file.Close()
	}
}

// close ends all agents. The caller holds mu.
func (g *generated) close() {
	for _, m := range g.makers {
		if m.file != nil {
			m.file.Close()
		}
		g.forgetJava(m)
	}
}

// nameRuntimes is called when a runtime has written down some of its programs' code. From now on the runtime's own code
// counts for the functions of the program that call it, as a library's does: what was said of it before is forgotten.
func (t *unitTable) nameRuntimes() {
	if t.made.named {
		return
	}
	t.made.named = true
	for _, b := range t.binaries {
		if b != nil {
			t.nameRuntime(b)
		}
	}
}

func (t *unitTable) nameRuntime(b *symbol.Binary) {
	runtime := jit.In(b)
	if runtime == nil {
		return
	}
	t.made.runtimes[b] = runtime
	for _, p := range t.made.places[b] {
		if err := t.ledger.ForgetPlace(p); err != nil {
			t.log.Debug(err.Error())
		}
	}
	delete(t.made.places, b)
	delete(t.unitless, b)
}

// originOf is the origin of a binary's code.
func (t *unitTable) originOf(b *symbol.Binary) symbol.Origin {
	o := b.Origin(t.isMain(b))
	if r := t.made.runtimes[b]; r != nil {
		o.Outside = r.Name + "'s runtime"
	}
	return o
}

// interpreted is the share of the samples from which it is worth a warning that an interpreter's loop had them.
const interpreted = 0.05

// interpreters says, once for each runtime, how much of the time it was interpreting code that is not known.
func (t *unitTable) interpreters() (texts []string) {
	counts := t.samples()
	t.mu.Lock()
	defer t.mu.Unlock()
	total, by := int64(0), make(map[*jit.Runtime]int64)
	for i, n := range counts {
		total += n
		if r := t.loops[i]; r != nil && t.outside[i] == "" {
			by[r] += n
		}
	}
	for r, n := range by {
		if t.saidOf[r] || total < 50 || float64(n) < interpreted*float64(total) {
			continue
		}
		t.saidOf[r] = true
		text := fmt.Sprintf("%.0f%% of the samples were in the interpreter, or the engine's own code, of %s: which function "+
			"of the program ran there is not known, so nothing is predicted for it", 100*float64(n)/float64(total), r.Name)
		if r.Switch != "" {
			text += ". Start it with " + r.Switch + ". whatif run --runtime-flags sets a switch by itself; for Node that " +
				"gives functions, not lines"
		}
		texts = append(texts, text)
	}
	slices.Sort(texts)
	return texts
}
