package main

import (
	"bufio"
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
	"whatif/internal/hint"
)

// study measures one rate.
type study struct {
	*options
	rig      *rig.Rig
	clients  string // the program
	rate     int
	progress io.Writer
}

// measure makes all pairs. Each second one begins without whatif.
func (s *study) measure(ctx context.Context) (_ *row, err error) {
	server, err := startServer(ctx, s.server)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	r := &row{rate: s.rate}
	length := s.seconds + time.Second // of the first time without whatif
	for i := range s.pairs {
		now := time.Now().Format("15:04:05")
		fmt.Fprintf(s.progress, "%s %d requests a second, pair %d of %d\n", now, s.rate, i+1, s.pairs)
		var p pair
		without := func() error {
			p.without, err = s.load(ctx, server, length, nil)
			return err
		}
		with := func() error {
			p.with, err = s.load(ctx, server, time.Hour, func() error { return s.attach(ctx, server, &p) })
			return err
		}
		first, second := with, without
		if i%2 == 0 {
			first, second = without, with
		}
		if err := first(); err != nil {
			return nil, err
		}
		if err := second(); err != nil {
			return nil, err
		}
		length = p.attached
		r.pairs = append(r.pairs, p)
	}
	return r, nil
}

// load runs the clients for a time or, if there is something to do meanwhile, until that is done. The keys are set
// before.
func (s *study) load(ctx context.Context, to *server, length time.Duration, meanwhile func() error) (rig.Said, error) {
	doing := "loading the server"
	cmd := exec.CommandContext(ctx, s.clients, "memcached", to.port, strconv.Itoa(s.options.clients), strconv.Itoa(s.rate),
		strconv.FormatFloat(length.Seconds(), 'f', 3, 64))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	lines := bufio.NewReader(out)
	_, err = lines.ReadString('\n') // the keys are set
	if err == nil && meanwhile != nil {
		err = errors.Join(meanwhile(), cmd.Process.Signal(syscall.SIGTERM))
	}
	said, reading := io.ReadAll(lines)
	if err := errors.Join(err, reading, cmd.Wait()); err != nil {
		return nil, fmt.Errorf("%s: %w %s", doing, err, stderr.String())
	}
	return rig.ParseSaid(string(said))
}

// attach records the server for the time that was asked for.
func (s *study) attach(ctx context.Context, to *server, p *pair) error {
	dir, err := os.MkdirTemp("", "whatif-production")
	if err != nil {
		return fmt.Errorf("attaching: %w", err)
	}
	defer os.RemoveAll(dir)
	cmd := exec.CommandContext(ctx, s.rig.Command(), "attach", "--no-delays", "--quiet", "-p", "answer=func:sendmsg",
		"-d", s.seconds.String(), "-o", filepath.Join(dir, "profile"), strconv.Itoa(to.cmd.Process.Pid))
	begun := time.Now()
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("attaching: %w\n%s", err, output)
	}
	p.attached, p.own = time.Since(begun), cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	return nil
}

// server is a memcached that runs as another user, on a free port of this machine.
type server struct {
	cmd  *exec.Cmd
	port string
}

func startServer(ctx context.Context, program string) (*server, error) {
	doing := "starting memcached"
	if _, err := os.Stat(program); err != nil {
		return nil, hint.New(fmt.Errorf("%s: %w", doing, err), "apt-get install memcached, or name its program with -server")
	}
	nobody, err := rig.UserNamed("nobody")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	port, err := rig.FreePort()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	s := &server{port: strconv.Itoa(port)}
	s.cmd = exec.CommandContext(ctx, program, "-l", "127.0.0.1", "-p", s.port, "-U", "0", "-t", "2")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, // set after the user, or the kernel forgets it
		Credential: nobody}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return s, nil
}

// stop ends the server, with which an earlier end is an error.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("ending memcached: %w", err)
	}
	_ = s.cmd.Wait() // that a signal ended it
	return nil
}
