package experiment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/profile"
	"whatif/internal/symbol"
	"whatif/internal/target"
)

// A subject is what a session profiles: a program that it starts, processes that run
// already, or all there are.
type subject interface {
	// programs are those whose code is known before anything is counted.
	programs() ([]program, error)
	// join makes it the target.
	join(l *ledger.Ledger) error
	// Release lets it run, if it does not yet.
	Release() error
	// Done is closed when the program that was started has ended; nil: none was.
	Done() <-chan struct{}
	// alive tells whether there is anything left to profile.
	alive(l *ledger.Ledger) bool
	// Ended tells whether Done is closed; Interrupted, whether besides somebody wants all to end.
	Ended() bool
	Interrupted() bool
	// detach is called before the ledger is closed: it is not used any more.
	detach()
	// tell tells what was started to end. What runs by itself is left alone, here and in wait.
	tell(l *ledger.Ledger) error
	// wait waits for what was started to end, and gives its status. If it was told to end, what it leaves behind is told, too, and named where it goes on.
	wait() (int, error)
	// describe says in a run's record what it is.
	describe(r *profile.Run)
	Close() error
}

// program is a program's own binary and the libraries that it loads.
type program []*symbol.Binary

func (p program) close() {
	for _, b := range p {
		b.Close()
	}
}

// started is a program that whatif starts.
type started struct {
	*target.Process
	args []string
	log  *slog.Logger
	told bool             // to end
	left target.Leftovers // as it was told
}

// endsWithin is how long a program that was told to end may take, and what it leaves behind, before the user is told that it goes on.
const endsWithin = 3 * time.Second

func (p *started) programs() ([]program, error) {
	loads, err := loaded(p.PID())
	return []program{loads}, err
}

func (p *started) join(l *ledger.Ledger) error { return l.Adopt(p.PID()) }

func (p *started) alive(l *ledger.Ledger) bool {
	return !p.Ended() || l.Processes() > 0 && !p.Interrupted()
}

func (p *started) tell(l *ledger.Ledger) error {
	members, err := l.Members()
	var pids []int
	for _, m := range members {
		pids = append(pids, m.PID)
	}
	return errors.Join(err, p.end(pids))
}

// end tells it to end, and has those of these processes that it leaves behind told, too.
func (p *started) end(pids []int) error {
	left, err := p.Leftovers(pids)
	p.told, p.left = true, left
	return errors.Join(err, p.Signal(unix.SIGTERM))
}

func (p *started) wait() (int, error) {
	if !p.told {
		return p.Wait().Status, nil
	}
	if !p.left.Await(p.Process, endsWithin) {
		p.log.Warn(fmt.Sprintf("%s was told to end (SIGTERM) and goes on; whatif waits for its end. What was measured is in the profile. kill -KILL %d ends it", p.args[0], p.PID()))
		p.left.Await(p.Process, math.MaxInt64)
	}
	status := p.Wait().Status
	stubborn, away, err := p.left.Terminate(endsWithin)
	p.warnOf(stubborn, "was told to end (SIGTERM); whatif does not wait for it", "kill -KILL")
	p.warnOf(away, "is in another process group, so it was not told to end", "kill")
	return status, err
}

func (p *started) detach() {}

// warnOf says that these go on, which it has started, and how each is ended.
func (p *started) warnOf(these []target.Running, why, ends string) {
	const most = 5
	for _, r := range these[:min(most, len(these))] {
		p.log.Warn(fmt.Sprintf("process %d (%s), which %s has started, goes on: it %s. %s %d ends it", r.PID, shortened(r.Args), p.args[0], why, ends, r.PID))
	}
	if more := len(these) - most; more > 0 {
		p.log.Warn(fmt.Sprintf("%d more processes that %s has started go on", more, p.args[0]))
	}
}

func (p *started) describe(r *profile.Run) { r.Args = p.args }

func shortened(args []string) string {
	const most = 60
	text := []rune(strings.Join(args, " "))
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}

// everyone is all processes of the machine, for as long as a program runs that whatif
// starts, the load, or until it is told to stop.
type everyone struct {
	load   *started // nil: there is none
	exempt *exempter
}

func (e *everyone) programs() ([]program, error) {
	if e.load == nil {
		return nil, nil
	}
	return e.load.programs()
}

func (e *everyone) join(l *ledger.Ledger) error {
	load := 0
	if e.load != nil {
		if err := e.load.join(l); err != nil {
			return err
		}
		load = e.load.PID()
	}
	return e.exempt.begin(l, load)
}

func (e *everyone) Release() error {
	if e.load == nil {
		return nil
	}
	return e.load.Release()
}

func (e *everyone) Done() <-chan struct{} {
	if e.load == nil {
		return nil
	}
	return e.load.Done()
}

func (e *everyone) alive(*ledger.Ledger) bool { return e.load == nil || !e.load.Ended() }

func (e *everyone) Ended() bool { return e.load != nil && e.load.Ended() }

func (e *everyone) Interrupted() bool { return e.load != nil && e.load.Interrupted() }

func (e *everyone) tell(*ledger.Ledger) error {
	if e.load == nil {
		return nil
	}
	return e.load.end(nil) // the ledger's members are everyone
}

func (e *everyone) wait() (int, error) {
	if e.load == nil {
		return 0, nil
	}
	return e.load.wait()
}

func (e *everyone) detach() { e.exempt.end() }

func (e *everyone) describe(r *profile.Run) {
	r.Subject = "system"
	if e.load != nil {
		e.load.describe(r)
	}
}

func (e *everyone) Close() error {
	e.exempt.end()
	if e.load == nil {
		return nil
	}
	return e.load.Close()
}

// launch makes the subject: it starts the program, stopped, where there is one to start.
func (s *session) launch(ctx context.Context) (subject, error) {
	switch {
	case s.cfg.Attach != nil:
		return findRunning(s.cfg)
	case s.cfg.System && len(s.cfg.Args) == 0:
		return &everyone{exempt: newExempter(s.cfg)}, nil
	}
	p, err := s.startOnce()
	if err != nil {
		return nil, err
	}
	p.Forward(ctx)
	if s.cfg.System {
		return &everyone{load: p, exempt: newExempter(s.cfg)}, nil
	}
	return p, nil
}

// Starts tells whether a program is started for a session.
func (c *Config) Starts() bool { return len(c.Args) > 0 }

func choices(all []target.Running) []ledger.Process {
	var chosen []ledger.Process
	for _, r := range all {
		chosen = append(chosen, ledger.Process{PID: r.PID, Start: r.Start, Unique: r.Unique})
	}
	return chosen
}

var errNoPoint = hint.New(errors.New("profiling what runs already: no progress point, so nothing would tell its speed"),
	"name what it does once for each unit of work: -p func:NAME, -p syscall:NAME and others; whatif points PROGRAM lists some")

// mapped opens the programs of processes, and what they have mapped.
func mapped(all []target.Running) []program {
	type id struct{ dev, inode uint64 }
	opened := make(map[id]*symbol.Binary) // nil: it is no ELF file
	open := func(pid int, m target.Mapping) *symbol.Binary {
		key := id{m.Dev, m.Inode}
		if b, known := opened[key]; known {
			return b
		}
		path, err := target.Reachable(pid, m)
		if err != nil {
			return nil // gone, or another file by now
		}
		b, err := symbol.Open(path)
		if err == nil && !target.IsMapped(b.Opened(), m) {
			b.Close()
			return nil // another file by now
		}
		if err != nil {
			b = nil
		}
		opened[key] = b
		return b
	}
	var programs []program
	have := make(map[*symbol.Binary]bool)
	for _, r := range all {
		exe, err := target.Executable(r.PID)
		if err != nil {
			continue // gone
		}
		maps, err := target.Maps(r.PID)
		if err != nil {
			continue
		}
		var p program
		for _, m := range maps {
			if m.Dev == exe.Dev && m.Inode == exe.Inode {
				exe = m // with its addresses it can be opened also where its path leads elsewhere
			}
		}
		main := open(r.PID, exe)
		if main == nil || have[main] {
			continue
		}
		have[main] = true
		p = append(p, main)
		for _, m := range maps {
			if b := open(r.PID, m); b != nil && b != main && !p.has(b) {
				p = append(p, b)
			}
		}
		programs = append(programs, p)
	}
	return programs
}

func (p program) has(b *symbol.Binary) bool {
	for _, other := range p {
		if other == b {
			return true
		}
	}
	return false
}
