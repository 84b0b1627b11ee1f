package experiment

import (
	"context"
	"fmt"
	"os"
	"strings"

	"whatif/internal/code/jit"
	"whatif/internal/code/jvm"
	"whatif/internal/code/symbol/object"
	"whatif/internal/coz"
	"whatif/internal/point/source"
	"whatif/internal/preload"
	"whatif/internal/target"
)

// launcher makes the subject of a session: once, or for each execution of a program.
type launcher struct {
	cfg    *Config
	source bool        // points in the program's source are counted
	exempt *exemptions // for Config.System
	coz    string      // the path of the library that is preloaded; "": the program does not ask for it

	// Java VMs that the program starts have whatif's agent from the beginning, so that points are counted in all that
	// main does.
	java     bool          // some of the points may be in Java code
	starting *jvm.Starting // nil: no such VM is waited for
	agent    string        // the agent's library, which is preloaded, too
}

// launch makes the subject. It starts the program, if there is one to start, and stops it before it runs.
func (l *launcher) launch(ctx context.Context) (subject, error) {
	switch {
	case l.cfg.Attach != nil:
		a, err := findRunning(l.cfg.Attach)
		if err != nil {
			return nil, err
		}
		a.warnOfStopped(l.cfg.Log)
		return a, nil
	case l.cfg.System && !l.cfg.Starts():
		return &everyone{exempt: newExempter(l.exempt)}, nil
	}
	p, err := l.startOnce()
	if err != nil {
		return nil, err
	}
	p.Forward(ctx)
	if l.cfg.System {
		return &everyone{load: p, exempt: newExempter(l.exempt)}, nil
	}
	return p, nil
}

// startOnce starts the program, stopped, and with the libraries that it needs.
func (l *launcher) startOnce() (*started, error) {
	p, err := l.startProgram()
	if err != nil {
		return nil, err
	}
	if l.coz == "" && l.source && asksForCoz(p) {
		// The program has not run yet: start it once more, with what it asks for.
		if l.coz, err = coz.Install(); err != nil {
			p.Close()
			return nil, err
		}
		p.Close()
		if p, err = l.startProgram(); err != nil {
			return nil, err
		}
	}
	if l.java && l.starting == nil && !isGo(p) {
		if p, err = l.restartForJava(p); err != nil {
			return nil, err
		}
	}
	return &started{Process: p, args: l.cfg.Args, log: l.cfg.Log}, nil
}

// restartForJava starts the program once more, which has not run yet, so that Java VMs connect to whatif when they
// begin. If that cannot be had, whatif finds them when they run.
func (l *launcher) restartForJava(p *target.Process) (*target.Process, error) {
	l.java = false
	inner, err := target.InnerOf(p.PID())
	if err != nil {
		return p, nil // the same error comes up again
	}
	if l.agent, err = preload.Install("libwhatif-jvm", jvm.Library()); err == nil {
		l.starting, err = jvm.Listen(inner.UID)
	}
	if err != nil {
		l.agent = ""
		l.cfg.Log.Warn(fmt.Sprintf("points in Java code are counted only from some time after a VM's start: %v", err))
		return p, nil
	}
	p.Close()
	return l.startProgram()
}

// startProgram starts the program, with the libraries that are known to be needed.
func (l *launcher) startProgram() (*target.Process, error) {
	preload := strings.Trim(l.coz+":"+l.agent, ":")
	cfg := target.Config{Args: l.cfg.Args, User: l.cfg.User, Stdout: l.cfg.Stdout, Preload: preload,
		Place: l.cfg.Place}
	if l.cfg.RuntimeFlags {
		cfg.Set = jit.Variables(os.Getenv)
	}
	if l.starting != nil {
		cfg.Set = append(cfg.Set, l.starting.Variable(l.agent))
	}
	return target.Start(cfg)
}

// close ends waiting for Java VMs.
func (l *launcher) close() {
	if l.starting != nil {
		if err := l.starting.Close(); err != nil {
			l.cfg.Log.Debug("ending to wait for Java VMs", "error", err)
		}
	}
}

// isGo tells whether a program that has not run yet is written in Go, which cannot have points in Java code.
func isGo(p *target.Process) bool {
	program, err := openStopped(p.PID())
	if err != nil {
		return false
	}
	defer program.Close()
	return program[0].IsGo()
}

// asksForCoz tells whether a program that has not run yet, or a library that it will load, was compiled with COZ's
// macros.
func asksForCoz(p *target.Process) bool {
	program, err := openStopped(p.PID())
	if err != nil {
		return false // the same error comes up again, and is told, when the session looks at the program
	}
	defer program.Close()
	for _, path := range program.Paths() {
		f, err := object.Open(path)
		if err != nil {
			continue
		}
		asks := source.AsksForCoz(f)
		f.Close()
		if asks {
			return true
		}
	}
	return false
}
