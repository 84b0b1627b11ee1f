package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"whatif/internal/profile"
)

// patience is the longest time of a run. Usual runs take a quarter of it.
const patience = time.Minute

// Bare is a run without whatif.
type Bare struct {
	Said Said
	// Voluntary and Involuntary count the context switches of the program and of the children that it waited for.
	Voluntary, Involuntary int64
	Took                   time.Duration // from the start to the end of the process
}

// Profiled is a run under whatif.
type Profiled struct {
	Said    Said
	Data    *profile.Data
	Use     Use       // of whatif itself
	Started time.Time // the start of whatif
}

// Visits is whatif's count of its first point over the whole run; -1 if the profile does not have it.
func (p *Profiled) Visits() int64 {
	if p.Data.End == nil || len(p.Data.End.Visits) == 0 {
		return -1
	}
	return p.Data.End.Visits[0]
}

// Bare runs a program without whatif.
func (r *Rig) Bare(ctx context.Context, args ...string) (*Bare, error) {
	doing := "running " + filepath.Base(strings.Join(args, " "))
	start := time.Now()
	state, said, err := execute(ctx, args, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return nil, fmt.Errorf("%s: the system does not tell what it used", doing)
	}
	return &Bare{Said: said, Voluntary: usage.Nvcsw, Involuntary: usage.Nivcsw, Took: time.Since(start)}, nil
}

// Whatif runs a program under whatif, until the program and all its descendants have ended by themselves. Only then the
// program's own count of its visits is complete.
func (r *Rig) Whatif(ctx context.Context, flags []string, args ...string) (*Profiled, error) {
	doing := "profiling " + filepath.Base(strings.Join(args, " "))
	dir, err := os.MkdirTemp("", "whatif-rig")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	defer os.RemoveAll(dir)
	output := filepath.Join(dir, "profile")
	command := append([]string{r.whatif, "run", "--quiet", "--repeat", "1", "-o", output}, flags...)
	command = append(append(command, "--"), args...)
	p := &Profiled{Started: time.Now()}
	if _, p.Said, err = execute(ctx, command, &p.Use); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	runs, err := profile.ReadFiles([]string{output})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if len(runs) != 1 {
		return nil, fmt.Errorf("%s: the profile has %d runs, want 1", doing, len(runs))
	}
	p.Data = runs[0]
	return p, nil
}

// execute runs a command in a process group of its own, and kills the group at the end, so that no process is left. The
// command has ended when all processes that inherited its standard output have closed it, too. While it runs, its time
// and memory are read into use, unless that is nil.
func execute(ctx context.Context, command []string, use *Use) (*os.ProcessState, Said, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	var err error
	if use != nil {
		stop := use.watch(cmd.Process.Pid)
		err = cmd.Wait()
		stop()
	} else {
		err = cmd.Wait()
	}
	if kill := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); kill != nil && !errors.Is(kill, syscall.ESRCH) {
		err = errors.Join(err, fmt.Errorf("ending what is left of it: %w", kill))
	}
	if ctx.Err() != nil {
		err = errors.Join(ctx.Err(), err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w%s", err, lastWords(stderr.String()))
	}
	said, err := ParseSaid(stdout.String())
	return cmd.ProcessState, said, err
}

// lastWords is the stderr of a failed command, in brackets.
func lastWords(stderr string) string {
	said := strings.TrimSpace(stderr)
	if said == "" {
		return ""
	}
	return " (" + strings.ReplaceAll(said, "\n", "; ") + ")"
}
