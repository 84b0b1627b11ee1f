package jvm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// answered is a connection to an agent that answers each command with packets, and then ends.
func answered(t *testing.T, packets ...string) *Points {
	t.Helper()
	ours, theirs := net.Pipe()
	classes, other := net.Pipe()
	other.Close()
	go func() {
		defer theirs.Close()
		command := make([]byte, LongestPacket)
		if _, err := theirs.Read(command); err != nil {
			return
		}
		for _, p := range packets {
			if _, err := theirs.Write([]byte(p)); err != nil {
				return
			}
		}
	}()
	p := &Points{commands: ours, classes: classes, names: make(map[string]bool)}
	t.Cleanup(func() { p.Close() })
	return p
}

// TestPointsHostile: a program that has replaced the agent gets errors, and nothing else.
func TestPointsHostile(t *testing.T) {
	const done = "R\x00\x00\x00\x00\x00"
	for name, packets := range map[string][]string{
		"nothing":        {},
		"cut short":      {"L\x05\x00ab", "RL\x00\x00\x00\x00"},
		"half a pair":    {"L\x01\x00a", "RL\x00\x00\x00\x00"},
		"a long text":    {"L\xff\xffa", "RL\x00\x00\x00\x00"},
		"a longer text":  {"L\x00\x70" + strings.Repeat("x", 0x7000) + "\x00\x00", "RL\x00\x00\x00\x00"},
		"another answer": {done},
		"an error":       {"RL\xff\xff\xff\xff"},
	} {
		if all, err := answered(t, packets...).Loaded(); err == nil {
			t.Errorf("%s: %v", name, all)
		}
	}
	for _, address := range []string{"", "A", "A\x01\x02", "A" + strings.Repeat("\x00", 12), "A12345678"} {
		packets := []string{"RA\x00\x00\x00\x00"}
		if address != "" {
			packets = []string{address, packets[0]}
		}
		if err := answered(t, packets...).begin(); err == nil {
			t.Errorf("the address %q is taken", address)
		}
	}
}

// TestPointsEndless: what is told without end is refused, and takes no more memory than it may.
func TestPointsEndless(t *testing.T) {
	packet := "L" + strings.Repeat("\x00\x07"+strings.Repeat("x", 7<<8), 16)
	packets := make([]string, mostText/len(packet)+10)
	for i := range packets {
		packets[i] = packet
	}
	if all, err := answered(t, append(packets, "RL\x00\x00\x00\x00")...).Loaded(); !errors.Is(err, errBadAnswer) {
		t.Errorf("%d classes, %v", len(all), err)
	}
}

// TestPointsSlow: an agent that lets whatif wait for each of its answers is given up.
func TestPointsSlow(t *testing.T) {
	p := answered(t)
	p.waited = mostWaited - 50*time.Millisecond
	ours, theirs := net.Pipe()
	defer theirs.Close()
	go io.Copy(io.Discard, theirs)
	p.commands.Close()
	p.commands = ours
	begun := time.Now()
	if err := p.Go(); !errors.Is(err, ErrAgentGone) || time.Since(begun) > longestWait/2 {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
	if err := p.Go(); !errors.Is(err, ErrAgentGone) {
		t.Error(err)
	}
}

// TestPointsAbandon: an agent that does not answer is not waited for once it is given up.
func TestPointsAbandon(t *testing.T) {
	p := answered(t)
	ours, theirs := net.Pipe()
	defer theirs.Close()
	p.commands.Close()
	p.commands = ours
	go func() {
		_, _ = theirs.Read(make([]byte, 10))
		p.Abandon()
	}()
	begun := time.Now()
	if err := p.Go(); !errors.Is(err, ErrAgentGone) {
		t.Error(err)
	}
	if err := p.Go(); !errors.Is(err, ErrAgentGone) || time.Since(begun) > longestWait/2 {
		t.Errorf("asked again: %v after %v", err, time.Since(begun))
	}
}

// TestAskHostile: an agent that reads no commands does not let whatif wait.
func TestAskHostile(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[1])
	a := &Agent{os.NewFile(uintptr(fds[0]), agentSocket)}
	defer a.Close()
	for range 1 << 20 {
		if err = a.Ask(AllCode); err != nil {
			break
		}
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
}

// TestDribble: a VM that sends its answer byte by byte is given up.
func TestDribble(t *testing.T) {
	vm := opened(t, os.Getpid(), os.Getpid(), uint32(os.Getuid()))
	vm.patience = 200 * time.Millisecond
	os.Remove(vm.socket())
	l, err := net.Listen("unix", vm.socket())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		for err == nil {
			_, err = c.Write([]byte("0"))
			time.Sleep(10 * time.Millisecond)
		}
	}()
	begun := time.Now()
	if err := vm.WriteMap(); err == nil || time.Since(begun) > answerWithin {
		t.Errorf("%v after %v", err, time.Since(begun))
	}
}

// TestNotes: no class is changed that the agent could not change back.
func TestNotes(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	p := &Points{classes: ours, names: make(map[string]bool)}
	go p.serve(func(string, []byte) []byte { return []byte("changed") })
	changed := func(name string) bool {
		t.Helper()
		packet := appendText([]byte{1, 0, 0, 0}, name)
		answer := make([]byte, 4)
		for _, bytes := range [][]byte{packet, []byte("c")} {
			if _, err := theirs.Write(bytes); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := theirs.Read(answer); err != nil {
			t.Fatal(err)
		}
		if answer[0] == 0 {
			return false
		}
		if _, err := theirs.Read(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		return true
	}
	if changed("") || changed(strings.Repeat("x", longestName)) || !changed("com/shop/Cart") {
		t.Error("the wrong classes are changed")
	}
	n := 0
	for n < mostNoted && changed(fmt.Sprintf("%0998d", n)) {
		n++
	}
	if n != (mostNoted-len("com/shop/Cart")-2)/1000 {
		t.Errorf("%d classes are changed", n)
	}
}

// TestClassesHostile: what is no class with its size ends the connection, and does not take memory.
func TestClassesHostile(t *testing.T) {
	for _, packets := range [][]string{
		{"\x04"}, {"\xff\xff\xff\xff\x00\x00"}, {"\x04\x00\x00\x00\x09\x00a"}, {"\x01\x00\x00\x00\x00\x00", "toolong"},
	} {
		ours, theirs := net.Pipe()
		p := &Points{classes: ours, names: make(map[string]bool)}
		ended := make(chan bool)
		go func() {
			p.serve(func(name string, class []byte) []byte {
				t.Errorf("%q is a class", packets)
				return nil
			})
			ours.Close()
			close(ended)
		}()
		for _, packet := range packets {
			if _, err := theirs.Write([]byte(packet)); err != nil {
				break
			}
		}
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Errorf("%q is waited for", packets)
		}
		theirs.Close()
	}
}
