package probes

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"whatif/internal/code/jvm"
	"whatif/internal/code/jvm/classfile"
	"whatif/internal/ledger"
	"whatif/internal/point"
)

// javaPoints looks for points in Java code, without a kernel side.
func javaPoints(t *testing.T, log *bytes.Buffer, texts ...string) *java {
	t.Helper()
	o := Options{Log: slog.New(slog.NewTextHandler(log, nil))}
	for _, text := range texts {
		s, err := point.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		o.Points = append(o.Points, s)
	}
	e := endsOf(o)
	c := newCounters(nil, o, e)
	for i := range c.found.at {
		c.found.at[i] = 1
	}
	return newJava(c, nil, o, e)
}

// TestJavaClassesWithoutEnd: what is known of a point has an end, and so has what is said.
func TestJavaClassesWithoutEnd(t *testing.T) {
	var log bytes.Buffer
	j := javaPoints(t, &log, "Cart.java:7", "func:com.shop.*")
	v := j.newVM(nil, nil, 1)
	for i := range 3 * mostJavaFound {
		class := fmt.Sprintf("com.shop.C%d", i)
		j.take(0, v, class, point.InJavaClass{File: "com/shop/Cart.java", Near: []int{i % 100, 100 + i%100}})
		j.found(1, v, class, point.InJavaClass{Methods: []string{"a", "b"}})
	}
	near, all := j.finds[0], j.finds[1]
	if len(near.near) > 2*mostJavaFound || len(all.classes) != mostJavaFound || len(all.methods) != mostJavaFound {
		t.Errorf("%d lines, %d classes, %d methods", len(near.near), len(all.classes), len(all.methods))
	}
	near.file = "com/shop/Cart.java"
	place := point.InJavaClass{File: "com/other/Cart.java"}
	place.Places = append(place.Places, classfile.Entry(0))
	for i := range 10 {
		if j.take(0, v, fmt.Sprintf("com.other.C%d", i), place) {
			t.Error("the line of another file is counted")
		}
	}
	if n := strings.Count(log.String(), "has the line, too"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
}

// anAgent is a program that plays the agent, and says yes to everything.
type anAgent struct{ commands, classes *net.UnixConn }

func connectAgent(t *testing.T, socket string) anAgent {
	t.Helper()
	dial := func() *net.UnixConn {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: socket, Net: "unixpacket"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	a := anAgent{dial(), dial()}
	go func() {
		packet := make([]byte, jvm.LongestPacket)
		for {
			n, err := a.commands.Read(packet)
			if err != nil || n == 0 {
				return
			}
			if packet[0] == 'A' {
				_, _ = a.commands.Write(append(binary.LittleEndian.AppendUint64([]byte{'A'}, 0x1000), 0, 0, 0, 0))
			}
			_, _ = a.commands.Write([]byte{'R', packet[0], 0, 0, 0, 0})
		}
	}()
	return a
}

// TestJavaConnectsAgain: a process that connects again and again costs one connection.
func TestJavaConnectsAgain(t *testing.T) {
	var log bytes.Buffer
	j := javaPoints(t, &log, "Cart.java:7")
	process := ledger.Process{PID: os.Getpid()}
	starting, err := jvm.Listen(uint32(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	defer starting.Close()
	_, socket, _ := strings.Cut(starting.Variable("x"), "points:")
	connect := func() anAgent {
		t.Helper()
		a := connectAgent(t, socket)
		pid, points, err := starting.Next(func(int) bool { return true })
		if err != nil || pid != process.PID {
			t.Fatal(pid, err)
		}
		j.add(process, j.newVM(nil, points, pid))
		return a
	}
	first := connect()
	j.add(process, nil) // a failure leaves it
	if j.vms[process] == nil {
		t.Error("the first connection is given up")
	}
	connect()
	if err := first.classes.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := first.classes.Read(make([]byte, 1)); n > 0 || os.IsTimeout(err) {
		t.Errorf("the first connection is still there: %d, %v", n, err)
	}
	j.close()
}

// silent is a VM that does not answer until it is given up.
type silent chan struct{}

func (s silent) Abandon() { close(s) }

// TestJavaEndsSoon: whatif ends, although a VM does not answer, and says so.
func TestJavaEndsSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		j := javaPoints(t, &log, "Cart.java:7")
		early, late := make(silent), make(silent)
		j.mayWait(early)
		j.over.Go(func() {
			<-early
			j.mayWait(late)
			<-late
		})
		begun := time.Now()
		j.close()
		if took := time.Since(begun); took != lastAnswers {
			t.Errorf("that took %v", took)
		}
		if !strings.Contains(log.String(), "has not answered") {
			t.Errorf("said %q", log.String())
		}
	})
}
