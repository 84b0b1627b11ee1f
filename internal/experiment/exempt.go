package experiment

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/target"
)

// exempter keeps processes out of a target that is everyone: those that the machine needs, and those that the user
// named. Those that start while everyone is profiled are looked for again and again: the kernel side knows no names.
type exempter struct {
	cfg  *Config
	load int                   // its process; 0: there is none
	all  map[int]target.Exempt // by PID
	seen map[int]looked        // members, as they were looked at last

	following sync.WaitGroup
	stop      chan struct{}
	once      sync.Once // for stop
}

type looked struct {
	process ledger.Process
	comm    string
	asked   bool // whether it is exempt
}

func newExempter(cfg *Config) *exempter {
	return &exempter{cfg: cfg, all: make(map[int]target.Exempt), seen: make(map[int]looked), stop: make(chan struct{})}
}

// begin takes in everyone else, and says once for a run which processes are exempt.
func (e *exempter) begin(l *ledger.Ledger, load int) error {
	if !e.cfg.saidExempt { // later executions of a load go on without those that have ended
		if err := e.cfg.Exempt.Check(); err != nil {
			return err
		}
	}
	all, missing, err := e.cfg.Exempt.Find(load)
	if err != nil {
		return err
	}
	var running []target.Running
	for _, x := range all {
		e.all[x.PID] = x
		running = append(running, x.Running)
	}
	e.load = load
	if !e.cfg.saidExempt {
		e.cfg.saidExempt = true
		e.say(all, missing)
	}
	if err := l.JoinAll(choices(running)); err != nil {
		return err
	}
	e.following.Go(func() { e.follow(l) })
	return nil
}

// end is called as often as one likes.
func (e *exempter) end() {
	e.once.Do(func() { close(e.stop) })
	e.following.Wait()
}

func (e *exempter) say(all []target.Exempt, missing []string) {
	e.cfg.Log.Warn(exemptLine(all))
	for _, x := range all {
		e.tell(x)
	}
	for _, name := range missing {
		e.cfg.Log.Warn(fmt.Sprintf("--exempt %s: no process has that name now; those that start later will be exempt", name))
	}
}

func (e *exempter) tell(x target.Exempt) {
	e.cfg.Log.Debug(fmt.Sprintf("process %d (%s) is never stopped: %s; %s", x.PID, shortened(x.Args), x.Kind, x.Why))
}

// exemptLine says how many are left out, and of which kinds, the most frequent first.
func exemptLine(all []target.Exempt) string {
	count := make(map[string]int)
	for _, x := range all {
		count[x.Kind]++
	}
	var kinds []string
	for kind := range count {
		kinds = append(kinds, kind)
	}
	slices.SortFunc(kinds, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", kind, count[kind])
	}
	return fmt.Sprintf("%d processes are never stopped: %s (--verbose names them, --exempt adds to them)",
		len(all)+1, strings.Join(append([]string{"whatif"}, kinds...), ", "))
}

// follow looks for those that have started, or run another program, since.
func (e *exempter) follow(l *ledger.Ledger) {
	// On a machine of many processes a pass takes a while, and is done less often.
	const least, most, part = 300 * time.Millisecond, 2 * time.Second, 25
	for wait := time.Duration(0); ; {
		select {
		case <-e.stop:
			return
		case <-time.After(wait):
		}
		begin := time.Now()
		if err := e.pass(l); err != nil {
			e.cfg.Log.Warn("looking for processes that are not to be stopped: " + err.Error())
			return
		}
		wait = min(max(least, part*time.Since(begin)), most)
	}
}

// pass lets those go that are to be exempt, once they have been called the same for two passes: the child of an exempt
// process that is about to run another program has its parent's name for a moment. One that runs another program
// while it is let go is a member again, and met by the next pass.
func (e *exempter) pass(l *ledger.Ledger) error {
	members, err := l.Members()
	if err != nil {
		return err
	}
	seen := make(map[int]looked, len(members))
	var leave []ledger.Process
	for _, m := range members {
		now := looked{process: m, comm: target.CommOf(m.PID)}
		if was, known := e.seen[m.PID]; known && was.process.Same(m) && was.comm == now.comm {
			now.asked = true
			if x, ok := e.isExempt(m.PID, was.asked); ok {
				m.Start, m.Unique = x.Start, x.Unique
				leave = append(leave, m)
			}
		}
		seen[m.PID] = now
	}
	e.seen = seen
	if len(leave) == 0 {
		return nil
	}
	return l.Exempt(leave)
}

func (e *exempter) isExempt(pid int, asked bool) (target.Exempt, bool) {
	if asked {
		return target.Exempt{}, false
	}
	x, ok := e.cfg.Exempt.FindLater(pid, e.load, e.all)
	if ok {
		e.all[pid] = x
		e.tell(x)
	}
	return x, ok
}
