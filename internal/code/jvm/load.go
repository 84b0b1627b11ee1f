package jvm

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

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
var ErrNotLoaded = errors.New("the VM has refused it")

// errNoCode means that code cannot be loaded from a directory.
var errNoCode = errors.New("code there cannot be executed")

// ErrOther means that another session of the agent has its counters.
var ErrOther = errors.New("another whatif counts points in it")

// tableTaken is how the VM's answer ends then: NO_TABLE in agent/points.h.
const tableTaken = "return code: -2"

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
	removeStale(v.uid, v.rootPath())
	var errs []error
	for _, path := range v.places() {
		dir, err := openfile.MakeFresh(v.uid, v.admin(), v.rootPath(), path)
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
		if !errors.Is(err, errNoCode) {
			break // another directory does not help
		}
	}
	return nil, fmt.Errorf("loading the agent into the Java VM %d: %w", v.process, errors.Join(errs...))
}

// removeStale removes directories that a killed whatif has left for a user's VMs.
func removeStale(uid uint32, root string) {
	for _, dir := range directories {
		// What cannot be removed does no harm.
		_ = openfile.RemoveStale(uid, root, filepath.Join(dir, allDirectories), agentFile, agentSocket)
	}
}

// allDirectories begins the names of all directories for agents and their sockets.
const allDirectories = ".whatif-"

// admin is the user who is root in the VM's user namespace; 0: it is root, or that is not known.
func (v *VM) admin() uint32 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/uid_map", v.process))
	if err != nil {
		return 0
	}
	return adminOf(string(text))
}

// adminOf reads lines such as "0 100000 65536": ids inside, outside, and how many.
func adminOf(uidMap string) uint32 {
	for line := range strings.Lines(uidMap) {
		var inside, outside, n uint32
		if _, err := fmt.Sscan(line, &inside, &outside, &n); err == nil && inside == 0 && n > 0 {
			return outside
		}
	}
	return 0
}

// nameOfAgent begins the names of directories for this agent, and for no other one.
func nameOfAgent() string {
	sum := sha256.Sum256(library)
	return fmt.Sprintf(allDirectories+"%x-", sum[:8])
}

// places are the directories to be made for the agent, best first. If the VM has loaded this agent before, the first
// has the same name: then the VM's C library uses what it has, and does not map the file once more.
func (v *VM) places() (paths []string) {
	name := nameOfAgent()
	before := regexp.MustCompile("^(/.*/" + regexp.QuoteMeta(name) + "[0-9a-f]{16})/" + regexp.QuoteMeta(agentFile) +
		`( \(deleted\))?$`)
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
		paths = append(paths, fmt.Sprintf("%s/%s%x", dir, name, random))
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
	reply = strings.TrimSpace(reply)
	if strings.HasSuffix(reply, "return code: 9") || strings.Contains(reply, "live phase") {
		return nil, ErrEarly
	}
	if strings.HasSuffix(reply, tableTaken) {
		return nil, ErrOther
	}
	if !strings.HasSuffix(reply, "return code: 0") {
		_, why, _ := strings.Cut(reply, "\n")
		err := fmt.Errorf("%w: %s", ErrNotLoaded, strings.Join(strings.Fields(why), " "))
		if strings.Contains(why, "was not loaded") {
			err = fmt.Errorf("%w: %w", errNoCode, err)
		}
		return nil, err
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
	AllCode      = 'G' // tell of all code
	FlushCode    = 'F' // have all methods compiled anew
	FlushClasses = 'T' // have the code anew that has methods of the same classes as these
)

// Ask gives the agent a command, about methods by the numbers that the agent has told. It does not wait until the
// command is done; and hardly for room for the command, as the agent has little else to read.
func (a *Agent) Ask(command byte, methods ...uint64) error {
	packet := []byte{command}
	for _, m := range methods {
		packet = binary.LittleEndian.AppendUint64(packet, m)
	}
	if err := a.conn.SetWriteDeadline(time.Now().Add(askWithin)); err != nil {
		return err
	}
	_, err := a.conn.Write(packet)
	return err
}

// askWithin is how long a command may wait for room.
const askWithin = 100 * time.Millisecond

// Close ends the agent.
func (a *Agent) Close() error { return a.conn.Close() }
