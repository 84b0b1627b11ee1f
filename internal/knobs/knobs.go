// Package knobs gives a program a network and a disk that are really as slow as those of another machine.
//
// The network is a namespace with nothing but loopback, the bandwidth of which is limited by a queue (tbf). TCP
// connections between the program and processes outside, over loopback, are passed on in both directions (relay.go).
// The disk is limited by a cgroup: blkio.throttle of version 1, io.max of version 2. Processors, memory and the time
// that idle cores need to wake up are not set.
//
// A process of its own, the keeper, makes both and undoes both. It is whatif's own binary, executed again. It holds a
// pipe from whatif, so it notices whatever way whatif ends, SIGKILL too: then it moves what is left of the program out
// of the cgroup, removes the cgroup and the queue, and ends when no other process is in the namespace. The kernel
// removes the namespace with its last process. If the keeper is killed as well, an empty cgroup may stay behind; the
// next keeper removes it.
//
// The normal sequence: Main is an early call of main; Set; programs are started with Place.Target; Place.Close.
package knobs

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"whatif/internal/hint"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// keeperName is the first and only argument of the keeper.
const keeperName = "whatif: keeping the network and the disk of another machine"

// An order is what whatif sends to the keeper.
type order struct {
	Limits   profile.Knobs
	Dir      string // a directory on the disk that is limited
	UID, GID uint32 // of the program
}

// An answer is what the keeper sends, once when all is made and once when all is undone.
type answer struct {
	Network, Procs string // as in target.Place
	Error, Hint    string
}

// failed is the answer of an error; if that is nil there is none.
func failed(err error) answer {
	if err == nil {
		return answer{}
	}
	return answer{Error: err.Error(), Hint: hint.Of(err)}
}

func (a answer) err() error {
	if a.Error == "" {
		return nil
	}
	return hint.New(errors.New(a.Error), a.Hint)
}

// A Place has the network and the disk of another machine.
type Place struct {
	target.Place
	keeper  *exec.Cmd
	hold    io.WriteCloser // closed when it is to be undone
	answers *json.Decoder
}

// needsRoot is the remedy where this machine does not permit it.
const needsRoot = "run whatif with sudo, and in a container with the capabilities SYS_ADMIN and NET_ADMIN; or leave " +
	"--device-knobs out: the device is simulated then"

// Set makes a place with these limits, for a program of this user. The disk is the one of a directory.
func Set(limits profile.Knobs, dir string, user target.User) (*Place, error) {
	p, err := set(order{limits, dir, user.UID, user.GID})
	if err != nil {
		return nil, fmt.Errorf("setting the network and disk of %s: %w", limits.Device, err)
	}
	return p, nil
}

func set(o order) (*Place, error) {
	if !hasMain {
		panic("knobs: Set without Main")
	}
	if os.Geteuid() != 0 {
		return nil, hint.New(errors.New("only root may do that"), needsRoot)
	}
	p := &Place{keeper: exec.Command("/proc/self/exe")}
	p.keeper.Args = []string{keeperName}
	// Signals for the terminal's process group are not for the keeper.
	p.keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := p.keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.keeper.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.keeper.Start(); err != nil {
		return nil, err
	}
	p.hold, p.answers = in, json.NewDecoder(out)
	err = json.NewEncoder(in).Encode(o)
	var a answer
	if err == nil {
		err = p.answers.Decode(&a)
	}
	if err == nil {
		err = a.err()
	}
	if err != nil {
		in.Close()
		return nil, errors.Join(err, ignored(p.keeper.Wait()))
	}
	p.Network, p.Procs = a.Network, a.Procs
	return p, nil
}

// ignored passes over the status of a keeper: its answer has said what was wrong.
func ignored(err error) error {
	if _, ended := errors.AsType[*exec.ExitError](err); ended {
		return nil
	}
	return err
}

// Close undoes all. What is left of the program runs on with the disk as it was. It stays in its network, without a
// limit, and its connections to processes outside stay.
func (p *Place) Close() error {
	if p == nil {
		return nil
	}
	p.hold.Close() // the keeper only waits for that
	var a answer
	err := p.answers.Decode(&a)
	go p.keeper.Wait() // for as long as the program has processes in the network
	if err == nil {
		err = a.err()
	}
	if err != nil {
		return hint.New(fmt.Errorf("undoing the network and disk of another machine: %w", err), cmp.Or(hint.Of(err),
			"a program that runs on may keep the limits; the next run with --device-knobs removes an empty cgroup "+
				groupName+"N"))
	}
	return nil
}
