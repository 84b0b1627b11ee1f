package jvm

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/openfile"
	"whatif/internal/target"
)

// The agent is committed in compiled form for each architecture, so that building whatif needs only Go. go generate
// compiles it again.

//go:generate clang --target=x86_64-linux-gnu -O2 -Wall -Wextra -Werror -ffreestanding -fPIC -fvisibility=hidden -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-jvm.so,-z,noexecstack -s -o agent_amd64.so agent/agent.c
//go:generate clang --target=aarch64-linux-gnu -O2 -Wall -Wextra -Werror -ffreestanding -fPIC -fvisibility=hidden -mno-outline-atomics -fno-stack-protector -fno-ident -nostdlib -shared -fuse-ld=lld -Wl,--build-id=none,-soname,libwhatif-jvm.so,-z,noexecstack -s -o agent_arm64.so agent/agent.c

// Agent is the connection to the agent in a VM. The agent ends when the connection does.
type Agent struct{ conn *os.File }

// ErrNotLoaded means that the VM has refused the agent.
var ErrNotLoaded = errors.New("the VM does not load agents (-XX:-EnableDynamicAgentLoading, or no directory from which " +
	"code can be executed)")

// Errors of an agent that was loaded and does not go on.
var (
	ErrOther = errors.New("another whatif counts points in it")
	errEnded = errors.New("the agent ends with error")
)

// What the agent returns if another session has its counters, NO_TABLE in agent/points.h, and if the VM has not begun,
// TOO_EARLY in agent/agent.c.
const (
	tableTaken = "-2"
	tooEarly   = "9"
)

// The names of what is in the directory for the agent.
const (
	agentFile   = "libwhatif-jvm.so" // scope knows it by that
	agentSocket = "socket"
)

// directories are where the VM may find the agent, in its own file system. Code cannot be executed from all of them
// everywhere.
var directories = []string{"/tmp", "/var/tmp", "/dev/shm"}

// Load loads the agent into the VM. It takes as long as the VM needs to answer. Nothing is left in the file system.
func (v *VM) Load() (*Agent, error) {
	conns, err := v.load("", 1)
	if err != nil {
		return nil, err
	}
	return &Agent{conns[0]}, nil
}

// load loads the agent for a purpose, which is what its options begin with, and gives its connections.
func (v *VM) load(purpose string, connections int) ([]*os.File, error) {
	var errs []error
	for _, path := range v.places() {
		dir, err := openfile.MakeFresh(v.uid, v.rootPath(), path)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", path, err))
			continue
		}
		conns, err := v.loadFrom(dir, purpose, connections)
		err = errors.Join(err, dir.Remove(agentFile, agentSocket))
		if err == nil {
			return conns, nil
		}
		for _, c := range conns {
			c.Close()
		}
		errs = append(errs, err)
		if !errors.Is(err, ErrNotLoaded) {
			break // the VM cannot be asked
		}
	}
	return nil, fmt.Errorf("loading the agent into the Java VM %d: %w", v.process, errors.Join(errs...))
}

// places are the directories to be made for the agent, best first. If the VM has loaded this agent before, the first has
// the same name: then the VM's C library uses what it has, and does not map the file once more.
func (v *VM) places() (paths []string) {
	sum := fmt.Sprintf("/.whatif-%x-", sha256.Sum256(library))[:len("/.whatif-")+16] + "-"
	before := regexp.MustCompile("^(/.*" + regexp.QuoteMeta(sum) + "[0-9a-f]{16})/" + regexp.QuoteMeta(agentFile) + `( \(deleted\))?$`)
	if maps, err := target.Maps(v.process); err == nil {
		for _, m := range maps {
			if found := before.FindStringSubmatch(m.Path); found != nil {
				paths = append(paths, found[1])
				break
			}
		}
	}
	var random [8]byte
	_, _ = rand.Read(random[:])
	for _, dir := range directories {
		paths = append(paths, fmt.Sprintf("%s%s%x", dir, sum, random))
	}
	return paths
}

// loadFrom has the VM load the agent from a directory, and connect to a socket there.
func (v *VM) loadFrom(dir *openfile.Fresh, purpose string, connections int) (conns []*os.File, err error) {
	if err := dir.Write(agentFile, library); err != nil {
		return nil, err
	}
	listener, err := dir.Listen(agentSocket)
	if err != nil {
		return nil, err
	}
	defer unix.Close(listener)
	reply, err := v.ask("load", filepath.Join(dir.Path, agentFile), "true", purpose+filepath.Join(dir.Path, agentSocket))
	if err != nil {
		return nil, err
	}
	if _, code, ran := strings.Cut(strings.TrimSpace(reply), "return code: "); !ran {
		_, why, _ := strings.Cut(reply, "\n")
		return nil, fmt.Errorf("%w: %s", ErrNotLoaded, strings.Join(strings.Fields(why), " "))
	} else if code == tableTaken {
		return nil, ErrOther
	} else if code == tooEarly {
		return nil, ErrEarly
	} else if code != "0" {
		return nil, fmt.Errorf("%w %s", errEnded, code)
	}
	for range connections {
		// The agent has connected before the VM has answered.
		c, err := v.accept(listener)
		if err != nil {
			return conns, err
		}
		conns = append(conns, c)
	}
	return conns, nil
}

// accept takes a connection of the agent.
func (v *VM) accept(listener int) (*os.File, error) {
	fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotLoaded, err)
	}
	if peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err != nil || int(peer.Pid) != v.process {
		unix.Close(fd)
		return nil, openfile.ErrPlanted
	}
	return os.NewFile(uintptr(fd), agentSocket), nil
}

// LongestPacket is the size of the agent's longest packet.
const LongestPacket = 32 << 10

// Read waits for a packet of the agent. Its end, io.EOF, is that of the VM.
func (a *Agent) Read(packet []byte) (int, error) { return a.conn.Read(packet) }

// Commands of the agent: see agent/agent.c.
const (
	AllCode   = 'G' // tell of all code
	FlushCode = 'F' // have all methods compiled anew
)

// Ask gives the agent a command. It does not wait until it is done.
func (a *Agent) Ask(command byte) error {
	_, err := a.conn.Write([]byte{command})
	return err
}

// Close ends the agent.
func (a *Agent) Close() error { return a.conn.Close() }
