package jvm

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"whatif/internal/openfile"
)

// Library is the agent, which is also the library to be preloaded for VMs that a program starts: see agent/start.h.
func Library() []byte { return bytes.Clone(library) }

// Starting is where the agents connect of VMs that a program starts, each before its program's main runs.
type Starting struct {
	dir      *openfile.Fresh
	listener *net.UnixListener
	waiting  map[int]conn // the first connection of a VM, by process
	close    func() error // once
}

// Listen begins to listen for VMs of a user. A directory for the socket is made with the rights of that user.
func Listen(uid uint32) (*Starting, error) {
	s, err := listen(uid)
	if err != nil {
		return nil, fmt.Errorf("listening for Java VMs that start: %w", err)
	}
	return s, nil
}

func listen(uid uint32) (*Starting, error) {
	removeStale(uid, "/")
	var errs []error
	for _, parent := range directories {
		dir, err := openfile.MakeFresh(uid, 0, "/", filepath.Join(parent, allDirectories+"java-"+rand.Text()))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s := &Starting{dir: dir, waiting: make(map[int]conn)}
		s.close = sync.OnceValue(func() error { return errors.Join(s.listener.Close(), dir.Remove(agentSocket)) })
		if err = s.listen(); err == nil {
			return s, nil
		}
		errs = append(errs, err, dir.Remove(agentSocket))
	}
	return nil, errors.Join(errs...)
}

func (s *Starting) listen() error {
	fd, err := s.dir.Listen(agentSocket)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), agentSocket)
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return err
	}
	s.listener = l.(*net.UnixListener)
	s.listener.SetUnlinkOnClose(false) // the name is removed as its owner
	return nil
}

// Variable is the environment variable for the program. The library is where Library was installed.
func (s *Starting) Variable(library string) string {
	return "WHATIF_JAVA=" + library + "=points:" + filepath.Join(s.dir.Path, agentSocket)
}

// Next waits for a VM. Its program waits until Points.Go or Points.Close is called. member tells whether a process is
// one that may connect. The error is net.ErrClosed after Close.
func (s *Starting) Next(member func(process int) bool) (process int, p *Points, err error) {
	for {
		c, err := s.listener.AcceptUnix()
		if err != nil {
			for _, first := range s.waiting {
				first.Close()
			}
			return 0, nil, err
		}
		process, err := peerOf(c)
		if err != nil || !member(process) || len(s.waiting) > mostWaiting {
			c.Close()
			continue
		}
		first := s.waiting[process]
		if first == nil {
			s.waiting[process] = c
			continue
		}
		delete(s.waiting, process)
		p, err := newPoints(process, first, c)
		return process, p, err
	}
}

// mostWaiting bounds the VMs of which one connection is there.
const mostWaiting = 64

func peerOf(c *net.UnixConn) (process int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	controlling := raw.Control(func(fd uintptr) {
		peer, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(err, controlling); err != nil {
		return 0, err
	}
	return int(peer.Pid), nil
}

// Close ends Next, and removes the socket.
func (s *Starting) Close() error { return s.close() }
