package experiment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"whatif/internal/coz"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/symbol"
	"whatif/internal/target"
)

// session is one call of Profile.
type session struct {
	cfg      *Config
	ledger   *ledger.Ledger
	units    *unitTable
	sites    *sites
	counters *counters
	coz      *coz.Library // preloaded; nil where the program does not ask for it
	plan     *Plan
	buildIDs map[string]string // see profile.Run

	data    *profile.Data
	told    map[uint32]bool // units that are in the file
	sources *sourceLines
	lost    error // the first record that could not be written
	warned  map[string]bool
	checked bool         // whether the points are visited
	costly  map[int]bool // points of which it was said that counting them is

	start   uint64 // on the ledger's clock
	next    uint64 // when Progress is due
	totals  ledger.Totals
	counted []int64 // samples of the units at the last experiment's end
	before  []int64 // and at the end of the one before
	steal   time.Duration
	own     time.Duration
	foreign []float64 // share of the machine, of the experiments so far
	length  time.Duration

	executions int // of the program, started so far
	carried    carried
	long       bool // experiments are that long because requests are
}

// Profile starts the program, runs experiments until it ends or the time is up,
// and writes what it measured. An error that comes after the program has started
// leaves an Outcome with what was measured.
func Profile(ctx context.Context, cfg Config) (*Outcome, error) {
	s := &session{
		cfg: &cfg, told: make(map[uint32]bool), sources: newSourceLines(), warned: make(map[string]bool),
		plan: NewPlan(cfg.Seed, cfg.Speedups), length: cfg.Experiment, costly: make(map[int]bool),
	}
	if cfg.List {
		cfg.Points, cfg.Targets, cfg.Latencies = nil, nil, nil
	}
	addEnds(&cfg)
	p, err := s.launch(ctx)
	defer func() {
		if err := s.coz.Remove(); err != nil {
			cfg.Log.Warn(err.Error())
		}
	}()
	if err != nil {
		return nil, err
	}
	defer func() { p.Close() }()
	if err := s.open(p); err != nil {
		return nil, err
	}
	var events sync.WaitGroup
	events.Go(func() { s.units.serve(s.sites.execed, s.counters) })
	closeAll := sync.OnceValue(func() error {
		s.sites.close()
		err := s.ledger.Detach()
		events.Wait()
		s.units.close()
		return errors.Join(err, s.ledger.Close())
	})
	defer closeAll()

	if err := s.describe(p); err != nil {
		return nil, err
	}
	if err := s.ledger.StartClock(); err != nil {
		return nil, err
	}
	s.ledger.MeasureTicks()
	s.start = ledger.Now()
	s.next = s.start + uint64(time.Second)
	s.steal, s.own = stealTime(), ownTime()

	run := s.attached
	if s.data.Run.WholeRuns {
		run = s.wholeRuns
	}
	if cfg.List {
		run = s.listing
	}
	last, err := run(ctx, p)
	p = last
	end := profile.End{RealNS: int64(ledger.Now() - s.start), Losses: losses(s.totals)}
	tables := s.ledger.TableUse()
	end.Tables = &profile.Tables{Rows: tables.Rows, MaxRows: tables.MaxRows, Bytes: tables.Bytes}
	// Names that the last processes gave when they ended.
	if err := s.counters.named(); err != nil {
		cfg.Log.Warn(err.Error())
	}
	s.takePoints()
	for i := range cfg.Points {
		end.Visits = append(end.Visits, s.ledger.Visits(i))
		end.CountingNS = append(end.CountingNS, int64(s.ledger.Spent(i)))
	}
	end.Sites = s.sites.counts()
	listing := s.units.listing(s.ledger.Totals())
	if missing := errors.Join(s.sites.missing(), s.counters.missing()); err == nil && missing != nil {
		err = missing
	}
	// The target runs at full speed again before anything else is waited for.
	err = errors.Join(err, closeAll())
	end.Status = s.stop(p)
	s.checkExits(end.Visits)
	s.data.End = &end
	s.write(profile.Record{End: &end})
	return &Outcome{Status: end.Status, Data: s.data, Written: s.lost == nil, Listing: listing}, errors.Join(err, s.lost)
}

// launch starts the program, stopped.
func (s *session) launch(ctx context.Context) (*target.Process, error) {
	p, err := s.startProgram()
	if err != nil {
		return nil, err
	}
	if s.coz == nil && countsSource(s.cfg) && asksForCoz(p) {
		// It has not run yet: start it once more, with what it asks for.
		if s.coz, err = coz.Install(); err != nil {
			p.Close()
			return nil, err
		}
		p.Close()
		if p, err = s.startProgram(); err != nil {
			return nil, err
		}
	}
	p.Forward(ctx)
	return p, nil
}

// startProgram starts the program, with COZ's function where it is to have that.
func (s *session) startProgram() (*target.Process, error) {
	cfg := target.Config{Args: s.cfg.Args, User: s.cfg.User, Stdout: s.cfg.Stdout}
	if s.coz != nil {
		cfg.Preload = s.coz.Path
	}
	return target.Start(cfg)
}

// asksForCoz tells whether a program has COZ's macros.
func asksForCoz(p *target.Process) bool {
	main, err := target.BinaryOf(p.PID())
	if err != nil {
		return false // what comes next says so
	}
	program, err := loaded(main)
	if err != nil {
		return false
	}
	defer func() {
		for _, b := range program {
			b.Close()
		}
	}()
	return hasCoz(paths(program))
}

// open loads the kernel side and makes p its target.
func (s *session) open(p *target.Process) (err error) {
	main, err := target.BinaryOf(p.PID())
	if err != nil {
		return err
	}
	s.ledger, err = ledger.Open(ledger.Options{
		Period: s.cfg.Period, Cap: longestStop * s.cfg.Period, Hold: len(s.cfg.Latencies) > 0, Stacks: wholeStacks(s.cfg), Counters: countsSource(s.cfg),
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.ledger.Close()
		}
	}()
	s.units = newUnitTable(s.ledger, s.cfg, main)
	program, err := loaded(main)
	if err != nil {
		return err
	}
	s.units.takeOver(program[0])
	for _, b := range program[1:] {
		defer b.Close()
	}
	if id := program[0].BuildID(); id != "" {
		s.buildIDs = map[string]string{main: id}
	}
	s.counters = newCounters(s.ledger, s.cfg)
	files := paths(program)
	if s.coz != nil {
		files = append(files, s.coz.Path)
	}
	if err := s.counters.atStart(files); err != nil {
		return err
	}
	s.cfg.Points = append(s.cfg.Points, s.counters.take()...)
	s.sites = newSites(s.ledger, s.cfg)
	s.units.opened = s.sites.in
	if err := s.setSpans(); err != nil {
		return err
	}
	if err := s.sites.atStart(program); err != nil {
		return err
	}
	if err := s.hook(program); err != nil {
		return err
	}
	if err := s.checkTargets(program); err != nil {
		return err
	}
	if slices.ContainsFunc(s.cfg.Points, func(p point.Spec) bool { return p.Probed() }) {
		if err := s.ledger.MeasureProbes(target.OwnCode); err != nil {
			return err
		}
	}
	return s.ledger.Adopt(p.PID(), p.PIDFD())
}

func paths(program []*symbol.Binary) []string {
	var all []string
	for _, b := range program {
		all = append(all, b.Path())
	}
	return all
}

// takePoints makes points of those that were found since the run began.
func (s *session) takePoints() {
	for _, spec := range s.counters.take() {
		p := profile.Point{Name: spec.Name, Kind: string(spec.Kind), Spec: spec.Text}
		s.cfg.Points = append(s.cfg.Points, spec)
		s.data.Run.Points = append(s.data.Run.Points, p)
		s.write(profile.Record{Point: &p})
	}
}

// loaded opens the program and the libraries that it will load.
func loaded(main string) ([]*symbol.Binary, error) {
	b, err := symbol.Open(main)
	if err != nil {
		return nil, err
	}
	program := []*symbol.Binary{b}
	for _, path := range b.Libraries(os.Getenv("LD_LIBRARY_PATH")) {
		if lib, err := symbol.Open(path); err == nil {
			program = append(program, lib)
		}
	}
	return program, nil
}

// checkTargets refuses targets that the program and its libraries do not have,
// unless the program has no symbols: then another that it starts may have them.
func (s *session) checkTargets(program []*symbol.Binary) error {
	if !program[0].HasSymbols() {
		return nil
	}
	for _, t := range s.cfg.Targets {
		if err := point.Check(t, program); err != nil {
			return err
		}
	}
	return nil
}

// checkDebugInfo warns of binaries whose missing debug information shows in
// what was sampled.
func (s *session) checkDebugInfo() {
	for _, text := range s.units.missing() {
		s.warn("debug-info", "%s", text)
	}
}

// describe writes the run record.
func (s *session) describe(p *target.Process) error {
	host, _ := os.Hostname() // a name for the reader; nothing depends on it
	r := &profile.Run{
		Version: profile.Version, ID: strconv.FormatUint(s.cfg.Seed, 36) + "-" + strconv.Itoa(p.PID()),
		Started: time.Now(), Args: s.cfg.Args,
		Host: host, Kernel: kernelRelease(), CPUs: runtime.NumCPU(), CPUModel: cpuModel(),
		PeriodNS: int64(s.cfg.Period), Seed: s.cfg.Seed, Speedups: s.cfg.Speedups,
		WholeRuns: len(s.cfg.Points) == 0 && !s.counters.expected(), BuildIDs: s.buildIDs,
	}
	sites := s.sites.counts()
	for i, spec := range s.cfg.Points {
		r.Points = append(r.Points, profile.Point{Name: spec.Name, Kind: string(spec.Kind), Spec: spec.Text, Sites: sites[i]})
	}
	if r.WholeRuns {
		r.Points = []profile.Point{{Name: "run", Kind: "exit", Spec: "exit"}}
	}
	r.Latencies = latencies(s.cfg)
	for _, t := range s.cfg.Targets {
		r.Targets = append(r.Targets, t.Text)
	}
	s.data = &profile.Data{Run: *r, Units: make(map[uint32]profile.Unit)}
	s.write(profile.Record{Run: r})
	return s.lost // nothing measured yet: better fail now than at the end
}

// write puts a record into the file. The first failure is kept, to be returned at
// the end, and nothing more is written; measuring goes on, for the table.
func (s *session) write(r profile.Record) {
	if s.lost != nil || s.cfg.Output == nil {
		return
	}
	if err := s.cfg.Output.Write(r); err != nil {
		s.lost = hint.New(err, "choose another file with -o FILE; what the present one has of this run can be read")
	}
}

func (s *session) warn(code, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.warned[code+text] {
		return
	}
	s.warned[code+text] = true
	s.cfg.Log.Warn(text)
	w := profile.Warning{Code: code, Text: text}
	s.data.Warnings = append(s.data.Warnings, w)
	s.write(profile.Record{Warning: &w})
}

// record turns a reading into the experiment's record and keeps it.
func (s *session) record(t Trial, r ledger.Reading, setAside string) *profile.Experiment {
	e := profile.Experiment{
		Index: len(s.data.Experiments), StartNS: int64(r.Start - s.start),
		RealNS: int64(r.Real), DelayNS: int64(r.Delay),
		Unit: t.Unit, Speedup: t.Speedup, Pair: t.Pair, SetAside: setAside,
	}
	d := r.Totals.Minus(s.totals)
	s.totals = r.Totals
	e.Samples, e.PausedNS, e.ForeignNS, e.SpinTurns = d.Samples, int64(d.Stopped), int64(d.Foreign), d.Turns
	e.HeldNS, e.UnpaidNS = int64(d.Held), int64(r.Unpaid)
	e.Losses = losses(d)

	counts := s.units.samples()
	for i, n := range counts {
		if i < len(s.counted) {
			n -= s.counted[i]
		}
		if n > 0 {
			if e.UnitSamples == nil {
				e.UnitSamples = make(map[uint32]int64)
			}
			e.UnitSamples[uint32(i+1)] = n
		}
	}
	s.before, s.counted = s.counted, counts
	s.checkDebugInfo()
	s.checkCosts(r.Totals)

	steal, own := stealTime(), ownTime()
	e.StealNS, e.OwnNS = int64(steal-s.steal), int64(own-s.own)
	s.steal, s.own = steal, own

	if s.data.Run.WholeRuns {
		effective := float64(r.Real - r.Delay)
		e.Points = []profile.Visits{{Count: 1, Weight: 1, WindowNS: effective}}
	} else {
		for i := range s.cfg.Points {
			e.Points = append(e.Points, weigh(r.Points[i].Bins, r.Points[i].Width, r.Real, r.Delay))
		}
		e.Latencies = s.spans(r)
	}
	if e.SetAside == "" {
		e.SetAside = s.disturbed(&e)
	}
	s.keep(e)
	return &e
}

func (s *session) keep(e profile.Experiment) {
	for id := range e.UnitSamples {
		s.tell(id)
	}
	if e.Unit != 0 {
		s.tell(e.Unit)
	}
	s.data.Experiments = append(s.data.Experiments, e)
	s.write(profile.Record{Experiment: &e})
}

// tell puts the unit into the file, before the first record that mentions it.
func (s *session) tell(id uint32) {
	if s.told[id] {
		return
	}
	s.told[id] = true
	u := s.units.unit(id)
	if u.Kind == "line" {
		u.Text = s.sources.text(u.File, u.Line, u.Binary)
	}
	s.data.Units[id] = u
	s.write(profile.Record{Unit: &u})
}

// Shares of the machine's time beyond which an experiment is set aside: time
// that the hypervisor took, and by how much foreign tasks ran more than they
// usually do in this run. What is always there is part of the answer.
const (
	tooMuchSteal   = 0.10
	tooMuchForeign = 0.15
)

func (s *session) disturbed(e *profile.Experiment) string {
	machine := float64(e.RealNS) * float64(s.data.Run.CPUs)
	if machine <= 0 {
		return "empty"
	}
	share := float64(e.ForeignNS) / machine
	s.foreign = append(s.foreign, share)
	const enough = 8 // to know what is usual
	switch {
	case float64(e.StealNS)/machine > tooMuchSteal:
		return "steal"
	case len(s.foreign) >= enough && share > median(s.foreign)+tooMuchForeign:
		return "foreign CPU time"
	}
	return ""
}

func median(of []float64) float64 {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// progress reports, at most once a second.
func (s *session) progress() {
	now := ledger.Now()
	if s.cfg.Progress == nil || now < s.next {
		return
	}
	s.next = now + uint64(time.Second)
	p := Progress{Elapsed: time.Duration(now - s.start), Data: s.data}
	for i := range s.cfg.Points {
		p.Visits = append(p.Visits, s.ledger.Visits(i))
	}
	s.cfg.Progress(p)
}

// losses names what was lost in the kernel.
func losses(t ledger.Totals) map[string]int64 {
	var m map[string]int64
	for name, n := range t.Losses() {
		if m == nil {
			m = make(map[string]int64)
		}
		m[name] = n
	}
	return m
}
