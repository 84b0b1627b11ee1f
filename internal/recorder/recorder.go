// Package recorder records what a target does while nothing is delayed: it loads the kernel side of recording, reads
// its rings, and makes a recording of them. Package recording says what is in one, bpf/record.bpf.c how the kernel side
// writes it.
//
// The normal sequence: Open, Probe or Hook for each point, Follow for each binary in Go, Join, Begin, Record, Close.
// Nothing stops the target at any time.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/cilium/ebpf"

	"whatif/bpf"
	"whatif/internal/code/sourcepath"
	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/scope"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/recording"
	"whatif/internal/target"
)

// Options say what is recorded.
type Options struct {
	Points []recording.Point
	// Programs are the names of the main executables: their code is in scope, unless Scope says something else.
	Programs []string
	// AnyProgram does the same for the executable of each process.
	AnyProgram bool
	Scope      scope.Scope
	Paths      sourcepath.Map // how source files are called
	// Found, when set, is called with each binary that a stack leads to.
	Found  func(*symbol.Binary)
	Made   Made          // nil: nothing is known of code that processes make while they run
	Period time.Duration // of running between two samples
	Memory int           // bytes that the recording and the kernel's rings may take; 0: see DefaultMemory
	Length time.Duration // for which it is recorded, as far as that is known before; 0: it is not
	Log    *slog.Logger
}

// DefaultMemory is the bound of a recording's memory if nothing else is asked for, on machines of up to 64 cores.
const DefaultMemory = 64 << 20

// Of the memory a quarter is for the kernel's rings and a window's records, and half for the events of all windows. The
// rest is for stacks, threads and objects.
const (
	ringsPart  = 8
	windowPart = 8
	eventsPart = 2
)

// Recorder is the loaded kernel side of recording, and what was read of it.
type Recorder struct {
	options Options
	kernel  *kernelSide
	code    *code
	pace    *pace
	probing sync.Mutex // points are found by several goroutines

	following  following
	unfollowed string // why goroutines are not followed; "": they are

	joined  int
	raw     []record // of the window
	open    bool     // there is a window
	numbers *numbers
	places  map[uint64]place // told by the kernel side, by their numbers
	taken   []takenWindow
	began   uint64 // on the ledger's clock
	ended   uint64
	wall    time.Time // of began
	events  int       // of all windows taken
	leftOut int64     // ns of windows that were not taken
}

// takenWindow is a window that was recorded. The stacks of its samples have numbers of their own until the end.
type takenWindow struct {
	recording.Window
	repaired int64
}

// Open loads the kernel side. Nothing belongs to the target yet.
func Open(opt Options) (*Recorder, error) {
	cpus, err := online()
	if err != nil {
		return nil, err
	}
	if opt.Memory == 0 {
		opt.Memory = memoryFor(len(cpus))
	}
	r := &Recorder{options: opt, numbers: newNumbers(cpus), places: make(map[uint64]place)}
	if r.kernel, err = openKernel(opt.Memory, cpus); err != nil {
		return nil, err
	}
	r.following.kernel = r.kernel
	r.code = newCode(r.kernel, &opt)
	r.pace = newPace(&opt)
	return r, nil
}

// Probe has the visits recorded that pass these probes. The point of each is its field Of.
func (r *Recorder) Probe(all []Probe) error {
	r.probing.Lock()
	defer r.probing.Unlock()
	return r.kernel.probe(all)
}

// Unfollowed says why the recording has no goroutines although the program has; "" if there is no such reason.
func (r *Recorder) Unfollowed() string { return r.unfollowed }

// Join takes processes in, with all that they fork from then on. It passes over those that are in already, and those
// that have ended since they were found.
func (r *Recorder) Join(all []ledger.Process) error {
	members, err := r.Members()
	if err != nil {
		return err
	}
	in := make(map[int]bool)
	for _, m := range members {
		in[m.PID] = true
	}
	var pids []int
	for _, p := range all {
		if in[p.PID] {
			continue
		}
		if s, err := target.StatOf(p.PID); p.Start == 0 || err == nil && s.Start == p.Start {
			pids = append(pids, p.PID)
		}
	}
	if len(pids) == 0 {
		return nil
	}
	if err := r.kernel.join(pids); err != nil {
		return err
	}
	if members, err = r.Members(); err != nil {
		return err
	}
	for _, m := range members {
		if !in[m.PID] && slices.Contains(pids, m.PID) {
			r.joined++
		}
	}
	return nil
}

// Joined is how many processes were taken in so far, without those that members forked.
func (r *Recorder) Joined() int { return r.joined }

// Leave does nothing: what has left a cgroup is recorded to the end.
func (r *Recorder) Leave([]ledger.Process) error { return nil }

// Processes is how many processes of the target are alive.
func (r *Recorder) Processes() int { return r.kernel.members() }

// Members are the processes of the target. A process that runs another program by now counts as another one. If some
// come or go meanwhile, others may be missing.
func (r *Recorder) Members() ([]ledger.Process, error) {
	var tgid uint32
	var p bpf.RecordRecordedProcess
	var all []ledger.Process
	members := r.kernel.Maps["members"].Iterate()
	for members.Next(&tgid, &p) {
		if p.Ended == 0 {
			all = append(all, ledger.Process{PID: int(p.Number), Unique: p.Space})
		}
	}
	if err := members.Err(); err != nil && !errors.Is(err, ebpf.ErrIterationAborted) {
		return nil, fmt.Errorf("listing the processes that are recorded: %w", err)
	}
	return all, nil
}

// look is the time after which the rings are looked at. At 50,000 events a second on one core some 30 KB come
// meanwhile.
const look = 10 * time.Millisecond

// Begin begins to sample.
func (r *Recorder) Begin() error { return r.kernel.sample(r.options.Period) }

// WarmUp lets the target run for a time that does not belong to the recording.
func (r *Recorder) WarmUp(ctx context.Context, d time.Duration, alive func() bool) error {
	return r.wait(ctx, alive, d)
}

// Record records until the context is done or alive says that the target is not.
func (r *Recorder) Record(ctx context.Context, alive func() bool) error {
	r.began, r.wall = ledger.Now(), time.Now()
	var err error
	for err == nil && ctx.Err() == nil && alive() {
		next := r.pace.next()
		if next.warmUp || next.length > 0 {
			err = r.window(ctx, alive, next)
		}
		if err == nil && next.gap > 0 {
			err = r.wait(ctx, alive, next.gap)
		}
	}
	r.ended = ledger.Now()
	r.code.finish()
	return err
}

// wait reads the rings for a time, or until the target is gone.
func (r *Recorder) wait(ctx context.Context, alive func() bool, d time.Duration) error {
	end := time.Now().Add(d)
	for time.Now().Before(end) && ctx.Err() == nil && alive() {
		time.Sleep(min(look, time.Until(end)))
		if err := r.read(); err != nil {
			return err
		}
	}
	return nil
}

// window records one window.
func (r *Recorder) window(ctx context.Context, alive func() bool, w next) error {
	r.raw, r.open = r.raw[:0], true
	clear(r.numbers.unborn)
	defer func() { r.open = false }()
	if err := r.following.enter(); err != nil {
		return err
	}
	before := r.kernel.counts()
	opened, err := r.kernel.begin()
	if err != nil {
		return err
	}
	until := time.Now().Add(w.length)
	for ctx.Err() == nil && alive() && r.kernel.recording() && len(r.raw) < r.kernel.windowRecords &&
		time.Now().Before(until) {
		r.kernel.shift()
		time.Sleep(min(look, max(time.Until(until), 0)))
		if err := r.read(); err != nil {
			return err
		}
	}
	end := r.kernel.end()
	// A core that has just looked whether it is to record may still write a record.
	time.Sleep(time.Millisecond)
	if err := r.read(); err != nil {
		return err
	}
	counted := r.kernel.counts().since(before)
	r.pace.learn(end-opened, counted)
	if err := r.learnFollowing(end-opened, counted); err != nil {
		return err
	}
	r.options.Log.Debug("recorded a window", "ms", (end-opened)/1e6, "records", counted.written, "lost", counted.lost,
		"samples", counted.samples, "wakes", counted.wakes, "unfollowed", counted.unknown,
		"cost_percent", 100*counted.cost/float64(max(end-opened, 1)),
		"probes_percent", 100*counted.probes/float64(max(end-opened, 1)), "share_from_now", r.pace.share)
	if !w.warmUp {
		r.keep(opened, end, counted)
	}
	return nil
}

// learnFollowing takes probes on Go's runtime away where they cost too much.
func (r *Recorder) learnFollowing(ns uint64, c counts) error {
	cost := c.probes / float64(max(ns, 1))
	ended, err := r.following.learn(cost, len(r.taken) > 0, r.pace.share < 1)
	if ended {
		r.pace.forget()
		r.unfollowed = fmt.Sprintf("goroutines wait for each other, or are made, so often that following them took "+
			"%.0f%% of a core: the recording has their threads only, and estimates may be off by it", 100*cost)
		r.options.Log.Warn(r.unfollowed, "code", "goroutines")
	}
	return err
}

// keep keeps the events of a window that has ended.
func (r *Recorder) keep(begin, end uint64, counted counts) {
	events, repaired := arrange(r.raw, r.numbers, r.began, begin, end)
	if len(events) > leastEvents && repaired*tooManyRepairs > int64(len(events)) ||
		counted.lost*tooManyLost > counted.written {
		r.leftOut += int64(end - begin)
		return
	}
	w := takenWindow{repaired: repaired}
	w.Begin, w.End, w.Events = int64(begin-r.began), int64(end-r.began), slices.Clip(events)
	r.taken = append(r.taken, w)
	r.events += len(events)
	r.thin()
}

// A window is left out if more than one in tooManyRepairs of its events had to be added, or one in tooManyLost found no
// room: a wake-up that is missing is a thread that nothing seems to have waked.
const (
	leastEvents    = 100
	tooManyRepairs = 10
	tooManyLost    = 100
)

// thin drops windows where all of them would need more memory than there is, and has fewer recorded from then on. Of
// each two neighbours one goes, so that those that stay are spread over the whole time.
func (r *Recorder) thin() {
	for r.events > r.pace.mostEvents && len(r.taken) > 1 {
		var kept []takenWindow
		for i, w := range r.taken {
			if i%2 == 0 {
				kept = append(kept, w)
			} else {
				r.events -= len(w.Events)
			}
		}
		r.taken = kept
		r.pace.halve()
	}
}

// Close gives the kernel side up. The recording does not need it any more.
func (r *Recorder) Close() error {
	return errors.Join(r.following.close(), r.code.close(), r.kernel.close())
}

// Recording makes the recording. It is called once, before Close.
func (r *Recorder) Recording() (*recording.Recording, error) {
	if len(r.taken) == 0 {
		if r.leftOut > 0 {
			return nil, errors.New("recording: events found no room, or were missing, in all of it: count fewer points")
		}
		return nil, hint.New(fmt.Errorf("recording: it ended too soon: the first %v, and a --warmup before, are not kept",
			warmUp), "give the program more to do, or record for longer")
	}
	rec := r.build()
	rec.Costs = r.kernel.costs()
	return rec, recording.Repair(rec)
}
