package jvm

import (
	"net"
	"testing"
	"time"
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
	p := &Points{commands: ours, classes: classes}
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
		"another answer": {done},
		"an error":       {"RL\xff\xff\xff\xff"},
	} {
		if all, err := answered(t, packets...).Loaded(); err == nil {
			t.Errorf("%s: %v", name, all)
		}
	}
	for _, address := range []string{"", "A", "A\x01\x02", "A\x00\x00\x00\x00\x00\x00\x00\x00"} {
		packets := []string{"RA\x00\x00\x00\x00"}
		if address != "" {
			packets = []string{address, packets[0]}
		}
		if err := answered(t, packets...).begin(); err == nil {
			t.Errorf("the address %q is taken", address)
		}
	}
}

// TestClassesHostile: what is no class with its size ends the connection, and does not take memory.
func TestClassesHostile(t *testing.T) {
	for _, packets := range [][]string{
		{"\x04"}, {"\xff\xff\xff\xff\x00\x00"}, {"\x04\x00\x00\x00\x09\x00a"}, {"\x01\x00\x00\x00\x00\x00", "toolong"},
	} {
		ours, theirs := net.Pipe()
		p := &Points{classes: ours}
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
