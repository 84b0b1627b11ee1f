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

// passedOn are signals that are meant for the program, though they are sent to whatif. Forward adds the real-time
// signals.
var passedOn = []os.Signal{
	unix.SIGHUP, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGALRM, unix.SIGVTALRM, unix.SIGIO, unix.SIGPWR,
}

// fromTerminal are the signals that a terminal sends to its whole foreground process group.
var fromTerminal = []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH}

// The first real-time signal that Go can catch, and the last.
const (
	firstRealTime = 35
	lastRealTime  = 64
)

// Forward passes signals that are sent to whatif on to the program, until ctx is done or p is closed. It returns at
// once. From then on:
//
//   - SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGIO, SIGPWR and the real-time signals are sent on to the
//     program. whatif lives on; the program may end by them.
//   - SIGINT, SIGQUIT and SIGWINCH come from a terminal, for its whole foreground process group. If whatif and the
//     program are both in that group, the program has its own signal, and nothing is sent on. Otherwise (no terminal, a
//     background job, kill from a script) they are sent on, too. Go cannot distinguish kill -INT from Ctrl-C: a kill
//     -INT for a whatif in the foreground of its terminal has no effect. Send it to the program.
//   - SIGPIPE is ignored: a closed stderr must not cost the profile.
//   - SIGTSTP and SIGCONT keep their default actions: see jobcontrol.go.
//   - A signal that whatif's parent had ignored stays ignored, as under nohup.
//
// When the program has ended, whatif profiles its descendants, or writes the profile. The first SIGINT, SIGTERM, SIGHUP
// or SIGQUIT then only asks for the end, because the Ctrl-C that ended the program is often pressed twice (see
// Interrupted). The second one ends whatif.
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
			for len(signals) > 0 { // signals up to here, such as the Ctrl-C that ended the program, do not count as later
				p.note(<-signals)
			}
			return
		case sig := <-signals:
			p.note(sig)
			if !p.fromTerminal(sig) {
				// EPERM: a set-user-ID program, which would not take the signal from its user, either.
				_ = p.Signal(sig.(syscall.Signal))
			}
		}
	}
}

// Interrupted tells whether the program has ended and a signal asks for the end of everything: SIGINT or SIGTERM while
// the program ran; SIGHUP or SIGQUIT by which the program ended, as far as can be told; or one of the four since then.
func (p *Process) Interrupted() bool {
	if !p.Ended() {
		return false
	}
	hinted := p.hinted.Load()
	return p.asked.Load() || p.state.Signal == unix.SIGHUP || p.state.Signal == unix.SIGQUIT ||
		hinted != nil && p.ended.Sub(*hinted) < endsBy
}

// endsBy is the time within which a program ends if SIGHUP or SIGQUIT is the reason. SIGHUP may only make it read its
// settings again, and SIGQUIT may only make it print its state.
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

// fromTerminal tells whether the terminal has sent sig to the program, too.
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
