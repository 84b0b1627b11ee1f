package target

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// passedOn are the signals that somebody may send to whatif and mean the program.
// The real-time signals follow in Forward.
var passedOn = []os.Signal{
	unix.SIGHUP, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGVTALRM, unix.SIGIO, unix.SIGPWR,
}

// fromTerminal are the signals that a terminal sends to its whole foreground
// process group.
var fromTerminal = []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH}

// The first real-time signal that Go can catch, and the last.
const (
	firstRealTime = 35
	lastRealTime  = 64
)

// Forward passes signals on that are sent to whatif and meant for the program,
// until ctx is done or p closed. It returns at once; from then on:
//
//   - SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGIO, SIGPWR and the
//     real-time signals go on to the program. whatif lives on until the program
//     ends by them.
//   - SIGINT, SIGQUIT and SIGWINCH come from a terminal for the whole foreground
//     process group. Where whatif and the program both are in it the program has
//     received its own and nothing is sent on (it would get it twice); otherwise
//     (no terminal, a background job, kill from a script) they go on too.
//     Go cannot tell a kill -INT from a Ctrl-C: sent by hand to a whatif in the
//     foreground of its terminal it has no effect; send it to the program.
//   - SIGPIPE is swallowed: a closed stderr must not cost the profile.
//   - SIGTSTP and SIGCONT keep their default: see jobcontrol.go.
//   - A signal that whatif's parent had ignored stays ignored, as under nohup.
//
// Once the program has ended whatif profiles what it has left, or is writing its profile. The first SIGINT,
// SIGTERM, SIGHUP or SIGQUIT then only asks for the end, see Interrupted (the Ctrl-C that ended the program
// is often pressed twice), the second ends whatif.
func (p *Process) Forward(ctx context.Context) {
	signals := make(chan os.Signal, 64)
	for _, sig := range slices.Concat(passedOn, fromTerminal) {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	for sig := firstRealTime; sig <= lastRealTime; sig++ {
		signal.Notify(signals, syscall.Signal(sig))
	}
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, unix.SIGPIPE)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		defer cancel()
		select {
		case <-p.gone:
		case <-ctx.Done():
		}
	}()
	go func() {
		defer signal.Stop(broken)
		defer signal.Stop(signals)
		p.forwardUntilEnd(ctx, signals)
		p.swallowOne(ctx, signals)
		// After Stop the signals have their default action, and the next one ends whatif.
		signal.Stop(signals)
		<-ctx.Done()
	}()
}

func (p *Process) forwardUntilEnd(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.done:
			for len(signals) > 0 { // the Ctrl-C that ended the program is not one of those after it
				p.note(<-signals)
			}
			return
		case sig := <-signals:
			p.note(sig)
			if !p.fromTerminal(sig) {
				_ = p.Signal(sig.(syscall.Signal)) // EPERM: a set-user-ID program; it would not take it from its user either
			}
		}
	}
}

// Interrupted tells whether the program has ended and somebody wants all to end: by SIGINT or SIGTERM while it ran, by SIGHUP or SIGQUIT by which it
// ended, it seems, or by one of those since.
func (p *Process) Interrupted() bool {
	if !p.Ended() {
		return false
	}
	hinted := p.hinted.Load()
	return p.asked.Load() || p.state.Signal == unix.SIGHUP || p.state.Signal == unix.SIGQUIT || hinted != nil && p.ended.Sub(*hinted) < endsBy
}

// endsBy is how soon a program has ended if SIGHUP, which may just have it read its settings, or SIGQUIT, which may have it tell what it does, was why.
const endsBy = 3 * time.Second

func (p *Process) note(sig os.Signal) {
	switch sig {
	case unix.SIGINT, unix.SIGTERM:
		p.asked.Store(true)
	case unix.SIGHUP, unix.SIGQUIT:
		now := time.Now()
		p.hinted.Store(&now)
	}
}

// fromTerminal says whether the program has received sig by itself.
func (p *Process) fromTerminal(sig os.Signal) bool {
	return slices.Contains(fromTerminal, sig) && foreground() && p.sharesGroup()
}

// swallowOne returns after the first signal that would end whatif.
func (p *Process) swallowOne(ctx context.Context, signals <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case sig := <-signals:
			switch sig {
			case unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT:
				p.asked.Store(true)
				return
			}
		}
	}
}
