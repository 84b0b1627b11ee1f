package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"whatif/internal/code/symbol/kernel"
	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
)

// Profile starts the program, runs experiments until it ends or the time is up, and writes what it measured. An error
// that comes after the program has started leaves an Outcome with what was measured.
func Profile(ctx context.Context, cfg Config) (*Outcome, error) {
	if cfg.List {
		cfg.Points, cfg.Targets, cfg.Latencies = nil, nil, nil
	}
	cfg.Points = probes.WithEnds(cfg.Points, cfg.Latencies)
	wantsSource := !cfg.List && probes.WantsSource(cfg.Points)
	countsSource := false
	if wantsSource {
		var err error
		if countsSource, err = probes.CountsSource(cfg.Points); err != nil {
			return nil, err
		}
	}
	r := &run{cfg: &cfg, source: countsSource, launcher: &launcher{
		cfg: &cfg, source: countsSource, exempt: &exemptions{of: cfg.Exempt, log: cfg.Log},
		java: countsSource && !cfg.NoJavaAgent && probes.MayBeInJava(cfg.Points),
	}}
	defer r.launcher.close()
	defer r.closeKernel()
	if err := r.load(ctx); err != nil {
		return nil, err
	}
	defer func() { r.subject.Close() }()
	if err := r.open(); err != nil {
		return nil, err
	}
	defer r.serve(ctx)()
	if err := r.describe(); err != nil {
		return nil, err
	}
	if len(cfg.Without) > 0 {
		r.rec.warn("rules-off", "rules of the kernel side are switched off (WHATIF_WITHOUT): %s. The gains of programs that "+
			"need them are wrong on purpose", strings.Join(cfg.Without, ", "))
	}
	if wantsSource && !countsSource {
		r.rec.warn("no-source-points", "this kernel is too old to count points in the program's source (Linux 6.7): "+
			"if there are any, they are not")
	}
	clocks, err := startClocks(r.ledger, r.rec, r.cfg)
	if err != nil {
		return nil, err
	}
	// Not sooner: in VMs that run already the kernel side finds the counters at ticks.
	if err := r.probes.FollowJava(r.ledger.Members, r.launcher.starting); err != nil {
		return nil, err
	}
	if !cfg.Rests() { // else nothing is compared in virtual time, and ticks are few
		r.ledger.MeasureTicks()
	}
	// Not sooner: while whatif starts, it makes long system calls, and its other goroutines need the processor.
	if err := calmMonitor(); err != nil {
		cfg.Log.Debug(err.Error()) // it only costs more
	}
	defer oneAtATime()()
	r.assemble(clocks)
	r.subject, err = r.loop.run(ctx, r.subject)
	return r.finish(err)
}

// run is one call of Profile. It opens what a session needs, puts the parts together, and closes all at the end.
type run struct {
	cfg      *Config
	source   bool // points in the program's source are counted
	launcher *launcher
	kernel   *kernel.Kernel // nil: its code is not to be sped up
	ledger   *ledger.Ledger
	subject  subject // of several executions of a program the last
	probes   *probes.Probes
	units    *unitTable
	buildIDs map[string]string // see profile.Run
	later    []point.Target    // that may be in a library that is loaded later
	rec      *recorder
	watch    *watchers
	loop     *trialLoop

	events sync.WaitGroup // the goroutine that answers the kernel side
	detach func() error   // ends all that the ledger does in the kernel; once
	close  func() error   // closes all; once
}

// load starts the program, stopped, and loads the kernel side. The kernel checks its programs meanwhile.
func (r *run) load(ctx context.Context) error {
	opened := make(chan error, 1)
	go func() { opened <- r.openLedger() }()
	p, err := r.launcher.launch(ctx)
	notOpened := <-opened
	switch {
	case err != nil && notOpened == nil:
		return errors.Join(err, r.ledger.Close())
	case err != nil:
		return err
	case notOpened != nil:
		p.Close()
		return notOpened
	}
	r.subject = p
	return nil
}

// openLedger loads the kernel side.
func (r *run) openLedger() error {
	code, err := r.openKernel()
	if err != nil {
		return err
	}
	cfg := r.cfg
	r.ledger, err = ledger.Open(ledger.Options{
		Kernel: code, Stops: !cfg.Rests() && !cfg.List, Period: cfg.Period, Cap: cfg.longestStop(),
		Stacks: wholeStacks(cfg), Keys: len(cfg.Latencies) > 0, Counters: r.source,
		UnitWaits: cfg.Waiting, Waits: waitTargets(cfg),
		SamplesOnly: !cfg.needsScheduler(r.source), NobodyPays: cfg.Rests(), Without: cfg.Without,
	})
	if errors.As(err, new(*ledger.AnotherSession)) {
		return hint.New(fmt.Errorf("profiling: %w", err), "wait until it is done, or end it. With -s 0, and neither -l nor "+
			"a sample: point, nothing is stopped: such a whatif may run beside another")
	}
	return err
}

func (r *run) closeKernel() {
	if r.kernel != nil {
		r.kernel.Close()
	}
}

// open makes the subject the kernel side's target, and has the visits of its points counted. If it fails the ledger is
// closed.
func (r *run) open() (err error) {
	r.probes = probes.New(r.ledger, probesOptions(r.cfg, r.source))
	defer func() {
		if err != nil {
			r.probes.Close()
			r.ledger.Close()
		}
	}()
	programs, err := r.subject.programs()
	if err != nil {
		return err
	}
	r.units = newUnitTable(r.ledger, r.cfg, r.kernel, r.probes.LookInto)
	r.units.addWaits()
	for _, each := range programs {
		r.units.takeOver(each[0])
		defer each[1:].Close()
		if id := identify(each[0]); id != "" {
			if r.buildIDs == nil {
				r.buildIDs = make(map[string]string)
			}
			r.buildIDs[each[0].Name()] = id
		}
	}
	var preloaded []string
	for _, path := range []string{r.launcher.coz, r.launcher.agent} {
		if path != "" {
			preloaded = append(preloaded, path)
		}
	}
	if err := r.probes.FindInSource(programs, preloaded...); err != nil {
		return err
	}
	if !r.probes.HasPoints() && !r.cfg.Starts() && !r.cfg.List {
		return errNoPoint
	}
	if err := r.probes.Attach(programs); err != nil {
		return err
	}
	if err := r.checkTargets(programs); err != nil {
		return err
	}
	return r.subject.join(r.ledger)
}

// probesOptions says what is to be probed.
func probesOptions(cfg *Config, source bool) probes.Options {
	return probes.Options{
		Points: cfg.Points, Latencies: cfg.Latencies, Source: source,
		Sleeps: slices.Contains(cfg.Waiting, ledger.WaitSleep), Goroutines: cfg.speedsUp(),
		NoJavaAgent: cfg.NoJavaAgent, Period: cfg.Period, Log: cfg.Log,
	}
}

// serve answers the kernel side's questions until the function that it returns is called, which closes all.
func (r *run) serve(ctx context.Context) (stop func()) {
	r.events.Go(func() { r.units.serve(r.probes) })
	r.events.Go(r.units.made.followAll)
	// To detach comes first whenever profiling ends: all else may wait for a slow file, or for debug information to be
	// read.
	r.detach = sync.OnceValue(r.ledger.Detach)
	disregard := context.AfterFunc(ctx, func() { r.detach() })
	r.close = sync.OnceValue(func() error {
		r.detach() // its error is told where it is called first
		r.subject.detach()
		r.probes.Close()
		r.units.made.stopAll()
		r.events.Wait()
		r.units.close()
		return r.ledger.Close()
	})
	return func() {
		r.close()
		disregard()
	}
}

// assemble puts together the loop of experiments and all that it needs. What is measured begins now.
func (r *run) assemble(clocks *clocks) {
	cfg, l, rec := r.cfg, r.ledger, r.rec
	limits, quotas := watchLimits(rec), watchQuotas(l, rec, cfg)
	start := ledger.Now()
	r.watch = &watchers{
		lease: &lease{ledger: l, rec: rec}, limits: limits, quotas: quotas, clocks: clocks,
		disturbance: &disturbance{cpus: rec.data.Run.CPUs},
		newCode:     watchNewCode(cfg, rec.data.Run.WholeRuns),
		following:   &following{probes: r.probes, rec: rec},
		delays:      newReturnDelays(l, cfg, start),
		ticks:       newFinerTicks(l, cfg),
		points:      watchPoints(l, r.probes, rec, cfg.Period, start),
		debugInfo:   &debugInfo{units: r.units, rec: rec},
	}
	r.loop = &trialLoop{
		cfg: cfg, launch: r.launcher.launch, ledger: l, units: r.units, probes: r.probes, rec: rec, watch: r.watch,
		here: newWorld(cfg, nil, r.units.placebo), meter: newMeter(l, r.units, r.probes, cfg, start, rec.data.Run.WholeRuns),
		start: start, report: start + uint64(time.Second), toRecord: cfg.Record > 0,
	}
	if cfg.Device != nil {
		r.loop.there = newWorld(cfg, cfg.Device, r.units.placebo)
	}
}
