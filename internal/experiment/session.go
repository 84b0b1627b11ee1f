package experiment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"whatif/internal/coz"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/plan"
	"whatif/internal/point"
	"whatif/internal/privilege"
	"whatif/internal/profile"
	"whatif/internal/symbol"
	"whatif/internal/symbol/kernel"
	"whatif/internal/target"
)

// session is one call of Profile.
type session struct {
	cfg       *Config
	ledger    *ledger.Ledger
	kernel    *kernel.Kernel // nil: its code is not to be sped up
	units     *unitTable
	sites     *sites
	counters  *counters
	latencies []profile.Latency // as in the run's record
	coz       string            // the path of the library that is preloaded; "" where the program does not ask for it
	plan      *plan.Plan
	buildIDs  map[string]string // see profile.Run

	data    *profile.Data
	told    map[uint32]bool // units that are in the file
	waits   unitWaits       // as of the last experiment's end, or the next one's begin
	sources *sourceLines
	holding map[string]bool // kinds, see holdOnce
	lost    error           // the first record that could not be written
	later   []point.Target  // that may be in a library that is loaded later
	warned  map[string]bool
	checked map[int]bool // points of which it is known whether they are visited
	costly  map[int]bool // points of which it was said that counting them is

	start          uint64        // on the ledger's clock
	next           uint64        // when Progress is due
	totals         ledger.Totals // see rebase
	before         []int64       // samples of the units as of the experiment before
	steal          time.Duration
	own            time.Duration // of this process, as the experiment before ended, as steal is
	stolen         usual         // by the hypervisor, of the machine's time
	foreign        usual         // by foreign tasks
	length         time.Duration
	stretches      stretches
	delayed        usualDelay
	busyWaits      busyWaits
	saidUnfollowed bool // that has been said
	look           int  // how many experiments there are when the data are looked at next
	settled        bool // Config.Enough said so

	limits      limits
	interrupted string // why the experiment under way cannot be used: see renew
	clocks      clocks

	executions int // of the program, started so far
	carried    carried
	long       bool // experiments are that long because requests are
}

// Profile starts the program, runs experiments until it ends or the time is up,
// and writes what it measured. An error that comes after the program has started
// leaves an Outcome with what was measured.
func Profile(ctx context.Context, cfg Config) (*Outcome, error) {
	s := &session{
		cfg: &cfg, told: make(map[uint32]bool), sources: newSourceLines(), holding: make(map[string]bool), warned: make(map[string]bool),
		plan: newPlan(&cfg), length: cfg.Experiment, stretches: make(stretches), costly: make(map[int]bool), checked: make(map[int]bool),
	}
	if cfg.List {
		cfg.Points, cfg.Targets, cfg.Latencies = nil, nil, nil
	}
	addEnds(&cfg)
	if err := checkSource(&cfg); err != nil {
		return nil, err
	}
	// The kernel checks its programs while the program is started.
	opened := make(chan error, 1)
	go func() { opened <- s.openLedger() }()
	p, err := s.launch(ctx)
	notOpened := <-opened
	defer func() {
		if s.kernel != nil {
			s.kernel.Close()
		}
	}()
	if err != nil {
		if notOpened == nil {
			err = errors.Join(err, s.ledger.Close())
		}
		return nil, err
	}
	defer func() { p.Close() }()
	if notOpened != nil {
		return nil, notOpened
	}
	if err := s.open(p); err != nil {
		return nil, err
	}
	var events sync.WaitGroup
	events.Go(func() { s.units.serve(s.sites.execed, s.counters) })
	// This comes first whenever profiling ends: all else may wait for a slow file, or for debug information to be read.
	detach := sync.OnceValue(s.ledger.Detach)
	defer context.AfterFunc(ctx, func() { detach() })()
	closeAll := sync.OnceValue(func() error {
		detach() // its error is told where it is called first
		p.detach()
		s.sites.close()
		events.Wait()
		s.units.close()
		return s.ledger.Close()
	})
	defer closeAll()

	if err := s.describe(p); err != nil {
		return nil, err
	}
	if cfg.noSource {
		s.warn("no-source-points", "this kernel is too old to count points in the program's source (Linux 6.7): if there are any, they are not")
	}
	if err := s.startClocks(); err != nil {
		return nil, err
	}
	if !s.cfg.Rests() { // else nothing is compared in virtual time, and ticks are few
		s.ledger.MeasureTicks()
	}
	// Not sooner: to start takes long system calls, from which others of whatif's goroutines are to have the processor.
	if err := calmMonitor(); err != nil {
		cfg.Log.Debug(err.Error()) // it would have been cheaper
	}
	defer oneAtATime()()
	s.watchLimits()
	s.start = ledger.Now()
	s.next = s.start + uint64(time.Second)

	run := s.attached
	if s.data.Run.WholeRuns {
		run = s.executionsAsExperiments
	}
	if cfg.List {
		run = s.listing
	}
	last, err := run(ctx, p)
	p = last
	// Told first: the kernel takes probes away only when each core has had time for it, of which a target that
	// keeps all of them busy at a high priority leaves little.
	timeUp := s.timeUp()
	told := timeUp && !p.Ended()
	if timeUp || p.Interrupted() {
		if err := p.tell(s.ledger); err != nil {
			cfg.Log.Warn(err.Error())
		}
	}
	err = errors.Join(err, detach())
	end := profile.End{RealNS: int64(ledger.Now() - s.start), Losses: losses(s.ledger.Totals(0))}
	lost := func(name string, n int64) {
		if end.Losses == nil {
			end.Losses = make(map[string]int64)
		}
		end.Losses[name] = n
	}
	if n := s.ledger.Missed(); n > 0 {
		lost(ledger.MissedEvents, n)
	}
	tables := s.ledger.TableUse()
	end.Tables = &profile.Tables{Rows: tables.Rows, MaxRows: tables.MaxRows, Bytes: tables.Bytes}
	// Names that the last processes gave when they ended.
	if err := s.counters.named(); err != nil {
		cfg.Log.Warn(err.Error())
	}
	if err := s.takePoints(); err != nil {
		cfg.Log.Warn(err.Error())
	}
	for i := range cfg.Points {
		end.Visits = append(end.Visits, s.ledger.Visits(i))
		end.CountingNS = append(end.CountingNS, int64(s.ledger.Spent(i)))
	}
	if left := s.ledger.WaitsUnended(); left != 0 && s.ledger.Processes() == 0 {
		lost(ledger.WaitsLeft, left)
	}
	end.Sites = s.places()
	listing := s.units.listing(s.ledger.Totals(s.units.count()))
	s.checkMachineQuotas()
	s.checkLater()
	if missing := errors.Join(s.sites.missing(), s.counters.missing()); err == nil && missing != nil {
		err = missing
	}
	runsOn := s.settled && cfg.RunsOn && p.alive(s.ledger)
	err = errors.Join(err, closeAll())
	if runsOn {
		s.sayRunsOn()
	}
	status, waiting := p.wait()
	if waiting != nil {
		cfg.Log.Warn(waiting.Error())
	}
	end.Status = status
	s.checkExits(end.Visits)
	s.checkBuilds()
	s.data.End = &end
	s.write(profile.Record{End: &end})
	outcome := &Outcome{Status: end.Status, Data: s.data, Written: s.lost == nil, Settled: s.settled, Listing: listing}
	outcome.Ended = told && !p.Interrupted()
	return outcome, errors.Join(err, s.lost)
}

// startOnce starts the program, stopped.
func (s *session) startOnce() (*started, error) {
	p, err := s.startProgram()
	if err != nil {
		return nil, err
	}
	if s.coz == "" && countsSource(s.cfg) && asksForCoz(p) {
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
	return &started{Process: p, args: s.cfg.Args, log: s.cfg.Log}, nil
}

// startProgram starts the program, with COZ's function where it is to have that.
func (s *session) startProgram() (*target.Process, error) {
	cfg := target.Config{Args: s.cfg.Args, User: s.cfg.User, Stdout: s.cfg.Stdout}
	if s.coz != "" {
		cfg.Preload = s.coz
	}
	return target.Start(cfg)
}

// asksForCoz tells whether a program has COZ's macros.
func asksForCoz(p *target.Process) bool {
	program, err := loaded(p.PID())
	if err != nil {
		return false // what comes next says so
	}
	defer func() {
		for _, b := range program {
			b.Close()
		}
	}()
	return hasCoz(paths(program))
}

// openLedger loads the kernel side.
func (s *session) openLedger() error {
	code, err := s.openKernel()
	if err != nil {
		return err
	}
	s.ledger, err = ledger.Open(ledger.Options{
		Kernel: code, Stops: !s.cfg.Rests() && !s.cfg.List,
		Period: s.cfg.Period, Cap: s.longestStop(), Stacks: wholeStacks(s.cfg), Keys: len(s.cfg.Latencies) > 0, Counters: countsSource(s.cfg),
		UnitWaits: s.cfg.Waiting, Waits: waitTargets(s.cfg), SamplesOnly: samplesOnly(s.cfg), NobodyPays: s.cfg.Rests(),
	})
	if errors.As(err, new(*ledger.AnotherSession)) {
		return hint.New(fmt.Errorf("profiling: %w", err), "wait until it is done, or end it. With -s 0, and neither -l nor a sample: point, nothing is stopped: such a whatif may run beside another")
	}
	return err
}

// open makes p the kernel side's target.
func (s *session) open(p subject) (err error) {
	defer func() {
		if err != nil {
			if s.sites != nil {
				s.sites.close()
			}
			s.ledger.Close()
		}
	}()
	programs, err := p.programs()
	if err != nil {
		return err
	}
	s.units = newUnitTable(s.ledger, s.cfg)
	s.units.kernel = s.kernel
	s.units.addWaits()
	var files []string
	for _, each := range programs {
		s.units.takeOver(each[0])
		defer each[1:].close()
		if id := identify(each[0]); id != "" {
			if s.buildIDs == nil {
				s.buildIDs = make(map[string]string)
			}
			s.buildIDs[each[0].Name()] = id
		}
		files = append(files, paths(each)...)
	}
	s.counters = newCounters(s.ledger, s.cfg)
	if s.coz != "" {
		files = append(files, s.coz)
	}
	if err := s.counters.atStart(files); err != nil {
		return err
	}
	if err := s.checkForgotten(programs); err != nil {
		return err
	}
	found, pairs := s.counters.take()
	s.cfg.Points = append(s.cfg.Points, found...)
	if s.wholeRuns() && !s.cfg.Starts() && !s.cfg.List {
		return errNoPoint
	}
	s.sites = newSites(s.ledger, s.cfg)
	s.units.opened = s.sites.in
	if err := s.measureVisit(); err != nil {
		return err
	}
	if err := s.measure(append(latencies(s.cfg), pairs...)); err != nil {
		return err
	}
	if err := s.sites.atStart(programs); err != nil {
		return err
	}
	if err := s.hook(programs); err != nil {
		return err
	}
	if err := s.checkTargets(programs); err != nil {
		return err
	}
	return p.join(s.ledger)
}

// wholeRuns tells whether each execution of the program is one experiment, for want of
// progress points.
func (s *session) wholeRuns() bool { return len(s.cfg.Points) == 0 && !s.counters.expected() }

func paths(program []*symbol.Binary) []string {
	var all []string
	for _, b := range program {
		all = append(all, b.Path())
	}
	return all
}

// takePoints makes points of those that were found since the run began, and latencies
// of pairs.
func (s *session) takePoints() error {
	points, pairs := s.counters.take()
	for _, spec := range points {
		p := profile.Point{Name: spec.Name, Kind: string(spec.Kind), Spec: spec.Text}
		s.cfg.Points = append(s.cfg.Points, spec)
		s.data.Run.Points = append(s.data.Run.Points, p)
		s.write(profile.Record{Point: &p})
	}
	if err := s.measure(pairs); err != nil {
		return err
	}
	for _, l := range pairs {
		s.data.Run.Latencies = append(s.data.Run.Latencies, l)
		s.write(profile.Record{Latency: &l})
	}
	return nil
}

// places is how many each point is counted at: of the code, and of tables.
func (s *session) places() []int {
	all := s.counters.counts()[:len(s.cfg.Points)]
	for i, n := range s.sites.counts() {
		all[i] += n
	}
	return all
}

// loaded opens the program of a process that has not run yet, and the libraries that it will load.
func loaded(pid int) ([]*symbol.Binary, error) {
	exe, err := target.Executable(pid)
	if err != nil {
		return nil, err
	}
	main, err := target.Reachable(pid, exe)
	if err != nil {
		return nil, err
	}
	b, err := symbol.Open(main)
	if err != nil {
		return nil, err
	}
	if !target.IsMapped(b.Opened(), exe) {
		b.Close()
		return nil, fmt.Errorf("opening %s: %w", main, errOtherFile)
	}
	return append([]*symbol.Binary{b}, b.Libraries(privilege.Getenv("LD_LIBRARY_PATH"))...), nil
}

// checkTargets refuses targets that no program and its libraries have, unless they may still come.
func (s *session) checkTargets(programs []program) error {
	if !haveSymbols(programs) {
		return nil
	}
	for i := range s.cfg.Targets {
		t := &s.cfg.Targets[i]
		if inKernel(s.kernel, t, programs) {
			continue
		}
		if err := inAny(programs, func(p program) error { return point.Check(*t, p) }); err != nil {
			if s.kernel == nil {
				err = perhapsInKernel(err, t, programs)
			}
			if !mayComeLater(s.cfg.Log, err, programs) {
				return err
			}
			s.later = append(s.later, *t)
		}
	}
	return nil
}

// mayComeLater warns of what no program has, if they may load it while they run.
func mayComeLater(log *slog.Logger, missing error, programs []program) bool {
	if !loadCode(programs) {
		return false
	}
	log.Warn(missing.Error() + ": looked for in the libraries that it loads while it runs")
	return true
}

// checkLater warns of targets that were not there at the start, and did not come.
func (s *session) checkLater() {
	for i := range s.later {
		if !s.units.mayMeet(s.later[i]) {
			s.warn("target-nowhere", "target %s: nothing that ran had it", s.later[i].Text)
		}
	}
}

// haveSymbols tells whether what a program has not can be known: all have symbols. One that
// has none, a shell or a launcher, may start another.
func haveSymbols(programs []program) bool {
	return len(programs) > 0 && !slices.ContainsFunc(programs, func(p program) bool { return !p[0].HasSymbols() })
}

// loadCode tells whether some of the programs load code while they run, as interpreters and servers with modules do.
// Libraries of the system are left out: those for names and for encryption can, in any program.
func loadCode(programs []program) bool {
	return slices.ContainsFunc(programs, func(p program) bool {
		return slices.ContainsFunc(p, func(b *symbol.Binary) bool {
			return b.Imports("dlopen") && !b.Origin(b == p[0]).System()
		})
	})
}

// inAny gives the first failure, if nothing succeeds.
func inAny(programs []program, try func(program) error) (failure error) {
	for _, p := range programs {
		err := try(p)
		if err == nil {
			return nil
		}
		if failure == nil {
			failure = err
		}
	}
	return failure
}

// checkDebugInfo warns of binaries whose missing debug information shows in
// what was sampled.
func (s *session) checkDebugInfo() {
	for _, text := range s.units.missing() {
		s.warn("debug-info", "%s", text)
	}
}

// describe writes the run record.
func (s *session) describe(p subject) error {
	host, _ := os.Hostname() // a name for the reader; nothing depends on it
	r := &profile.Run{
		Version: profile.Version, ID: strconv.FormatUint(s.cfg.Seed, 36) + "-" + strconv.Itoa(os.Getpid()),
		Started: time.Now(),
		Host:    host, Kernel: kernelRelease(), CPUs: runtime.NumCPU(), CPUModel: cpuModel(),
		PeriodNS: int64(s.cfg.Period), Seed: s.cfg.Seed, Speedups: s.cfg.Speedups,
		WholeRuns: s.wholeRuns(), BuildIDs: s.buildIDs,
	}
	p.describe(r)
	sites := s.places()
	for i, spec := range s.cfg.Points {
		r.Points = append(r.Points, profile.Point{Name: spec.Name, Kind: string(spec.Kind), Spec: spec.Text, Sites: sites[i]})
	}
	if r.WholeRuns {
		r.Points = []profile.Point{{Name: "run", Kind: "exit", Spec: "exit"}}
	}
	r.Latencies = s.latencies
	for _, t := range s.cfg.Targets {
		r.Targets = append(r.Targets, t.Text)
	}
	for _, class := range s.cfg.Waiting {
		r.Waiting = append(r.Waiting, class.String())
	}
	s.data = &profile.Data{Run: *r, Units: make(map[uint32]profile.Unit), Sources: make(map[string]string), Binaries: make(map[string]string)}
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
	s.cfg.Log.Warn(text, "code", code)
	s.note(code, "%s", text)
}

// note leaves a doubt in the profile, for the table, and does not interrupt for it.
func (s *session) note(code, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if s.warned[code+text] {
		return
	}
	s.warned[code+text] = true
	w := profile.Warning{Code: code, Text: text}
	s.data.Warnings = append(s.data.Warnings, w)
	s.write(profile.Record{Warning: &w})
}

// rebase has the next experiment's counts begin now: what came since the last one's end, as
// a warm-up or the program's start, is no experiment's.
func (s *session) rebase() {
	s.totals = s.ledger.Totals(s.units.count())
	s.steal, s.own = stealTime(), ownTime()
	if s.followsWaits() {
		s.waits = s.readWaits()
	}
}

// begin begins a trial's experiment.
func (s *session) begin(t plan.Trial, length, settle time.Duration) {
	s.hold()
	s.refine()
	s.renew() // now, as these two may take their time
	s.interrupted = ""
	s.ledger.Begin(ledger.Experiment{
		Unit: t.Watch, Wait: s.units.waitOf(t.Watch), Placebo: t.Placebo,
		Delay: s.cfg.Period * time.Duration(t.Speedup) / 100, Length: length, Settle: settle,
	})
}

// end ends the experiment under way.
func (s *session) end() ledger.Reading {
	s.renew() // it may have ended before, without a word: what renew sees is why it cannot be used
	return s.ledger.End(s.units.count())
}

// record turns a reading into the experiment's record and keeps it.
func (s *session) record(t plan.Trial, r ledger.Reading, setAside string) *profile.Experiment {
	e := profile.Experiment{
		Index: len(s.data.Experiments), StartNS: int64(r.Start - s.start),
		RealNS: int64(r.Real), DelayNS: int64(r.Delay),
		Unit: t.Unit, Speedup: t.Speedup, Pair: t.Pair, Chance: round(t.Chance), SetAside: setAside,
	}
	d := r.Totals.Minus(s.totals)
	s.before, s.totals = s.totals.Units, r.Totals
	e.Samples, e.PausedNS, e.ForeignNS, e.SpinTurns = d.Samples, int64(d.Stopped), int64(d.Foreign), d.Turns
	e.TooSoon = d.TooSoon
	e.HeldNS, e.UnpaidNS, e.SpinNS = int64(d.Held), int64(r.Unpaid), int64(d.Turning)
	if ticks := s.ledger.Ticks(); ticks > 1 {
		e.Ticks = ticks
	}
	s.busyWaits.add(d)
	e.DealtNS, e.Wakes, e.NetworkWakes = int64(d.Dealt), d.Wakes, d.NetworkWakes
	e.Losses, e.LevelsNS = losses(d), d.Changes.ByReason()

	s.recordWaits(&e, d.Waited)
	for i, n := range d.Units {
		if n > 0 {
			if e.UnitSamples == nil {
				e.UnitSamples = make(map[uint32]int64)
			}
			e.UnitSamples[uint32(i+1)] = n
		}
	}
	s.checkDebugInfo()
	s.checkCosts(r.Totals)

	steal, own := stealTime(), ownTime()
	e.StealNS, e.OwnNS = int64(steal-s.steal), int64(own-s.own)
	s.steal, s.own = steal, own

	if s.data.Run.WholeRuns {
		effective := float64(max(0, r.Real-r.Delay))
		e.Points = []profile.Visits{{Count: 1, Weight: 1, WindowNS: effective}}
	} else {
		for i := range s.cfg.Points {
			e.Points = append(e.Points, weigh(r.Points[i].Bins, r.Points[i].Width, r.Real, r.Delay))
		}
		e.Latencies = s.spans(r)
	}
	if why := s.unfollowed(); e.SetAside == "" {
		e.SetAside = why
	}
	if why := s.exceeded(); e.SetAside == "" {
		e.SetAside = why
	}
	if e.SetAside == "" {
		e.SetAside = s.disturbed(&e)
	}
	if e.SetAside == "" {
		s.delayed.add(t, &e)
	}
	s.keep(e)
	return &e
}

func (s *session) keep(e profile.Experiment) {
	for id := range e.UnitSamples {
		s.tell(id)
	}
	for id := range e.UnitWaitedNS {
		s.tell(id)
	}
	for id := range e.UnitWaits {
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
		u.Text = s.sources.text(u.File, u.Line, u.Binary, s.units.ownerOf(u.Binary))
	}
	s.tellBinary(u.Binary)
	s.data.Units[id] = u
	s.write(profile.Record{Unit: &u})
	s.tellSource(u.File, s.units.ownerOf(u.Binary))
}

// tellSource says what a unit's source file is now, so that it can be told later whether it
// has changed. A file that is not here, or cannot be read, is nobody's fault.
func (s *session) tellSource(file string, owner uint32) {
	if _, known := s.data.Sources[file]; known || file == "" {
		return
	}
	s.data.Sources[file] = "" // once is enough
	sum := s.sources.sum(file, owner)
	if sum == "" {
		return
	}
	source := profile.Source{File: file, Sum: sum}
	s.data.Sources[file] = source.Sum
	s.write(profile.Record{Source: &source})
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
