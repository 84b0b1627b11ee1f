package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"whatif/accuracy/internal/rig"
)

// place has what a server needs: a directory and a port of its own, and the user as which it runs.
type place struct {
	root     string    // the checkout
	progress io.Writer // for steps that take long
	dir      string
	port     int
	user     string
	cred     *syscall.Credential
}

func newPlace(root, name string, progress io.Writer) (*place, error) {
	doing := "making a place for the server"
	cred, err := rig.UserNamed(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	port, err := rig.FreePort()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	dir, err := os.MkdirTemp("", "whatif-server")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if err := os.Chown(dir, int(cred.Uid), int(cred.Gid)); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", doing, err), os.RemoveAll(dir))
	}
	return &place{root: root, progress: progress, dir: dir, port: port, user: name, cred: cred}, nil
}

func (p *place) remove() error { return os.RemoveAll(p.dir) }

func (p *place) file(name string) string { return filepath.Join(p.dir, name) }

func (p *place) portText() string { return strconv.Itoa(p.port) }

// as makes a command that runs as the place's user, in a process group of its own.
func (p *place) as(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: p.cred}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}

// command runs a command to its end.
func (p *place) command(ctx context.Context, args ...string) error {
	output, err := p.as(ctx, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("running %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return nil
}

// patience is the longest time that a server may take to start, and to end.
const patience = 30 * time.Second

// running is a server that runs, by itself or under whatif.
type running struct {
	cmd   *exec.Cmd
	said  strings.Builder
	ended chan struct{} // closed when err is set
	err   error
}

func start(cmd *exec.Cmd) (*running, error) {
	r := &running{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &r.said, &r.said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		r.err = cmd.Wait()
		close(r.ended)
	}()
	return r, nil
}

// untilReady waits until the server accepts requests. ready is a bash command that then succeeds.
func (r *running) untilReady(ctx context.Context, p *place, ready string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for p.command(ctx, "bash", "-c", ready) != nil {
		select {
		case <-r.ended:
			return fmt.Errorf("starting the server: it ended: %w\n%s", r.err, r.said.String())
		case <-ctx.Done():
			return fmt.Errorf("waiting for the server: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// stop sends SIGTERM, and waits for the end. A server that does not end is killed, with its process group.
func (r *running) stop() error {
	select {
	case <-r.ended:
		return fmt.Errorf("the server ended before its clients: %w\n%s", r.err, r.said.String())
	default:
	}
	if err := r.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("ending the server: %w", err)
	}
	select {
	case <-r.ended:
		return nil
	case <-time.After(patience):
		err := syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.ended
		return errors.Join(fmt.Errorf("ending the server: not within %v", patience), err)
	}
}
