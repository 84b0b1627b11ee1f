package main

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"

	"whatif/internal/noise"
)

// plan is how much is measured of each program.
type plan struct {
	root         string
	whatif       string // "" measures the truth alone
	levels       []int
	rounds       int     // of truth
	truthWithin  float64 // points: there are more rounds until the throughput's truth is known to so many; 0: there are not
	truthSeconds float64 // of one truth run
	predict      time.Duration
	chunks       int // that the prediction is split into
	coz          bool
	cozSeconds   float64
	patience     time.Duration // that each program has for a busy machine to become quiet
	seed         uint64
}

// study finds out everything about one program. The prediction's chunks lie between the rounds of truth
// that were asked for, and coz's run in the middle, so that each sees the machine as the others do; more rounds come after that. What fails without making the truth
// wrong is a warning in the result.
//
// There is a result for each metric, throughput first.
func (pl *plan) study(ctx context.Context, p *program, progress io.Writer) ([]result, error) {
	say := func(format string, args ...any) {
		fmt.Fprintf(progress, "%s %s: %s\n", time.Now().Format("15:04:05"), p.name, fmt.Sprintf(format, args...))
	}
	built, err := build(ctx, pl.root, p, pl.coz)
	if err != nil {
		return nil, err
	}
	seconds := pl.truthSeconds
	if p.seconds > 0 {
		seconds = p.seconds
	}
	truth := &truthRun{program: p, binary: built.plain, seconds: seconds, levels: pl.levels, patience: pl.patience,
		rng: pl.order(p), ratios: map[string]map[int][]float64{}}
	r := result{Program: p.name, Kind: p.kind, model: p.model}
	warn := func(err error) {
		r.Warnings = append(r.Warnings, err.Error())
		say("%v", err)
	}

	var prediction *predictor
	if pl.whatif != "" {
		if prediction, err = newPredictor(pl.whatif, p, built, pl.levels); err != nil {
			return nil, err
		}
	}
	var coz map[int]float64
	round := 0
	for ; pl.wantsMore(round, truth); round++ {
		if round < pl.rounds {
			say("truth, round %d of %d", round+1, pl.rounds)
		} else {
			say("truth, round %d of at most %d", round+1, moreRounds*pl.rounds)
		}
		if err := truth.round(ctx); err != nil {
			return nil, err
		}
		for range chunksAfter(round, pl.rounds, pl.chunks) {
			if prediction == nil {
				break
			}
			say("prediction, %v", pl.predict/time.Duration(pl.chunks))
			if err := prediction.chunk(ctx, pl.predict/time.Duration(pl.chunks)); err != nil {
				warn(err)
			}
		}
		if built.coz != "" && round == pl.rounds/2 {
			say("coz, %v s", pl.cozSeconds)
			if coz, err = cozRun(ctx, built, pl.levels, pl.cozSeconds); err != nil {
				warn(err)
			}
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("studying %s: %w", p.name, ctx.Err())
		}
	}

	results := []result{r}
	for _, metric := range p.metrics()[1:] {
		results = append(results, result{Program: p.name, Metric: metric, Kind: kindOf[metric]})
	}
	for i, metric := range p.metrics() {
		var predicted map[int]estimate
		if prediction != nil {
			gains, warnings, err := prediction.gains(ctx, metric)
			if i == 0 {
				results[i].Warnings = append(results[i].Warnings, warnings...)
			}
			if err != nil {
				results[i].Warnings = append(results[i].Warnings, err.Error())
				say("%v", err)
			}
			predicted = gains
		}
		results[i].Rounds = round
		results[i].Foreign, _ = noise.Mean(truth.foreign)
		results[i].Disturbed = float64(truth.disturbed) / float64(truth.runs)
		results[i].Levels = joinLevels(pl.levels, truth.gains(metric), predicted, coz)
		coz = nil // it knows throughput only
	}
	return results, nil
}

// order is where the program's order of levels comes from: another one for each program, or the effect of one order
// would be in all results.
func (pl *plan) order(p *program) *rand.Rand {
	name := fnv.New64a()
	name.Write([]byte(p.name))
	return rand.New(rand.NewPCG(pl.seed, name.Sum64()))
}

// moreRounds times as many rounds as were asked for there may be, where the truth is not known yet.
const moreRounds = 3

// wantsMore says whether there is one more round of truth, after so many. As the last is the one after which the spread seems small, what is
// known then is a little less sure than its interval says, the more so the fewer rounds were asked for (TestWantsMore).
func (pl *plan) wantsMore(rounds int, truth *truthRun) bool {
	return rounds < pl.rounds || pl.truthWithin > 0 && rounds < moreRounds*pl.rounds && !truth.known(pl.truthWithin)
}

// chunksAfter is how many of the chunks follow this round, so that they are spread evenly over those that were asked for.
func chunksAfter(round, rounds, chunks int) int {
	if round >= rounds {
		return 0
	}
	return (round+1)*chunks/rounds - round*chunks/rounds
}

// joinLevels puts what is known about each level side by side.
func joinLevels(levels []int, truth, predicted map[int]estimate, coz map[int]float64) []levelResult {
	var joined []levelResult
	for _, level := range levels {
		l := levelResult{Level: level, Truth: truth[level]}
		if e, ok := predicted[level]; ok {
			l.Prediction = &e
		}
		if gain, ok := coz[level]; ok {
			l.Coz = &gain
		}
		joined = append(joined, l)
	}
	return joined
}
