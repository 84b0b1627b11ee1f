package experiment

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/target"
)

// exemptions are the processes that are kept out of a target that is all processes: those that the machine needs, and
// those that the user named.
type exemptions struct {
	of   target.Exemptions
	log  *slog.Logger
	said bool // which processes they are
}

// find looks for them, and says once for a run which they are. Later executions of a load go on without those that have
// ended.
func (x *exemptions) find(load int) ([]target.Exempt, error) {
	if !x.said {
		if err := x.of.Check(); err != nil {
			return nil, err
		}
	}
	all, missing, err := x.of.Find(load)
	if err != nil || x.said {
		return all, err
	}
	x.said = true
	x.log.Warn(exemptLine(all))
	for _, e := range all {
		x.tell(e)
	}
	for _, name := range missing {
		x.log.Warn(fmt.Sprintf("--exempt %s: no process has that name now; those that start later will be exempt", name))
	}
	return all, nil
}

func (x *exemptions) tell(e target.Exempt) {
	x.log.Debug(fmt.Sprintf("process %d (%s) is never stopped: %s; %s", e.PID, shortened(e.Args), e.Kind, e.Why))
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

// exempter keeps exempt processes out of the target during one execution. Those that start while all processes are
// profiled are looked for again and again: the kernel side knows no names.
type exempter struct {
	exemptions *exemptions
	load       int                   // its process; 0: there is none
	all        map[int]target.Exempt // by PID
	seen       map[int]looked        // members, as they were looked at last

	following sync.WaitGroup
	stop      chan struct{}
	once      sync.Once // for stop
}

type looked struct {
	process ledger.Process
	comm    string
	asked   bool // whether it is exempt
}

func newExempter(x *exemptions) *exempter {
	return &exempter{
		exemptions: x, all: make(map[int]target.Exempt), seen: make(map[int]looked), stop: make(chan struct{}),
	}
}

// begin makes all other processes the target.
func (e *exempter) begin(l *ledger.Ledger, load int) error {
	all, err := e.exemptions.find(load)
	if err != nil {
		return err
	}
	var running []target.Running
	for _, x := range all {
		e.all[x.PID] = x
		running = append(running, x.Running)
	}
	e.load = load
	if err := l.JoinAll(choices(running)); err != nil {
		return err
	}
	e.following.Go(func() { e.follow(l) })
	return nil
}

// end may be called any number of times.
func (e *exempter) end() {
	e.once.Do(func() { close(e.stop) })
	e.following.Wait()
}

// follow looks for processes that have started, or run another program, since.
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
			e.exemptions.log.Warn("looking for processes that are not to be stopped: " + err.Error())
			return
		}
		wait = min(max(least, part*time.Since(begin)), most)
	}
}

// pass takes processes that are to be exempt out of the target, once they have had the same name for two passes: the
// child of an exempt process has its parent's name for a moment, until it runs another program. A process that runs
// another program while it is taken out is a member again, and met by the next pass.
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
	x, ok := e.exemptions.of.FindLater(pid, e.load, e.all)
	if ok {
		e.all[pid] = x
		e.exemptions.tell(x)
	}
	return x, ok
}
