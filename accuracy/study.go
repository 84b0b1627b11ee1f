package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"whatif/internal/testing/noise"
)

// plan says how much is measured of each program.
type plan struct {
	root         string
	whatif       string // "" measures only the truth
	levels       []int
	rounds       int     // of truth
	truthWithin  float64 // there are more rounds until the throughput's truth is known to so many points; 0: there are not
	truthSeconds float64 // of one truth run
	predict      time.Duration
	record       time.Duration // record each program for so long, too, in the profile of its prediction; 0: do not
	chunks       int           // the number of runs that make up the prediction
	coz          bool
	cozSeconds   float64
	patience     time.Duration // the time that each program may wait for a quiet machine
	seed         uint64
}

// study measures everything about one program. It returns a result for each metric, throughput first. An error that
// does not affect the truth is a warning in the result.
func (pl *plan) study(ctx context.Context, p *program, progress io.Writer) ([]result, error) {
	if p.managed() {
		defer removeMaps("/tmp", time.Now())
	}
	s, err := pl.begin(ctx, p, progress)
	if err != nil {
		return nil, err
	}
	if err := s.measure(ctx); err != nil {
		return nil, err
	}
	return s.results(ctx), nil
}

// studying is the study of one program while it goes on.
type studying struct {
	*plan
	program    *program
	built      binaries
	progress   io.Writer
	truth      *truthRun
	predictors []*predictor    // one for each target; none: whatif is not asked
	finder     *predictor      // is told no target; nil: whatif is not asked to find it
	cozGains   map[int]float64 // nil: coz is not asked, or failed
	done       int             // rounds of truth
	warnings   []string
}

// begin builds a program, and prepares its study.
func (pl *plan) begin(ctx context.Context, p *program, progress io.Writer) (*studying, error) {
	built, err := build(ctx, pl.root, p, pl.coz)
	if err != nil {
		return nil, err
	}
	s := &studying{plan: pl, program: p, built: built, progress: progress}
	s.truth = &truthRun{program: p, binary: built.plain, seconds: pl.truthSeconds, levels: pl.levels,
		patience: pl.patience, tries: maxTries, rng: pl.order(p), ratios: map[string]map[int][]float64{}}
	if pl.patience <= 0 {
		s.truth.tries = 1
	}
	if p.seconds > 0 {
		s.truth.seconds = p.seconds
	}
	if pl.whatif != "" {
		err = s.predictWith(pl.whatif)
	}
	return s, err
}

// predictWith prepares the predictions.
func (s *studying) predictWith(whatif string) error {
	first, err := newPredictor(whatif, s.program, s.built, s.levels)
	if err != nil {
		return err
	}
	s.predictors = []*predictor{first}
	if s.program.function != "" {
		second, err := first.of(s.program.function, "function")
		if err != nil {
			return err
		}
		s.predictors = append(s.predictors, second)
	}
	if s.program.ranked {
		s.finder, err = first.of("", "found")
	}
	return err
}

// measure makes all runs. The prediction's chunks are between the planned rounds of truth, and coz's run is in the
// middle of these, so that all have the same machine. Further rounds of truth come last.
func (s *studying) measure(ctx context.Context) error {
	for ; s.wantsMore(s.done, s.truth); s.done++ {
		if s.done < s.rounds {
			s.say("truth, round %d of %d", s.done+1, s.rounds)
		} else {
			s.say("truth, round %d of at most %d", s.done+1, moreRounds*s.rounds)
		}
		if err := s.truth.round(ctx); err != nil {
			return err
		}
		for range chunksAfter(s.done, s.rounds, s.chunks) {
			s.chunk(ctx)
		}
		if s.built.coz != "" && s.done == s.rounds/2 {
			s.say("coz, %v s", s.cozSeconds)
			var err error
			if s.cozGains, err = cozRun(ctx, s.built, s.levels, s.cozSeconds); err != nil {
				s.warn(err)
			}
		}
		if ctx.Err() != nil {
			return fmt.Errorf("studying %s: %w", s.program.name, ctx.Err())
		}
	}
	if len(s.predictors) > 0 && s.plan.record > 0 {
		s.say("recording, %v", s.plan.record)
		if err := s.predictors[0].record(ctx, s.plan.record); err != nil {
			s.warn(err)
		}
	}
	return nil
}

// findFor is how much longer than a target whatif may look for it among all units.
const findFor = 3

// chunk makes a chunk of each prediction.
func (s *studying) chunk(ctx context.Context) {
	length := s.predict / time.Duration(s.chunks)
	for _, p := range s.predictors {
		s.say("prediction for %s, %v", p.built.target, length)
		if err := p.chunk(ctx, length); err != nil {
			s.warn(err)
		}
	}
	if s.finder != nil {
		s.say("prediction for what whatif finds, %v", findFor*length)
		if err := s.finder.chunk(ctx, findFor*length); err != nil {
			s.warn(err)
		}
	}
}

// results makes a result for each metric and target of what was measured.
func (s *studying) results(ctx context.Context) (results []result) {
	if len(s.predictors) == 0 {
		return s.resultsOf(ctx, nil)
	}
	for i, p := range s.predictors {
		of := s.resultsOf(ctx, p)
		for k := range of {
			if i > 0 {
				of[k].Target = "by function"
			}
		}
		results = append(results, of...)
	}
	if s.finder != nil {
		rank, err := s.finder.rank(ctx)
		if err != nil {
			s.say("%v", err)
		}
		results[0].ranked, results[0].Rank = true, rank
	}
	return results
}

// resultsOf makes a result for each metric of what was measured; p is nil if whatif is not asked. coz predicts only
// throughput, and only for the first target.
func (s *studying) resultsOf(ctx context.Context, p *predictor) (results []result) {
	for i, metric := range s.program.metrics() {
		r, coz := result{Program: s.program.name, Metric: metric, Kind: kindOf[metric]}, map[int]float64(nil)
		if i == 0 {
			r = result{Program: s.program.name, Kind: s.program.kind, model: s.program.model,
				Warnings: slices.Clone(s.warnings)}
			if p == nil || p == s.predictors[0] {
				coz = s.cozGains
			}
		}
		var said answer
		if p != nil {
			var warnings []string
			var err error
			said, warnings, err = p.answer(ctx, metric)
			if i == 0 {
				r.Warnings = append(r.Warnings, warnings...)
			}
			if err != nil {
				r.Warnings = append(r.Warnings, err.Error())
				s.say("%v", err)
			}
			r.Refused, r.Doubts = said.refused, said.doubts
		}
		r.Rounds = s.done
		r.Foreign, _ = noise.Mean(s.truth.foreign)
		r.Disturbed = float64(s.truth.disturbed) / float64(s.truth.runs)
		r.Levels = joinLevels(s.levels, s.truth.gains(metric), &said, coz)
		results = append(results, r)
	}
	return results
}

// say prints what the study does now.
func (s *studying) say(format string, args ...any) {
	now := time.Now().Format("15:04:05")
	fmt.Fprintf(s.progress, "%s %s: %s\n", now, s.program.name, fmt.Sprintf(format, args...))
}

func (s *studying) warn(err error) {
	s.warnings = append(s.warnings, err.Error())
	s.say("%v", err)
}

// order gives the random numbers for a program's order of levels. They differ between programs, so that the effect of
// one order is not in all results.
func (pl *plan) order(p *program) *rand.Rand {
	name := fnv.New64a()
	name.Write([]byte(p.name))
	return rand.New(rand.NewPCG(pl.seed, name.Sum64()))
}

// moreRounds limits the rounds to moreRounds times the planned number, if the truth is still not known well enough.
const moreRounds = 3

// wantsMore tells whether another round of truth follows after so many rounds. The rounds end as soon as the spread
// seems small, so the final interval is a little too narrow, the more so the fewer rounds are planned (TestWantsMore).
func (pl *plan) wantsMore(rounds int, truth *truthRun) bool {
	return rounds < pl.rounds || pl.truthWithin > 0 && rounds < moreRounds*pl.rounds && !truth.known(pl.truthWithin)
}

// chunksAfter is the number of chunks that follow a round, so that all are spread evenly over the planned rounds.
func chunksAfter(round, rounds, chunks int) int {
	if round >= rounds {
		return 0
	}
	return (round+1)*chunks/rounds - round*chunks/rounds
}

// joinLevels puts truth and predictions of each level side by side.
func joinLevels(levels []int, truth map[int]estimate, said *answer, coz map[int]float64) []levelResult {
	var joined []levelResult
	for _, level := range levels {
		l := levelResult{Level: level, Truth: truth[level]}
		if e, ok := said.tested[level]; ok {
			l.Prediction = &e
		}
		if e, ok := said.estimated[level]; ok {
			l.Estimate = &e
		}
		if gain, ok := coz[level]; ok {
			l.Coz = &gain
		}
		joined = append(joined, l)
	}
	return joined
}
