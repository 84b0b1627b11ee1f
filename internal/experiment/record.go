package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"whatif/internal/experiment/probes"
	"whatif/internal/profile"
	live "whatif/internal/recorder"
	"whatif/internal/recording"
)

// LeastRecorded is how long a recording has to be.
const LeastRecorded = live.Least

// Recorded is what Record returns.
type Recorded struct {
	Status    int  // the program's exit status, as a shell would give it
	Ended     bool // the program was ended by Duration, and not by itself or by an interruption
	Recording *recording.Recording
	Written   bool // the profile has the recording
}

// Record starts the program, or attaches to processes, and records what they do until they end or the time is up.
// Nothing is delayed. The recording is written with a run that has no experiments.
func Record(ctx context.Context, cfg Config) (*Recorded, error) {
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
	report   time.Time // when Progress is due
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
	if len(s.points) == 0 {
		s.cfg.Log.Warn("no progress point, so this recording will tell where time goes, and no gains: name one with -p " +
			"(whatif points PROGRAM lists some)")
	}
	if err := s.subject.record(s.recorder); err != nil {
		return errors.Join(err, s.close())
	}
	s.visits, err = probes.RecordJava(probesOptions(s.cfg, false), s.recorder.Members, s.launcher.starting,
		s.probeAt)
	if err != nil {
		s.subject.detach()
		return errors.Join(err, s.close())
	}
	return nil
}

// record records, and writes the recording.
func (s *session) record(ctx context.Context) (*Recorded, error) {
	begun := time.Now()
	err := s.recorder.Begin()
	if err == nil {
		err = s.subject.Release()
	}
	if err != nil { // nothing is recorded
		s.subject.detach()
		s.visits.Close()
		return nil, errors.Join(err, s.close())
	}
	result := &Recorded{}
	failure := s.watch(ctx, result)
	s.subject.detach()
	s.code.last()
	if failure == nil {
		result.Recording, failure = s.recorder.Recording()
	}
	s.visits.Close()
	failure = errors.Join(failure, s.missing(), s.visits.Missing(), s.close())
	var waiting error
	if result.Status, waiting = s.subject.wait(); waiting != nil {
		s.cfg.Log.Warn(waiting.Error())
	}
	if result.Recording != nil {
		saving := s.save(result, begun)
		result.Written = saving == nil
		failure = errors.Join(failure, saving)
	}
	return result, failure
}

// watch records until the time is up, or the target has ended. A program that was started is then told to end.
func (s *session) watch(ctx context.Context, result *Recorded) error {
	began := time.Now()
	alive := func() bool {
		s.progress(time.Since(began))
		return s.subject.alive(s.recorder) && !s.subject.Interrupted()
	}
	err := s.recorder.WarmUp(ctx, s.cfg.Warmup, alive)
	timed := ctx
	if s.cfg.Duration > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithTimeout(ctx, s.cfg.Duration)
		defer cancel()
	}
	if err == nil {
		err = s.recorder.Record(timed, alive)
	}
	timeUp := timed.Err() != nil && ctx.Err() == nil
	result.Ended = timeUp && !s.subject.Ended()
	if timeUp || s.subject.Interrupted() || err != nil {
		if telling := s.subject.tell(s.recorder); telling != nil {
			s.cfg.Log.Warn(telling.Error())
		}
	}
	return err
}

// progress reports, at most once a second.
func (s *session) progress(elapsed time.Duration) {
	if now := time.Now(); s.cfg.Progress != nil && !now.Before(s.report) {
		s.report = now.Add(time.Second)
		s.cfg.Progress(Progress{Elapsed: elapsed})
	}
}

// save writes the recording into the profile, with a run that has no experiments.
func (s *session) save(result *Recorded, begun time.Time) error {
	run := newRunRecord(s.cfg, begun)
	run.BuildIDs = s.buildIDs
	s.subject.describe(&run)
	visits := make([]int64, len(s.points))
	for _, w := range result.Recording.Windows {
		for i := range w.Events {
			if e := &w.Events[i]; e.Kind == recording.Visit && e.Role != recording.Begin {
				visits[e.Point]++
			}
		}
	}
	for i, spec := range s.points {
		run.Points = append(run.Points, profilePoint(spec))
		if visits[i] == 0 {
			s.cfg.Log.Warn(fmt.Sprintf("progress point %s: visited 0 times in what was recorded, so there are no gains "+
				"for it: does the load run, and is it the right point? whatif points PID ranks what a process really does",
				spec.Name), "code", "never-visited")
		}
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
