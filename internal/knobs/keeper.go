package knobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// hasMain is set by Main. Without Main a keeper would run the whole program again.
var hasMain bool

// Main must be an early call of main in every binary that calls Set. In the keeper it does not return.
func Main() {
	hasMain = true
	if len(os.Args) != 1 || os.Args[0] != keeperName {
		return
	}
	if os.Geteuid() != 0 || keep(os.Stdin, os.Stdout) != nil {
		syscall.Exit(1) // the error was answered
	}
	syscall.Exit(0)
}

// keep makes what it is told on in, answers on out, and undoes it when in ends.
func keep(in io.Reader, out io.WriteCloser) error {
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGPIPE)
	closeInherited()
	if err := os.Chdir("/"); err != nil {
		return err
	}
	var o order
	if err := json.NewDecoder(in).Decode(&o); err != nil {
		return err // whatif has ended
	}
	k, err := build(o)
	a := failed(err)
	if err == nil {
		a.Network, a.Procs = k.place()
	}
	answers := json.NewEncoder(out)
	told := answers.Encode(a)
	if err != nil {
		return err
	}
	if told == nil {
		_, _ = io.Copy(io.Discard, in) // until whatif closes the pipe, or ends
	}
	err = k.undo()
	_ = answers.Encode(failed(err)) // if this fails whatif is gone
	_ = out.Close()
	k.awaitLast()
	return err
}

// closeInherited closes files that whatif got from its own parent: the reader of a pipe waits until all have closed it.
func closeInherited() {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= 2 {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// kept is what the keeper has made.
type kept struct {
	network *network // nil: that of whatif
	group   *group   // nil: that of whatif
}

func build(o order) (k *kept, err error) {
	k = &kept{}
	if o.Limits.Disk() {
		own, err := os.ReadFile("/proc/self/cgroup")
		if err != nil {
			return nil, fmt.Errorf("limiting the disk: %w", err)
		}
		if k.group, err = limitDisk(cgroups{"/sys/fs/cgroup", string(own)}, o.Dir, &o.Limits); err != nil {
			return nil, err
		}
	}
	if o.Limits.Net() {
		if k.network, err = newNetwork(o); err != nil {
			return nil, errors.Join(err, k.undo())
		}
	}
	return k, nil
}

// place gives the files of a target.Place.
func (k *kept) place() (network, inGroup string) {
	if k.network != nil {
		network = fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), k.network.file.Fd())
	}
	if k.group != nil {
		inGroup = filepath.Join(k.group.dir, procs)
	}
	return network, inGroup
}

// undo takes the limits away. Processes that are in the network stay there.
func (k *kept) undo() error {
	var errs []error
	if k.group != nil {
		errs = append(errs, k.group.remove())
	}
	if k.network != nil {
		errs = append(errs, k.network.unlimit())
	}
	return errors.Join(errs...)
}

// awaitLast waits until no other process is in the network. Until then connections are passed on.
func (k *kept) awaitLast() {
	const every = time.Second
	for k.network != nil && k.network.used() {
		time.Sleep(every)
	}
}
