package experiment

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"whatif/internal/experiment/probes"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/privilege"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// Attach says which processes that run already are to be profiled.
type Attach struct {
	PIDs     []int
	Names    []string // patterns: those that run now
	Cgroup   string   // the processes that are in it, or come into it; "": none
	Children bool     // also the descendants that they have by now
}

// attachedTo are the processes that whatif was told to attach to.
type attachedTo struct {
	how    *Attach
	all    []target.Running // as they were found
	cgroup *cgroupFollower  // nil: none
}

// findRunning finds the processes to attach to.
func findRunning(how *Attach) (*attachedTo, error) {
	a := &attachedTo{how: how}
	all, err := target.FindRunning(how.PIDs)
	if err != nil {
		return nil, err
	}
	for _, glob := range how.Names {
		named, err := target.FindNamed(glob)
		if err != nil {
			return nil, err
		}
		all = append(all, named...)
	}
	if how.Cgroup != "" {
		dir, members, err := findCgroup(how.Cgroup)
		if err != nil {
			return nil, err
		}
		a.cgroup = &cgroupFollower{dir: dir, stop: make(chan struct{})}
		all = append(all, members...)
	}
	if how.Children {
		children, err := target.Descendants(all)
		if err != nil {
			return nil, err
		}
		all = append(all, children...)
	}
	a.all = slices.CompactFunc(
		slices.SortedFunc(slices.Values(all), func(x, y target.Running) int { return x.PID - y.PID }),
		func(x, y target.Running) bool { return x.PID == y.PID })
	return a, nil
}

// warnOfStopped says which processes do not run, so that nothing will be seen of them.
func (a *attachedTo) warnOfStopped(log *slog.Logger) {
	for _, p := range a.all {
		if s, err := target.StatOf(p.PID); err == nil && s.State == 'T' {
			log.Warn(fmt.Sprintf("process %d (%s) is stopped (SIGSTOP), and nothing of it can be measured until it goes on: "+
				"kill -CONT %d", p.PID, s.Name, p.PID), "code", "stopped")
		}
	}
}

// findCgroup finds a cgroup's directory, and its processes.
func findCgroup(name string) (dir string, members []target.Running, err error) {
	if dir, err = target.FindCgroup(name); err != nil {
		return "", nil, err
	}
	members, err = inCgroup(dir)
	if err == nil && privilege.Lent() {
		err = checkOwnCgroup(dir)
	}
	if err == nil && len(members) == 0 {
		err = hint.New(fmt.Errorf("attaching to the cgroup %s: no process in it that could be profiled", dir),
			"start what is to be profiled there first")
	}
	return dir, members, err
}

func (a *attachedTo) programs() ([]probes.Program, error) {
	programs := openRunning(a.all)
	if len(programs) == 0 {
		return nil, fmt.Errorf("attaching to %d processes: none has a program that can be read any more", len(a.all))
	}
	return programs, nil
}

func (a *attachedTo) join(l *ledger.Ledger) error { return a.record(l) }

func (a *attachedTo) record(m members) error {
	if err := m.Join(choices(a.all)); err != nil {
		return err
	}
	if a.how.Children {
		descendants := func() ([]target.Running, error) { return target.Descendants(a.all) }
		if err := takeAll(m, descendants); err != nil {
			return err
		}
	}
	if m.Processes() == 0 {
		return errors.New("attaching: all processes have ended meanwhile")
	}
	if a.cgroup != nil {
		a.cgroup.begin(m)
	}
	return nil
}

// Release does nothing: they run.
func (a *attachedTo) Release() error { return nil }

func (a *attachedTo) Done() <-chan struct{} { return nil }

func (a *attachedTo) alive(m members) bool {
	if a.cgroup == nil {
		return m.Processes() > 0
	}
	return !a.cgroup.isGone()
}

func (a *attachedTo) tell(members) error { return nil }

func (a *attachedTo) Ended() bool { return false }

func (a *attachedTo) Interrupted() bool { return false }

func (a *attachedTo) wait() (int, error) {
	if a.cgroup == nil {
		return 0, nil
	}
	return 0, a.cgroup.failed()
}

func (a *attachedTo) describe(r *profile.Run) {
	r.Subject = "attach"
	for _, p := range a.all {
		r.PIDs = append(r.PIDs, p.PID)
	}
	r.Args = a.all[0].Args
}

func (a *attachedTo) detach() {
	if a.cgroup != nil {
		a.cgroup.end()
	}
}

func (a *attachedTo) Close() error {
	a.detach()
	return nil
}
