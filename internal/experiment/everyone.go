package experiment

import (
	"errors"

	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// everyone is all processes of the machine, for as long as a program runs that whatif starts, the load, or until whatif
// is told to stop.
type everyone struct {
	load   *started // nil: there is none
	exempt *exempter
}

func (e *everyone) programs() ([]probes.Program, error) {
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

// record takes in all processes, with those that are forked meanwhile. Nothing is stopped, so none is exempt.
func (e *everyone) record(m members) error {
	return takeAll(m, target.All)
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

func (e *everyone) alive(members) bool { return e.load == nil || !e.load.Ended() }

func (e *everyone) Ended() bool { return e.load != nil && e.load.Ended() }

func (e *everyone) Interrupted() bool { return e.load != nil && e.load.Interrupted() }

func (e *everyone) tell(members) error {
	if e.load == nil {
		return nil
	}
	return errors.Join(e.load.track(nil), e.load.end()) // the ledger's members are all processes, and not the load's
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
