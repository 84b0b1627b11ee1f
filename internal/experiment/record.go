package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"whatif/internal/code/symbol"
	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/profile"
	live "whatif/internal/recorder" // this package has a recorder of experiments
	"whatif/internal/recording"
)

// Recorded is what Record returns.
type Recorded struct {
	Status    int  // the program's exit status, as a shell would give it
	Ended     bool // the program was ended by Duration, and not by itself or by an interruption
	Recording *recording.Recording
}

// Record starts the program, or attaches to processes, and records what they do until they end or the time is up.
// Nothing is delayed. The recording is written with a run that has no experiments.
func Record(ctx context.Context, cfg Config) (*Recorded, error) {
	if cfg.System || cfg.Attach != nil && cfg.Attach.Cgroup != "" {
		return nil, hint.New(errors.New("recording: only a program or processes by their numbers or names can be recorded"),
			"whatif record -- PROGRAM, or whatif attach --no-delays PID")
	}
	cfg.Points = probes.WithEnds(cfg.Points, cfg.Latencies)
	s := &session{cfg: &cfg}
	// COZ's macros need the library that launch preloads for the programs that ask for it.
	s.launcher = &launcher{cfg: &cfg, source: probes.WantsSource(cfg.Points)}
	var err error
	if s.subject, err = s.launcher.launch(ctx); err != nil {
		return nil, err
	}
	defer s.subject.Close()
	if err := s.open(); err != nil {
		return nil, err
	}
	return s.record(ctx)
}

// session is one call of Record.
type session struct {
	cfg      *Config
	launcher *launcher
	subject  subject
	points   []point.Spec    // as the recording has them
	numbers  []uint32        // in the recording, of Config.Points or those that were found instead
	looked   map[string]bool // names of the binaries in which points were looked for
	recorder *live.Recorder
	buildIDs map[string]string
}

// open loads the kernel side of recording, sets probes, and takes the subject in.
func (s *session) open() (err error) {
	programs, err := s.subject.programs()
	if err != nil {
		return err
	}
	s.buildIDs = make(map[string]string)
	var mains []string
	for _, p := range programs {
		defer p.Close()
		mains = append(mains, p[0].Name())
		if id := identify(p[0]); id != "" {
			s.buildIDs[p[0].Name()] = id
		}
	}
	places, points, err := probes.PlacesOf(s.cfg.Points, s.cfg.Latencies, programs, s.cfg.Log)
	if err != nil {
		return err
	}
	if len(points) == 0 && !s.cfg.Starts() {
		return errNoPoint
	}
	recorded := s.number(points)
	s.looked = make(map[string]bool)
	for _, p := range programs {
		for _, b := range p {
			s.looked[b.Name()] = true
		}
	}
	s.recorder, err = live.Open(live.Options{
		Points: recorded, Programs: mains, Scope: s.cfg.Scope, Paths: s.cfg.Paths,
		Period: s.cfg.Period, Length: s.cfg.Duration, Log: s.cfg.Log, Found: s.found,
	})
	if err != nil {
		return err
	}
	if err := s.join(places); err != nil {
		return errors.Join(err, s.recorder.Close())
	}
	return nil
}

// join sets the probes, and makes the subject the target.
func (s *session) join(places []probes.Place) error {
	if err := s.probe(places); err != nil {
		return err
	}
	var pids []int
	switch subject := s.subject.(type) {
	case *started:
		pids = []int{subject.PID()}
	case *attachedTo:
		for _, p := range subject.all {
			pids = append(pids, p.PID)
		}
	}
	return s.recorder.Join(pids)
}

// probe has the visits recorded that pass these places.
func (s *session) probe(places []probes.Place) error {
	var all []live.Probe
	for _, p := range places {
		p.Of = s.numbers[p.Of]
		all = append(all, live.Probe{Probe: p.Probe, Role: roleOf(p.Edge)})
	}
	return s.recorder.Probe(all)
}

// found looks for the points in a binary that a stack led to: a program that another one has started, or a library.
func (s *session) found(b *symbol.Binary) {
	if s.looked[b.Name()] {
		return
	}
	s.looked[b.Name()] = true
	places, err := probes.PlacesIn(b, s.cfg.Points, s.cfg.Latencies)
	if err == nil {
		err = s.probe(places)
	}
	if err != nil {
		s.cfg.Log.Warn("progress points in " + b.Name() + " are not recorded: " + err.Error())
	}
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
func (s *session) number(points []point.Spec) []recording.Point {
	var all []recording.Point
	numbers, latencies := make([]uint32, len(points)), make(map[string]uint32)
	s.numbers = numbers
	for i, spec := range points {
		name, latency := spec.Name, probes.EdgeOf(i, points, s.cfg.Latencies) != point.Whole
		if latency {
			name = strings.TrimSuffix(name, "/begin")
			if n, known := latencies[name]; known {
				numbers[i] = n
				s.points[n] = spec
				continue
			}
			latencies[name] = uint32(len(all))
		}
		numbers[i] = uint32(len(all))
		all = append(all, recording.Point{Name: name, Latency: latency})
		s.points = append(s.points, spec)
	}
	return all
}

// record records, and writes the recording.
func (s *session) record(ctx context.Context) (*Recorded, error) {
	cfg, r := s.cfg, s.recorder
	timed, cancel := ctx, context.CancelFunc(func() {})
	if cfg.Duration > 0 {
		timed, cancel = context.WithTimeout(ctx, cfg.Warmup+cfg.Duration)
	}
	defer cancel()
	begun := time.Now()
	err := r.Begin()
	if err == nil {
		err = s.subject.Release()
	}
	if err == nil {
		err = r.Record(timed, func() bool { return r.Processes() > 0 && !s.subject.Interrupted() })
	}
	result := &Recorded{Ended: timed.Err() != nil && ctx.Err() == nil && !s.subject.Ended()}
	if result.Ended || s.subject.Interrupted() {
		if p, ok := s.subject.(*started); ok {
			err = errors.Join(err, p.end(nil))
		}
	}
	if err == nil {
		result.Recording, err = r.Recording()
	}
	err = errors.Join(err, r.Close())
	status, waiting := s.subject.wait()
	result.Status = status
	if err = errors.Join(err, waiting); err != nil {
		return result, err
	}
	return result, s.save(result, begun)
}

// save writes the recording into the profile, with a run that has no experiments.
func (s *session) save(result *Recorded, begun time.Time) error {
	run := newRunRecord(s.cfg, begun)
	run.BuildIDs = s.buildIDs
	s.subject.describe(&run)
	visits := make([]int64, len(s.points))
	for _, w := range result.Recording.Windows {
		for i := range w.Events {
			if e := &w.Events[i]; e.Kind == recording.Visit {
				visits[e.Point]++
			}
		}
	}
	for _, spec := range s.points {
		run.Points = append(run.Points, profilePoint(spec))
	}
	out := s.cfg.Output
	if err := out.Write(profile.Record{Run: &run}); err != nil {
		return err
	}
	if err := out.WriteRecording(result.Recording); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	return out.Write(profile.Record{End: &profile.End{
		RealNS: result.Recording.Length, Status: result.Status, Visits: visits,
	}})
}
