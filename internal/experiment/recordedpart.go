package experiment

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"whatif/internal/code/symbol"
	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	live "whatif/internal/recorder" // this package has a recorder of experiments
	"whatif/internal/recording"
	"whatif/internal/target"
)

// recordedPart is a part of a run in which nothing is delayed, and everything recorded.
type recordedPart struct {
	cfg      *Config
	points   []point.Spec    // as the recording has them
	numbers  []uint32        // in the recording, of Config.Points or those that were found instead
	lacking  []error         // why the programs do not have each of these points, which may come later; nil: they have it
	probed   []atomic.Bool   // whether each of these points was found
	looked   map[string]bool // names of the binaries in which points were looked for
	followed map[string]bool // or of those with goroutines
	recorder *live.Recorder
	code     *recordedCode
}

// prepare loads the kernel side of recording, and sets probes in programs. length is for how long it is recorded; 0:
// until the target ends.
func (p *recordedPart) prepare(programs []probes.Program, length time.Duration) error {
	named, err := probes.Named(p.cfg.Points, programs)
	if err != nil {
		return err
	}
	p.looked, p.followed = make(map[string]bool), make(map[string]bool)
	for _, n := range named {
		defer n.Close()
		p.looked[n[0].Name()] = true
	}
	places, points, lacking, err := probes.PlacesOf(p.cfg.Points, p.cfg.Latencies, slices.Concat(programs, named),
		p.cfg.Log)
	if err != nil {
		return err
	}
	if len(points) == 0 && !p.cfg.Starts() {
		return errNoPoint
	}
	p.lacking, p.probed = lacking, make([]atomic.Bool, len(points))
	var mains []string
	for _, binaries := range programs {
		mains = append(mains, binaries[0].Name())
		for _, b := range binaries {
			p.looked[b.Name()] = true
		}
	}
	p.code = newRecordedCode()
	p.recorder, err = live.Open(live.Options{
		Points: p.number(points), Programs: mains, AnyProgram: p.cfg.System, Scope: p.cfg.Scope, Paths: p.cfg.Paths,
		Period: p.cfg.Period, Length: length, Log: p.cfg.Log, Found: p.found, Made: p.code,
	})
	if err != nil {
		return err
	}
	p.code.begin(p.recorder, p.cfg)
	if err := errors.Join(p.hook(points), p.probe(places)); err != nil {
		return errors.Join(err, p.close())
	}
	for _, binaries := range programs {
		for _, b := range binaries {
			p.follow(b)
		}
	}
	return nil
}

// follow has a binary's goroutines recorded. Without it the recording has their threads.
func (p *recordedPart) follow(b *symbol.Binary) {
	if p.followed[b.Name()] || slices.Contains(p.cfg.Without, "goroutines") {
		return
	}
	p.followed[b.Name()] = true
	if err := p.recorder.Follow(probes.Goroutines(b)); err != nil {
		p.cfg.Log.Warn("goroutines of " + b.Path() + " are not recorded: " + err.Error())
	}
}

// probeAt has the visits recorded that pass a place.
func (p *recordedPart) probeAt(at probes.Place) error { return p.probe([]probes.Place{at}) }

// probe has the visits recorded that pass these places.
func (p *recordedPart) probe(places []probes.Place) error {
	var all []live.Probe
	for _, place := range places {
		p.probed[place.Of].Store(true)
		place.Of = p.numbers[place.Of]
		all = append(all, live.Probe{Probe: place.Probe, Role: roleOf(place.Edge)})
	}
	return p.recorder.Probe(all)
}

// missing is the error for points that nothing has had that ran.
func (p *recordedPart) missing() error {
	var errs []error
	for i, why := range p.lacking {
		if !p.probed[i].Load() {
			errs = append(errs, why)
		}
	}
	return hint.New(errors.Join(errs...), probes.NothingHasIt)
}

// hook has the visits recorded of those points that are no places in the program.
func (p *recordedPart) hook(points []point.Spec) error {
	all, err := probes.HooksOf(points, p.cfg.Latencies)
	for _, h := range all {
		err = errors.Join(err, p.recorder.Hook(live.Hook{
			Point: p.numbers[h.Of], Role: roleOf(h.Edge), Exit: h.Exit, Call: h.Call, Over: h.Over,
		}))
	}
	return err
}

// close ends agents in the target, and gives the kernel side up.
func (p *recordedPart) close() error {
	p.code.close()
	return p.recorder.Close()
}

// found looks for the points in a binary that a stack led to: a program that another one has started, or a library.
func (p *recordedPart) found(b *symbol.Binary) {
	p.follow(b)
	if p.looked[b.Name()] {
		return
	}
	p.looked[b.Name()] = true
	places, err := probes.PlacesIn(b, p.cfg.Points, p.cfg.Latencies)
	if err == nil {
		err = p.probe(places)
	}
	if err != nil {
		p.cfg.Log.Warn("progress points in " + b.Name() + " are not recorded: " + err.Error())
	}
}

// take records these processes, and what they start, for a time or until alive says that they are gone.
func (p *recordedPart) take(ctx context.Context, all []ledger.Process, length time.Duration, alive func() bool) (
	*recording.Recording, error,
) {
	timed, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	err := take(p.recorder, all)
	if err == nil {
		err = p.recorder.Begin()
	}
	if err == nil {
		err = p.recorder.Record(timed, alive)
	}
	if err != nil {
		return nil, err
	}
	p.code.last()
	return p.recorder.Recording()
}

// RecordAfter is how long experiments come first: a run that is shorter has nothing but them.
const RecordAfter = 5 * time.Second

// recordDue tells whether a part of the run is to be recorded now. That is done once.
func (l *trialLoop) recordDue() bool {
	due := l.toRecord && ledger.Now()-l.start >= uint64(cmp.Or(l.cfg.RecordAfter, RecordAfter))
	l.toRecord = l.toRecord && !due
	return due
}

// recordPart records a part of the run. If that cannot be done there are no estimates, and experiments go on.
func (l *trialLoop) recordPart(ctx context.Context, p subject) {
	made, err := l.recording(ctx, p)
	if err != nil {
		l.cfg.Log.Debug("there are no estimates", "error", err)
		return
	}
	l.rec.keepRecording(made)
}

func (l *trialLoop) recording(ctx context.Context, p subject) (*recording.Recording, error) {
	members, err := l.ledger.Members()
	if err != nil {
		return nil, err
	}
	programs, err := l.recordedPrograms(p, members)
	if err != nil {
		return nil, err
	}
	for _, binaries := range programs {
		defer binaries.Close()
	}
	part := &recordedPart{cfg: l.cfg}
	if err := part.prepare(programs, l.cfg.Record); err != nil {
		return nil, err
	}
	renewed := time.Now()
	alive := func() bool {
		if time.Since(renewed) >= ledger.RenewEvery {
			renewed = time.Now()
			l.watch.lease.renew()
			l.progress()
			l.takeNewcomers(part)
		}
		return p.alive(l.ledger) && !l.over(ctx)
	}
	end, err := l.probes.EachJavaVisit(part.probeAt)
	if err != nil {
		return nil, errors.Join(err, part.close())
	}
	made, err := part.take(ctx, members, l.cfg.Record, alive)
	end()
	return made, errors.Join(err, part.close())
}

// takeNewcomers has processes recorded, too, that have come into the cgroup.
func (l *trialLoop) takeNewcomers(part *recordedPart) {
	if l.cfg.Attach == nil || l.cfg.Attach.Cgroup == "" {
		return
	}
	members, err := l.ledger.Members()
	if err == nil {
		err = part.recorder.Join(members)
	}
	if err != nil {
		l.cfg.Log.Debug("processes that came into the cgroup are not recorded", "error", err)
	}
}

// recordedPrograms are the programs that are looked at before the first stack leads to them: of the whole machine only
// the load's.
func (l *trialLoop) recordedPrograms(p subject, members []ledger.Process) ([]probes.Program, error) {
	if l.cfg.System {
		return p.programs()
	}
	var all []target.Running
	for _, m := range members {
		all = append(all, target.Running{PID: m.PID})
	}
	return openRunning(all), nil
}

// roleOf is what a visit is to a latency.
func roleOf(edge point.Edge) recording.Role {
	switch edge {
	case point.AtBegin:
		return recording.Begin
	case point.AtEnd:
		return recording.End
	}
	return recording.Whole
}

// number gives the points as the recording has them: the two ends of a latency are one.
func (p *recordedPart) number(points []point.Spec) []recording.Point {
	var all []recording.Point
	numbers, latencies := make([]uint32, len(points)), make(map[string]uint32)
	p.numbers = numbers
	for i, spec := range points {
		name, latency := spec.Name, probes.EdgeOf(i, points, p.cfg.Latencies) != point.Whole
		if latency {
			name = strings.TrimSuffix(name, "/begin")
			if n, known := latencies[name]; known {
				numbers[i] = n
				p.points[n] = spec
				continue
			}
			latencies[name] = uint32(len(all))
		}
		numbers[i] = uint32(len(all))
		all = append(all, recording.Point{Name: name, Latency: latency})
		p.points = append(p.points, spec)
	}
	return all
}
