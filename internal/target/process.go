package target

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// Config is the program to start. Only Args is required.
type Config struct {
	Args []string // Args[0] is looked up in PATH, as a shell does
	Dir  string   // "": whatif's own
	Env  []string // nil: whatif's own, with USER, LOGNAME and HOME corrected if the user is switched
	// Preload is a library that the dynamic linker loads into the program, and into programs that it runs, before all
	// others; "": none.
	Preload string
	// Set are variables of the environment, NAME=VALUE, that replace those of the same name.
	Set []string
	// User is a name or number; "": the user who called sudo, or else whatif's own user.
	User string
	// Place is where the program runs.
	Place Place
	// The standard files; nil: whatif's own.
	Stdin, Stdout, Stderr *os.File
}

// A Place is a part of the machine that a program has for itself. "": it has that of whatif.
type Place struct {
	Network string // the file of a network namespace
	Procs   string // the file cgroup.procs of a cgroup
}

// A Process is a started program. It is stopped before its first instruction until Release is called. The methods may
// be called from any goroutine.
type Process struct {
	name  string
	pid   int
	pidfd int

	mu       sync.Mutex // guards the next three fields, and the use of pid
	released bool
	closed   bool
	state    ExitState

	release chan chan error
	done    chan struct{}             // closed when the program has ended
	gone    chan struct{}             // closed by Close
	asked   atomic.Bool               // a signal asked for the end: see Interrupted
	hinted  atomic.Pointer[time.Time] // when the last signal came that may have asked for the end
	ended   time.Time                 // set, like state, before done is closed
}

// Start starts the program and stops it before its first instruction. Release lets the program run, and Close gives it
// up. Main must have been called before.
func Start(cfg Config) (*Process, error) {
	if !hasMain {
		panic("target: Start without Main")
	}
	if len(cfg.Args) == 0 {
		return nil, hint.New(errors.New("starting a program: none given"), "whatif run [flags] -- PROGRAM [ARG...]")
	}
	p, err := start(cfg)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cfg.Args[0], err)
	}
	return p, nil
}

func start(cfg Config) (*Process, error) {
	s, err := describe(cfg)
	if err != nil {
		return nil, err
	}
	t := &tracer{spec: s, std: [3]*os.File{cfg.Stdin, cfg.Stdout, cfg.Stderr}}
	started := make(chan error)
	release := make(chan chan error)
	go t.run(started, release)
	if err := <-started; err != nil {
		if se, ok := errors.AsType[*stageError](err); ok {
			return nil, explain(cfg.Args[0], s, se.failure)
		}
		return nil, err
	}
	p := &Process{
		name: cfg.Args[0], pid: t.pid, pidfd: t.pidfd,
		release: release, done: make(chan struct{}), gone: make(chan struct{}),
	}
	go p.reap()
	return p, nil
}

// describe collects what the stage needs to know.
func describe(cfg Config) (*spec, error) {
	u, err := programUser(cfg.User)
	if err != nil {
		return nil, err
	}
	env := cfg.Env
	if env == nil {
		env = environmentFor(os.Environ(), u)
	}
	if cfg.Preload != "" {
		env = preloading(env, cfg.Preload)
	}
	env = setting(env, cfg.Set)
	paths, err := look(cfg.Args[0], searchPath(env), cfg.Dir)
	if err != nil {
		return nil, err
	}
	s := &spec{
		User: u, Dir: []byte(cfg.Dir), Inherit: inherited(),
		DropAll: u != nil, KeepAll: u == nil && os.Geteuid() == 0, Place: cfg.Place,
	}
	if s.Paths, err = packStrings(paths); err != nil {
		return nil, err
	}
	if s.Args, err = packStrings(cfg.Args); err != nil {
		return nil, err
	}
	if s.Env, err = packStrings(env); err != nil {
		return nil, err
	}
	return s, nil
}

// preloading adds a library to LD_PRELOAD, before those that the user preloads.
func preloading(env []string, library string) []string {
	const variable = "LD_PRELOAD="
	changed := make([]string, 0, len(env)+1)
	value := library
	for _, entry := range env {
		if old, ok := strings.CutPrefix(entry, variable); ok {
			if old != "" {
				value = library + ":" + old
			}
			continue
		}
		changed = append(changed, entry)
	}
	return append(changed, variable+value)
}

// setting replaces variables, or adds them.
func setting(env, set []string) []string {
	isSet := func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") })
	}
	return append(slices.DeleteFunc(slices.Clone(env), isSet), set...)
}

// PID is the program's process id. Until Wait returns no other process can have it.
func (p *Process) PID() int { return p.pid }

// PIDFD refers to the program, and never to another process with the same number. It is valid until Close; -1 on a
// kernel without pidfds.
func (p *Process) PIDFD() int { return p.pidfd }

// Release lets the program run. It is no error if the program has been killed, or if Release was called before.
func (p *Process) Release() error {
	p.mu.Lock()
	first := !p.released
	p.released = true
	p.mu.Unlock()
	if !first {
		return nil
	}
	answer := make(chan error)
	p.release <- answer
	if err := <-answer; err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("releasing %s: %w", p.name, err)
	}
	return nil
}

// Signal sends sig to the program, but not to its descendants. It is no error if the program has ended.
func (p *Process) Signal(sig syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Ended() {
		return nil
	}
	// reap takes the lock before it reaps the zombie, so the number is still the program's.
	if err := unix.Kill(p.pid, sig); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("sending %s to %s: %w", signalName(sig), p.name, err)
	}
	return nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended tells whether the program has ended: Done is closed.
func (p *Process) Ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// Wait waits for the end of the program's own process. Descendants may live on.
func (p *Process) Wait() ExitState {
	<-p.done
	return p.state
}

// Close frees p. A program that was never released is killed, because it has done nothing yet and nothing else would
// end it. A running program runs on.
func (p *Process) Close() error {
	p.mu.Lock()
	released, closed := p.released, p.closed
	p.closed = true
	p.mu.Unlock()
	if closed {
		return nil
	}
	close(p.gone)
	var err error
	if !released {
		err = errors.Join(p.Signal(unix.SIGKILL), p.Release())
		p.Wait()
	}
	if p.pidfd >= 0 {
		err = errors.Join(err, unix.Close(p.pidfd))
	}
	return err
}

// reap waits for the program's end and publishes it. Until then it handles stops.
func (p *Process) reap() {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, p.pid, &info, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err == nil && info.Code != cldExited && info.Code != cldKilled && info.Code != cldDumped {
			p.stopped()
			continue
		}
		p.mu.Lock()
		p.state, p.ended = p.collect(err), time.Now()
		close(p.done)
		p.mu.Unlock()
		return
	}
}

// collect reaps the zombie. The caller has locked mu.
func (p *Process) collect(err error) ExitState {
	var ws unix.WaitStatus
	for err == nil {
		if _, err = unix.Wait4(p.pid, &ws, 0, nil); !errors.Is(err, unix.EINTR) {
			break
		}
		err = nil
	}
	return p.exitState(ws, err)
}
