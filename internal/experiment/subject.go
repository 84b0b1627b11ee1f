package experiment

import (
	"errors"
	"fmt"

	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// A subject is what a session profiles: a program that it starts ([started]), processes that run already
// ([attachedTo]), or all that there are ([everyone]).
type subject interface {
	// programs are those with code that is known before anything is counted.
	programs() ([]probes.Program, error)
	// join makes it the target.
	join(l *ledger.Ledger) error
	// record makes it what is recorded.
	record(m members) error
	// Release lets it run, if it does not yet.
	Release() error
	// Done is closed when the program that was started has ended; nil: none was started.
	Done() <-chan struct{}
	// alive tells whether there is anything left to profile.
	alive(m members) bool
	// Ended tells whether Done is closed.
	Ended() bool
	// Interrupted tells whether everything is to end, as after Ctrl-C.
	Interrupted() bool
	// detach is called before the ledger, or the recorder, is closed: it is not used any more.
	detach()
	// tell tells the program that was started to end. What was not started is left alone, here and in wait.
	tell(m members) error
	// wait waits for the end of the program that was started, and gives its status. If the program was told to end, the
	// processes that it leaves behind are told, too, and named where they go on.
	wait() (int, error)
	// describe says in a run's record what it is.
	describe(r *profile.Run)
	Close() error
}

// members are the target's processes, which a ledger or a recorder knows.
type members interface {
	Join(all []ledger.Process) error
	Joined() int // how many were taken in so far, without those that members forked
	Leave(all []ledger.Process) error
	Members() ([]ledger.Process, error)
	Processes() int // that are alive
}

// take takes processes in, of which one at least must be alive.
func take(m members, all []ledger.Process) error {
	if err := m.Join(all); err != nil {
		return err
	}
	if m.Processes() == 0 {
		return fmt.Errorf("recording %d processes: all of them have ended", len(all))
	}
	return nil
}

// takeAll takes in what find finds, and what was made while that was looked for, until there is no more. What a process
// makes once it has been taken in belongs to the target by itself.
func takeAll(m members, find func() ([]target.Running, error)) error {
	for {
		before := m.Joined()
		all, err := find()
		if err != nil {
			return err
		}
		if err := m.Join(choices(all)); err != nil || m.Joined() == before {
			return err
		}
	}
}

func choices(all []target.Running) []ledger.Process {
	var chosen []ledger.Process
	for _, r := range all {
		chosen = append(chosen, ledger.Process{PID: r.PID, Start: r.Start, Unique: r.Unique})
	}
	return chosen
}

var errNoPoint = hint.New(
	errors.New("profiling what runs already: no progress point, so nothing would tell its speed"),
	"name what it does once for each unit of work: -p func:NAME, -p syscall:NAME and others; "+
		"whatif points PROGRAM lists some")
