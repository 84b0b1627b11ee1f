package experiment

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// started is a program that whatif starts.
type started struct {
	*target.Process
	args []string
	log  *slog.Logger
	told bool             // to end
	left target.Leftovers // when it was told
}

// endsWithin is how long a program that was told to end may take, and then the processes that it leaves behind, before
// the user is told that they go on.
const endsWithin = 3 * time.Second

func (p *started) programs() ([]probes.Program, error) {
	loads, err := openStopped(p.PID())
	return []probes.Program{loads}, err
}

func (p *started) join(l *ledger.Ledger) error { return l.Adopt(p.PID()) }

func (p *started) record(m members) error { return take(m, []ledger.Process{{PID: p.PID()}}) }

func (p *started) alive(m members) bool {
	return !p.Ended() || m.Processes() > 0 && !p.Interrupted()
}

func (p *started) tell(m members) error {
	all, err := m.Members()
	var pids []int
	for _, member := range all {
		pids = append(pids, member.PID)
	}
	return errors.Join(err, p.track(pids), p.end())
}

// track begins to track these processes, and what the program leaves behind from now on.
func (p *started) track(pids []int) (err error) {
	p.left, err = p.Leftovers(pids)
	return err
}

// end tells the program to end, and has wait tell what it leaves behind of what is tracked.
func (p *started) end() error {
	p.told = true
	return p.Signal(unix.SIGTERM)
}

func (p *started) wait() (int, error) {
	if !p.told {
		return p.Wait().Status, nil
	}
	if !p.left.Await(p.Process, endsWithin) {
		p.log.Warn(fmt.Sprintf("%s was told to end (SIGTERM) and goes on; whatif waits for its end. "+
			"What was measured is in the profile. kill -KILL %d ends it", p.args[0], p.PID()))
		p.left.Await(p.Process, math.MaxInt64)
	}
	status := p.Wait().Status
	stubborn, away, err := p.left.Terminate(endsWithin)
	p.warnOf(stubborn, "was told to end (SIGTERM); whatif does not wait for it", "kill -KILL")
	p.warnOf(away, "is in another process group, so it was not told to end", "kill")
	return status, err
}

func (p *started) detach() {}

// warnOf says of processes which the program has started that they go on, and how each is ended.
func (p *started) warnOf(these []target.Running, why, ends string) {
	const most = 5
	for _, r := range these[:min(most, len(these))] {
		p.log.Warn(fmt.Sprintf("process %d (%s), which %s has started, goes on: it %s. %s %d ends it",
			r.PID, shortened(r.Args), p.args[0], why, ends, r.PID))
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
