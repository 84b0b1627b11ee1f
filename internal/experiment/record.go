package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/profile"
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
	if cfg.unrecordable() {
		return nil, hint.New(errors.New("recording: only a program or processes by their numbers or names can be recorded"),
			"whatif record -- PROGRAM, or whatif attach --no-delays PID")
	}
	cfg.Points = probes.WithEnds(cfg.Points, cfg.Latencies)
	s := &session{recordedPart: recordedPart{cfg: &cfg}}
	// COZ's macros need the library that launch preloads for the programs that ask for it.
	s.launcher = &launcher{
		cfg: &cfg, source: probes.WantsSource(cfg.Points), java: !cfg.NoJavaAgent && probes.MayBeInJava(cfg.Points),
	}
	defer s.launcher.close()
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
	recordedPart
	visits   *probes.JavaVisits
	launcher *launcher
	subject  subject
	buildIDs map[string]string
}

// open loads the kernel side of recording, sets probes, and takes the subject in.
func (s *session) open() error {
	programs, err := s.subject.programs()
	if err != nil {
		return err
	}
	s.buildIDs = make(map[string]string)
	for _, p := range programs {
		defer p.Close()
		if id := identify(p[0]); id != "" {
			s.buildIDs[p[0].Name()] = id
		}
	}
	if err := s.prepare(programs, s.cfg.Duration); err != nil {
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
	if err := s.recorder.Join(pids); err != nil {
		return errors.Join(err, s.close())
	}
	s.visits, err = probes.RecordJava(probesOptions(s.cfg, false), s.recorder.Members, s.launcher.starting,
		s.probeAt)
	if err != nil {
		return errors.Join(err, s.close())
	}
	return nil
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
	s.code.last()
	if err == nil {
		result.Recording, err = r.Recording()
	}
	s.visits.Close()
	err = errors.Join(err, s.visits.Missing(), s.close())
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
	if text := s.recorder.Unfollowed(); text != "" {
		if err := out.Write(profile.Record{Warning: &profile.Warning{Code: "goroutines", Text: text}}); err != nil {
			return err
		}
	}
	for _, text := range s.code.made.javaDoubts() {
		s.cfg.Log.Warn(text, "code", "java")
		if err := out.Write(profile.Record{Warning: &profile.Warning{Code: "java", Text: text}}); err != nil {
			return err
		}
	}
	if err := out.WriteRecording(result.Recording); err != nil {
		return fmt.Errorf("writing the recording: %w", err)
	}
	return out.Write(profile.Record{End: &profile.End{
		RealNS: result.Recording.Length, Status: result.Status, Visits: visits,
		Ended: result.Ended && s.subject.Done() != nil,
	}})
}
