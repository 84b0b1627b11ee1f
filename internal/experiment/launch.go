package experiment

import (
	"context"
	"os"

	"whatif/internal/code/jit"
	"whatif/internal/code/symbol/object"
	"whatif/internal/coz"
	"whatif/internal/point/source"
	"whatif/internal/target"
)

// launcher makes the subject of a session: once, or for each execution of a program.
type launcher struct {
	cfg    *Config
	source bool        // points in the program's source are counted
	exempt *exemptions // for Config.System
	coz    string      // the path of the library that is preloaded; "": the program does not ask for it
}

// launch makes the subject. It starts the program, if there is one to start, and stops it before it runs.
func (l *launcher) launch(ctx context.Context) (subject, error) {
	switch {
	case l.cfg.Attach != nil:
		return findRunning(l.cfg.Attach)
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

// startOnce starts the program, stopped, and with COZ's library if it asks for that.
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
	return &started{Process: p, args: l.cfg.Args, log: l.cfg.Log}, nil
}

// startProgram starts the program, with COZ's library if that is known to be needed.
func (l *launcher) startProgram() (*target.Process, error) {
	cfg := target.Config{Args: l.cfg.Args, User: l.cfg.User, Stdout: l.cfg.Stdout, Preload: l.coz}
	if l.cfg.RuntimeFlags {
		cfg.Set = jit.Variables(os.Getenv)
	}
	return target.Start(cfg)
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
