// Package jvm asks a Java virtual machine for the code that it has compiled, through HotSpot's attach mechanism. Either
// an agent is loaded into the VM, which tells of all code, with lines; or the VM writes down the names of its methods,
// and nothing is loaded. No flag is needed, and the VM prints nothing, except that Java 21 and later warn of agents.
//
// The VM listens on a socket in its temporary directory, /tmp/.java_pidN. It makes that socket when it gets SIGQUIT and
// finds a file /tmp/.attach_pidN. Without that file, or where attaching is switched off, SIGQUIT prints all stacks to
// the program's output; where nothing handles it, it ends the program. So all of that is checked before.
//
// The socket, the file and the code's names are in a directory to which everybody may write: they are taken only from
// the VM's own user, and made with that user's rights.
//
// The normal sequence: Open; Load, or WriteMap as often as new code is met and RemoveMap; Close. For progress points:
// Open, LoadPoints, Close; of VMs that a program starts: Listen, Starting.Next as often as one comes, Starting.Close.
package jvm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/code/jit"
	"whatif/internal/openfile"
	"whatif/internal/target"
)

// VM is a process that is a Java virtual machine.
type VM struct {
	process int      // its number here
	inner   int      // its number in its own namespace
	uid     uint32   // its user, as seen here
	root    *os.File // its root directory, also when it is gone

	patience time.Duration // for a whole answer

	mu        sync.Mutex
	conn      int // the connection on which it is being asked; negative: none
	abandoned bool
}

// Open prepares to ask a process.
func Open(process int) (*VM, error) {
	inner, err := target.InnerOf(process)
	if err != nil {
		return nil, err
	}
	return open(process, inner.PID, inner.UID)
}

// open prepares to ask a process with this number in its own namespace, and with files of this user.
func open(process, inner int, uid uint32) (*VM, error) {
	fd, err := unix.Open(fmt.Sprintf("/proc/%d/root", process), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening the root directory of the Java VM %d: %w", process, err)
	}
	return &VM{process: process, inner: inner, uid: uid, root: os.NewFile(uintptr(fd), "root"), conn: -1,
		patience: answerEnds}, nil
}

// Abandon ends what another goroutine asks the VM, and all later questions: they fail soon, and leave nothing behind.
func (v *VM) Abandon() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.abandoned = true
	if v.conn >= 0 {
		_ = unix.Shutdown(v.conn, unix.SHUT_RDWR)
	}
}

func (v *VM) isAbandoned() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.abandoned
}

// hangUp ends a connection that is still in use.
func (v *VM) hangUp(conn int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn == conn {
		_ = unix.Shutdown(conn, unix.SHUT_RDWR)
	}
}

// use lets Abandon end a connection; negative: there is none any more.
func (v *VM) use(conn int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.conn = conn; conn >= 0 && v.abandoned {
		_ = unix.Shutdown(conn, unix.SHUT_RDWR)
	}
}

// Close gives the VM up. No other call may be under way.
func (v *VM) Close() error { return v.root.Close() }

// Errors of VMs that cannot be asked.
var (
	ErrDisabled = errors.New("attaching is switched off (-XX:+DisableAttachMechanism)")
	ErrOld      = errors.New("this Java does not write down its code: Java 17 and later do")
	ErrSilent   = errors.New("the VM does not answer")
	ErrEarly    = errors.New("the VM has no handler for that, or is not ready yet")
	ErrEnded    = errors.New("the VM has ended")
)

const (
	answerWithin = 10 * time.Second // a VM may be busy: it answers when its threads have come to a safe place
	answerEnds   = 20 * time.Second // it answers in one piece; what is no VM may send a byte now and then
	look         = 20 * time.Millisecond
	longestReply = 64 << 10
)

// heardWithin is the time that a VM has for a signal that somebody has sent already, such as a whatif that was killed
// meanwhile. A second SIGQUIT prints all stacks if the VM hears it after the first.
const heardWithin = 3 * time.Second

func (v *VM) rootPath() string { return openfile.Path(int(v.root.Fd())) }
func (v *VM) socket() string   { return "/tmp/.java_pid" + strconv.Itoa(v.inner) }

// trigger is the file by which a VM knows that SIGQUIT asks for its socket.
func (v *VM) trigger() string { return "/tmp/.attach_pid" + strconv.Itoa(v.inner) }

// MapFile is the file in which the VM writes down its code, below its own root directory.
func (v *VM) MapFile() string { return jit.MapFile(v.inner) }

// WriteMap has the VM write MapFile anew. It takes as long as the VM needs to answer.
func (v *VM) WriteMap() error {
	reply, err := v.ask("jcmd", "Compiler.perfmap", "", "")
	if err != nil {
		return fmt.Errorf("asking the Java VM %d for the names of its code: %w", v.process, err)
	}
	status, text, _ := strings.Cut(reply, "\n")
	if status != "0" {
		why, _, _ := strings.Cut(text, "\n")
		err := errors.New(strings.TrimSpace(why))
		if strings.Contains(text, "Unknown diagnostic command") {
			err = ErrOld
		}
		return fmt.Errorf("asking the Java VM %d for the names of its code: %w", v.process, err)
	}
	return nil
}

// RemoveMap removes MapFile.
func (v *VM) RemoveMap() error { return openfile.RemoveOwn(v.uid, v.rootPath(), v.MapFile()) }

// HasMap tells whether MapFile is there already.
func (v *VM) HasMap() bool {
	f, err := openfile.OwnFile(v.uid, v.rootPath(), v.MapFile())
	if err == nil {
		f.Close()
	}
	return err == nil
}

// ask sends a command with its three arguments, and returns the answer.
func (v *VM) ask(command ...string) (string, error) {
	const protocol = "1"
	request := protocol + "\x00" + strings.Join(command, "\x00") + "\x00"
	socket, err := openfile.OwnSocket(v.uid, v.rootPath(), v.socket())
	switch {
	case errors.Is(err, os.ErrNotExist):
		socket, err = v.wakeListener()
	case err == nil:
		// A whatif that was killed while it waited for the socket has left this file, which has done what it is for.
		_ = openfile.RemoveOwn(v.uid, v.rootPath(), v.trigger())
	}
	if err != nil {
		return "", err
	}
	defer socket.Close()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	conn := os.NewFile(uintptr(fd), v.socket())
	defer conn.Close()
	limit := unix.NsecToTimeval(answerWithin.Nanoseconds())
	err = errors.Join(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit),
		unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit))
	if err != nil {
		return "", err
	}
	// The name leads to the very socket that was found.
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket.Path()}); err != nil {
		return "", fmt.Errorf("%w: %w", ErrSilent, err)
	}
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil || int(peer.Pid) != v.process {
		return "", openfile.ErrPlanted
	}
	v.use(fd)
	defer v.use(-1) // before the connection is closed
	defer time.AfterFunc(v.patience, func() { v.hangUp(fd) }).Stop()
	if _, err := conn.WriteString(request); err != nil {
		return "", fmt.Errorf("%w: %w", ErrSilent, err)
	}
	reply, err := io.ReadAll(io.LimitReader(conn, longestReply))
	if cut := err == nil && len(reply) == 0; (cut || errors.Is(err, unix.ECONNRESET)) && v.hasEnded() {
		err = ErrEnded
	} else if cut || errors.Is(err, unix.EAGAIN) {
		err = ErrSilent
	}
	return string(reply), err
}

// hasEnded tells whether the process is gone, or goes in this moment.
func (v *VM) hasEnded() bool {
	handle, err := unix.PidfdOpen(v.process, 0)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	defer unix.Close(handle)
	return hasEnded(handle, 5*look)
}

// wakeListener has the VM make its socket.
func (v *VM) wakeListener() (*openfile.Found, error) {
	handle, err := unix.PidfdOpen(v.process, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(handle)
	if hasEnded(handle, 0) { // which has no handlers either
		return nil, ErrEnded
	}
	if err := v.listens(); err != nil {
		return nil, err
	}
	err = openfile.MakeOwn(v.uid, v.rootPath(), v.trigger())
	asked := errors.Is(err, os.ErrExist)
	if err != nil && !asked {
		return nil, err
	}
	defer openfile.RemoveOwn(v.uid, v.rootPath(), v.trigger())
	signal := time.Now()
	if asked {
		signal = signal.Add(heardWithin)
	}
	for end := signal.Add(answerWithin); time.Now().Before(end) && !v.isAbandoned(); {
		if !signal.IsZero() && !time.Now().Before(signal) {
			if err := unix.PidfdSendSignal(handle, unix.SIGQUIT, nil, 0); err != nil {
				return nil, err
			}
			signal = time.Time{} // once
		}
		socket, err := openfile.OwnSocket(v.uid, v.rootPath(), v.socket())
		if !errors.Is(err, os.ErrNotExist) {
			return socket, err
		}
		if hasEnded(handle, look) {
			return nil, ErrEnded
		}
	}
	return nil, ErrSilent
}

// hasEnded waits for a process, by its pidfd.
func hasEnded(handle int, within time.Duration) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, int(within.Milliseconds()))
	return err == nil && n > 0
}

// listens tells whether SIGQUIT means to the VM what it is to mean: its handler is there, and looks for the file.
func (v *VM) listens() error {
	ownSignals := false
	for _, name := range []string{"cmdline", "environ"} {
		// Without the right to read them there are no such words.
		text, whole, err := target.Words(fmt.Sprintf("/proc/%d/%s", v.process, name), mostWords)
		if err == nil && !whole {
			return errWords
		}
		words := func(r rune) bool { return r == 0 || r == ' ' || r == '=' }
		for word := range strings.FieldsFuncSeq(string(text), words) {
			if word == "-XX:+DisableAttachMechanism" {
				return ErrDisabled
			}
			ownSignals = ownSignals || word == "-Xrs" || word == "-XX:+ReduceSignalUsage"
		}
	}
	if ownSignals { // SIGQUIT is the program's. Such a VM makes its socket by itself, soon after its start.
		return ErrEarly
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", v.process))
	if err != nil || !catches(string(status), unix.SIGQUIT) {
		return ErrEarly
	}
	return nil
}

// mostWords is more than the kernel starts a program with.
const mostWords = 8 << 20

var errWords = errors.New("its command line or environment is longer than that of any program at its start")

// catches tells by /proc/PID/status whether a process has a handler for a signal.
func catches(status string, signal unix.Signal) bool {
	for line := range strings.Lines(status) {
		if mask, ok := strings.CutPrefix(line, "SigCgt:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && n>>(signal-1)&1 == 1
		}
	}
	return false
}
