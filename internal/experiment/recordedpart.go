package experiment

import (
	"context"
	"errors"
	"strings"
	"time"

	"whatif/internal/code/symbol"
	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/point"
	live "whatif/internal/recorder" // this package has a recorder of experiments
	"whatif/internal/recording"
)

// recordedPart is a part of a run in which nothing is delayed, and everything recorded.
type recordedPart struct {
	cfg      *Config
	points   []point.Spec    // as the recording has them
	numbers  []uint32        // in the recording, of Config.Points or those that were found instead
	looked   map[string]bool // names of the binaries in which points were looked for
	recorder *live.Recorder
}

// prepare loads the kernel side of recording, and sets probes in programs that have not run yet. length is for how long
// it is recorded; 0: until the target ends.
func (p *recordedPart) prepare(programs []probes.Program, length time.Duration) error {
	places, points, err := probes.PlacesOf(p.cfg.Points, p.cfg.Latencies, programs, p.cfg.Log)
	if err != nil {
		return err
	}
	if len(points) == 0 && !p.cfg.Starts() {
		return errNoPoint
	}
	var mains []string
	p.looked = make(map[string]bool)
	for _, binaries := range programs {
		mains = append(mains, binaries[0].Name())
		for _, b := range binaries {
			p.looked[b.Name()] = true
		}
	}
	p.recorder, err = live.Open(live.Options{
		Points: p.number(points), Programs: mains, Scope: p.cfg.Scope, Paths: p.cfg.Paths,
		Period: p.cfg.Period, Length: length, Log: p.cfg.Log, Found: p.found,
	})
	if err != nil {
		return err
	}
	if err := p.probe(places); err != nil {
		return errors.Join(err, p.recorder.Close())
	}
	return nil
}

// probe has the visits recorded that pass these places.
func (p *recordedPart) probe(places []probes.Place) error {
	var all []live.Probe
	for _, place := range places {
		place.Of = p.numbers[place.Of]
		all = append(all, live.Probe{Probe: place.Probe, Role: roleOf(place.Edge)})
	}
	return p.recorder.Probe(all)
}

// found looks for the points in a binary that a stack led to: a program that another one has started, or a library.
func (p *recordedPart) found(b *symbol.Binary) {
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
func (p *recordedPart) take(ctx context.Context, pids []int, length time.Duration, alive func() bool) (
	*recording.Recording, error,
) {
	timed, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	err := p.recorder.Join(pids)
	if err == nil {
		err = p.recorder.Begin()
	}
	if err == nil {
		err = p.recorder.Record(timed, alive)
	}
	if err != nil {
		return nil, err
	}
	return p.recorder.Recording()
}

// recordAfter is how long experiments come first: a run that is shorter has nothing but them.
const recordAfter = 5 * time.Second

// prepareRecording makes ready to record a part of the run, if that is asked for. If it cannot be recorded, there
// are no estimates, and experiments go on.
func (r *run) prepareRecording(programs []probes.Program) {
	cfg := r.cfg
	if cfg.Record == 0 || cfg.unrecordable() || !r.probes.HasPoints() {
		return
	}
	part := &recordedPart{cfg: cfg}
	if err := part.prepare(programs, cfg.Record); err != nil {
		cfg.Log.Debug("there will be no estimates", "error", err)
		return
	}
	r.recorded = part
}

// close gives the kernel side of recording up, if it is still there.
func (p *recordedPart) close() error {
	if p == nil || p.recorder == nil {
		return nil
	}
	r := p.recorder
	p.recorder = nil
	return r.Close()
}

// recordPart records the part that is still to be recorded.
func (l *trialLoop) recordPart(ctx context.Context, p subject) {
	part := l.recorded
	l.recorded = nil
	renewed := time.Now()
	alive := func() bool {
		if time.Since(renewed) >= ledger.RenewEvery {
			renewed = time.Now()
			l.watch.lease.renew()
			l.progress()
		}
		return p.alive(l.ledger) && !l.over(ctx)
	}
	members, err := l.ledger.Members()
	var pids []int
	for _, m := range members {
		pids = append(pids, m.PID)
	}
	var made *recording.Recording
	if err == nil {
		made, err = part.take(ctx, pids, l.cfg.Record, alive)
	}
	err = errors.Join(err, part.close())
	if err != nil {
		l.cfg.Log.Debug("there are no estimates", "error", err)
		return
	}
	l.rec.keepRecording(made)
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
