package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/code/symbol"
	"whatif/internal/entries"
	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/target"
	"whatif/internal/tracepoint"
)

// Seen is what a target was seen to do, as far as it could be a progress point.
type Seen struct {
	Status    int // the program's exit status, if one was started
	Functions []SeenPlace
	Calls     []SeenPlace // system calls
	Methods   []SeenPlace // of Java code; then there are neither functions nor calls, which are the VM's
}

// SeenPlace is something that a target did again and again.
type SeenPlace struct {
	Spec     string  // as -p takes it
	Note     string  // where it is
	Rate     float64 // times a second
	Share    float64 // of a function or method: percent of the target's time, with what it calls
	TooOften bool    // to be counted at little cost
}

const (
	mostEntries = 40 // functions that are looked at: those with most of the time; a good point may have very little
	mostMethods = 20 // methods that are counted
	seenPeriod  = time.Millisecond
)

// seenCalls are the system calls that are counted: those with which programs take and give work.
var seenCalls = []string{"write", "writev", "pwrite64", "sendto", "sendmsg", "sendmmsg", "read", "readv", "pread64",
	"recvfrom", "recvmsg", "accept4", "epoll_pwait", "epoll_wait", "io_uring_enter", "fsync"}

// See watches a program that it starts, or processes that run already, for about Config.Duration. In half of the time
// it samples whole stacks and counts system calls, in the other half it counts how often the functions on these stacks
// are entered. No core is stopped, and nothing is written.
func See(ctx context.Context, cfg Config) (seen *Seen, err error) {
	how := cfg.Attach
	var p *started
	if cfg.Starts() {
		if p, err = (&launcher{cfg: &cfg}).startOnce(); err != nil {
			return nil, err
		}
		defer p.Close()
		p.Forward(ctx)
		if err := errors.Join(p.track(nil), p.Release()); err != nil {
			return nil, err
		}
		how = &Attach{PIDs: []int{p.PID()}, Children: true}
	}
	seen, err = see(ctx, &cfg, how)
	if p == nil {
		return seen, err
	}
	ended := p.Ended()
	telling := p.end()
	status, waiting := p.wait()
	switch {
	case seen != nil:
		seen.Status = status
	case ended:
		return nil, hint.New(fmt.Errorf("looking at %s: it ended before it could be looked at", cfg.Args[0]),
			"give it more to do, so that it runs for some seconds")
	}
	return seen, errors.Join(err, telling, waiting)
}

func see(ctx context.Context, cfg *Config, how *Attach) (*Seen, error) {
	half := cfg.Duration / 2
	var calls []string
	for _, name := range seenCalls {
		if _, err := tracepoint.Syscall(name); err == nil { // else this processor has none of that name
			calls = append(calls, "syscall:"+name)
		}
	}
	data, err := sampleStacks(ctx, cfg, how, half, calls)
	if err != nil {
		return nil, err
	}
	seen := &Seen{Calls: visitsIn(data)}
	if ctx.Err() != nil {
		return seen, nil
	}
	result := analyze.Analyze([]*profile.Data{data}, analyze.Options{})
	running, err := findRunning(how)
	if err != nil {
		return seen, nil // the processes have ended: what was seen so far is the answer
	}
	defer running.Close()
	programs := openRunning(running.all)
	defer func() {
		for _, p := range programs {
			p.Close()
		}
	}()
	if slices.ContainsFunc(programs, probes.IsJavaVM) {
		seen.Calls = nil
		seen.Methods, err = countMethods(ctx, cfg, how, methodsIn(result), half)
		return seen, err
	}
	seen.Functions, err = countEntries(ctx, entered(result, programs), running.all, half)
	return seen, err
}

// byShare is the targets, those with the largest share of the time first.
func byShare(r *analyze.Result) []analyze.Target {
	targets := slices.Clone(r.Targets)
	slices.SortStableFunc(targets, func(a, b analyze.Target) int { return cmp.Compare(b.Share, a.Share) })
	return targets
}

// methodsIn are the methods of Java code that have most of the time, with what they call, by what -p takes. The file of
// such code is a name without a directory.
func methodsIn(r *analyze.Result) map[string]SeenPlace {
	targets := byShare(r)
	all := make(map[string]SeenPlace)
	for i := range targets {
		u := &targets[i].Unit
		if u.Kind == "func" && u.File != "" && !strings.Contains(u.File, "/") && len(all) < mostMethods {
			spec := "func:" + u.Name
			all[spec] = SeenPlace{Spec: spec, Share: targets[i].Share, Note: u.File}
		}
	}
	return all
}

// countMethods counts how often methods are entered, in a session of their own.
func countMethods(ctx context.Context, cfg *Config, how *Attach, methods map[string]SeenPlace, length time.Duration) (
	[]SeenPlace, error,
) {
	all := []SeenPlace{}
	if len(methods) == 0 {
		return all, nil
	}
	data, err := sampleStacks(ctx, cfg, how, length, slices.Sorted(maps.Keys(methods)))
	if err != nil {
		return nil, err
	}
	for _, p := range visitsIn(data) {
		if m, ok := methods[p.Spec]; ok {
			m.Rate = p.Rate
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b SeenPlace) int { return cmp.Compare(b.Share, a.Share) })
	return all, nil
}

// sampleStacks runs a session in which nothing is sped up, with functions as units, and these points.
func sampleStacks(ctx context.Context, cfg *Config, how *Attach, length time.Duration, points []string) (
	*profile.Data, error,
) {
	sub := Config{
		Attach: how, Scope: cfg.Scope, Paths: cfg.Paths, Kind: "func", Speedups: []int{0}, Period: seenPeriod,
		Experiment: 200 * time.Millisecond, Duration: length, Seed: 1, Log: slog.New(slog.DiscardHandler),
	}
	for _, text := range points {
		spec, err := point.Parse(text)
		if err != nil {
			return nil, err
		}
		sub.Points = append(sub.Points, spec)
	}
	outcome, err := Profile(ctx, sub)
	if outcome == nil || outcome.Data == nil {
		return nil, cmp.Or(err, errors.New("looking at what runs: nothing was measured"))
	}
	return outcome.Data, nil
}

// visitsIn gives the rates of the points in a session that were visited.
func visitsIn(data *profile.Data) (all []SeenPlace) {
	if data.End == nil || data.End.RealNS <= 0 {
		return nil
	}
	for i, p := range data.Run.Points {
		if i < len(data.End.Visits) && data.End.Visits[i] > 0 {
			rate := float64(data.End.Visits[i]) / (float64(data.End.RealNS) / 1e9)
			all = append(all, SeenPlace{Spec: p.Spec, Rate: rate})
		}
	}
	slices.SortStableFunc(all, func(a, b SeenPlace) int { return cmp.Compare(b.Rate, a.Rate) })
	return all
}

// candidate is a function that was on the stacks, and its entry.
type candidate struct {
	SeenPlace
	entries.Function
}

// entered finds the entries of the functions that have most of the time, with what they call.
func entered(r *analyze.Result, programs []probes.Program) (all []candidate) {
	targets := byShare(r)
	for _, b := range binariesOf(programs) {
		wanted := map[string]float64{}
		for i := range targets {
			u := &targets[i].Unit
			if u.Kind == "func" && len(wanted) < mostEntries &&
				(u.Binary == b.Name() || strings.HasSuffix(b.Path(), u.Binary)) {
				wanted[u.Name] = targets[i].Share
			}
		}
		if len(wanted) == 0 {
			continue
		}
		all = append(all, entriesIn(b, wanted)...)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Share, a.Share), cmp.Compare(a.Spec, b.Spec))
	})
	return all[:min(len(all), mostEntries)]
}

// entriesIn finds functions of one binary by their names.
func entriesIn(b *symbol.Binary, wanted map[string]float64) (all []candidate) {
	var words []string // each symbol has one of them in it
	for name := range wanted {
		words = append(words, symbol.LastComponent(name))
	}
	possible := func(s string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
	}
	// An error leaves out functions, and there are system calls yet.
	_ = b.EachFunc(possible, func(f symbol.Func, _ bool) bool {
		if share, ok := wanted[f.Name]; ok {
			delete(wanted, f.Name) // of several instances the first
			all = append(all, candidate{SeenPlace{Spec: "func:" + f.Name, Share: share},
				entries.Function{File: b.Opened(), Offset: f.FileOffset}})
		}
		return len(wanted) > 0
	})
	for i := range all {
		if frames, err := b.Frames(all[i].Offset); err == nil && len(frames) > 0 && frames[len(frames)-1].Line > 0 {
			f := frames[len(frames)-1]
			all[i].Note = fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		}
	}
	return all
}

func binariesOf(programs []probes.Program) (all []*symbol.Binary) {
	for _, p := range programs {
		for _, b := range p {
			if !slices.Contains(all, b) {
				all = append(all, b)
			}
		}
	}
	return all
}

// countEntries counts how often functions are entered, and leaves out those that are not.
func countEntries(ctx context.Context, all []candidate, running []target.Running, length time.Duration) (
	[]SeenPlace, error,
) {
	var pids []int
	for _, r := range running {
		pids = append(pids, r.PID)
	}
	var functions []entries.Function
	for _, c := range all {
		functions = append(functions, c.Function)
	}
	if len(functions) == 0 {
		return nil, nil
	}
	rates, err := entries.Count(ctx, pids, functions, length)
	var found []SeenPlace
	for i, rate := range rates {
		if rate.Unknown || rate.PerSecond == 0 {
			continue
		}
		place := all[i].SeenPlace
		place.Rate, place.TooOften = rate.PerSecond, rate.TooOften
		found = append(found, place)
	}
	return found, err
}
