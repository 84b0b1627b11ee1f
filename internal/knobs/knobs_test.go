package knobs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// The process's first thread stays the one of TestMain. By that thread's network the keeper tells whether a process is
// in the device's, so a thread that a test sends there must be another.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func TestListening(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   2: 0200000A:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
   3: 00000000000000000000000000000000:0051 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 1
   4: 00000000000000000000000001000000:0052 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 1
   5: 0000000000000000FFFF00000100007F:0053 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 1
   6: nonsense:00 0:0 0A 0
   7: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000     0        0 1 1
   8: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1
`
	var got []string
	for _, a := range listening(strings.NewReader(table)) {
		got = append(got, a.String())
	}
	// That of 10.0.0.2 is not on loopback. After the first connection come no servers.
	want := "127.0.0.1:8080 127.0.0.1:22 127.0.0.1:81 [::1]:81 [::1]:82 127.0.0.1:83"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// TestCgroups: where the group is, and what limits it, in both versions.
func TestCgroups(t *testing.T) {
	const blkioLines = "blkio.throttle.read_iops_device 300, blkio.throttle.write_iops_device 4294967295, " +
		"blkio.throttle.read_bps_device 1, " +
		"blkio.throttle.write_bps_device 1000000000000"
	k := &profile.Knobs{ReadOps: 300.4, WriteOps: 1e12, WriteBytes: 1e12, ReadBytes: 0.1}
	files := func(t *testing.T, all map[string]string) string {
		root := t.TempDir()
		for name, text := range all {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return root
	}
	for name, c := range map[string]struct {
		files            map[string]string
		own              string
		above, from, set string
	}{
		"version 1": {map[string]string{"blkio/job/cgroup.procs": ""}, "5:cpu:/\n4:blkio:/job\n0::/x\n",
			"blkio/job", "blkio/job", blkioLines},
		"version 1, of a container": {map[string]string{"blkio/cgroup.procs": ""}, "4:blkio:/docker/1\n", "blkio", "blkio",
			blkioLines},
		"version 2": {map[string]string{"cgroup.controllers": "cpu io\n", "cgroup.subtree_control": "cpu io\n",
			"user/cgroup.subtree_control": "io\n", "user/a/cgroup.subtree_control": "cpu\n", "user/a/b/cgroup.procs": ""},
			"0::/user/a/b\n", "user", "user/a/b", "io.max riops=300 wiops=4294967295 rbps=1 wbps=1000000000000"},
		"version 2, at the top": {map[string]string{"cgroup.controllers": "io\n", "cgroup.subtree_control": "io\n",
			"cgroup.procs": ""}, "0::/\n", "", "", "io.max riops=300 wiops=4294967295 rbps=1 wbps=1000000000000"},
	} {
		root := files(t, c.files)
		above, own, limits, err := cgroups{root, c.own}.place(k)
		var set []string
		for _, l := range limits {
			set = append(set, l.file+" "+l.limit)
		}
		if err != nil || above != filepath.Join(root, c.above) || own != filepath.Join(root, c.from) ||
			strings.Join(set, ", ") != c.set {
			t.Errorf("%s: in %s from %s: %v (%v)", name, above, own, set, err)
		}
	}
	for want, c := range map[string]struct {
		files map[string]string
		own   string
	}{
		"no cgroup controller for disks":       {map[string]string{"unified/cgroup.procs": ""}, "0::/\n2:cpu:/\n"},
		"the cgroup controller io is not enab": {map[string]string{"cgroup.controllers": "cpu io\n"}, "0::/a\n"},
	} {
		_, _, _, err := cgroups{files(t, c.files), c.own}.place(k)
		if err == nil || !strings.Contains(err.Error(), want) || hint.Of(err) == "" {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestLater: what is passed on comes so much later, whole and in order, and in both directions.
func TestLater(t *testing.T) {
	outer, err := newThread(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{}
	r.later.Store(int64(10 * time.Millisecond))
	server := echo(t, "127.0.0.1:0")
	mirror, err := listen(outer, netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	defer mirror.Close()
	go r.serve(mirror, outer, server)
	c, err := net.Dial("tcp", mirror.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if took := roundTrip(t, c); took < 20*time.Millisecond {
		t.Errorf("a round trip took %v", took)
	}
	const lines = 20000
	go func() {
		for i := range lines {
			fmt.Fprintln(c, i)
		}
		c.(*net.TCPConn).CloseWrite()
	}()
	all, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range slices.Collect(strings.Lines(string(all))) {
		if line != strconv.Itoa(i)+"\n" {
			t.Fatalf("line %d is %q", i, line)
		}
	}
	if !strings.HasSuffix(string(all), "\n19999\n") {
		t.Errorf("it ends with %q", all[max(0, len(all)-10):])
	}
}

// echo starts a server that sends back what it gets.
func echo(t *testing.T, address string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp4", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				c.Close()
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func roundTrip(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	begin := time.Now()
	if _, err := c.Write([]byte("x\n")); err != nil {
		t.Fatal(err)
	}
	if text, err := bufio.NewReader(c).ReadString('\n'); err != nil || text != "x\n" {
		t.Fatalf("%q: %v", text, err)
	}
	return time.Since(begin)
}

// TestSet sets a network and a disk, and undoes both.
func TestSet(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may do that")
	}
	server := echo(t, "127.0.0.1:0")
	limits := profile.Knobs{Device: "slow", NetBytes: 2e6, RoundTripNS: 20e6, ReadOps: 100}
	p, err := Set(limits, ".", target.User{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	inside, err := newThread(func() error {
		f, err := os.Open(p.Network)
		if err != nil {
			return err
		}
		defer f.Close()
		return unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
	})
	if err != nil {
		t.Fatal(err)
	}
	slowServer(t, connected(t, inside, server), limits.NetBytes)
	if rate, err := rateOf(inside); err != nil || rate != uint64(limits.NetBytes) {
		t.Errorf("the kernel passes on %d bytes a second, not %.0f: %v", rate, limits.NetBytes, err)
	}
	serverInside(t, inside)

	group := filepath.Dir(p.Procs)
	limit, err := os.ReadFile(filepath.Join(group, "blkio.throttle.read_iops_device"))
	if errors.Is(err, fs.ErrNotExist) {
		limit, err = os.ReadFile(filepath.Join(group, "io.max"))
	}
	if err != nil || !strings.Contains(string(limit), "100") {
		t.Errorf("the disk's limit is %q: %v", limit, err)
	}
	keeper := p.keeper.Process.Pid
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(group); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group is there: %v", err)
	}
	// No process is in the network: threads of this one do not count. The keeper ends.
	for end := time.Now().Add(time.Minute); !errors.Is(unix.Kill(keeper, 0), unix.ESRCH); {
		if time.Now().After(end) {
			t.Fatal("the keeper goes on")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// rateOf is the bandwidth to which the kernel limits loopback, in the network of a thread.
func rateOf(at *thread) (rate uint64, err error) {
	err = at.do(func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		queues, err := netlink.QdiscList(lo)
		for _, q := range queues {
			if limited, ok := q.(*netlink.Tbf); ok {
				rate = limited.Rate
			}
		}
		return err
	})
	return rate, err
}

// slowServer talks to a server outside, which has the same address inside, and is as slow as on the device.
func slowServer(t *testing.T, c net.Conn, rate float64) {
	t.Helper()
	if took := roundTrip(t, c); took < 20*time.Millisecond {
		t.Errorf("a round trip took %v", took)
	}
	const sent = 600e3 // there and back
	begin := time.Now()
	go func() { _, _ = c.Write(make([]byte, sent)) }()
	if _, err := io.ReadFull(c, make([]byte, sent)); err != nil {
		t.Fatal(err)
	}
	if took, least := time.Since(begin).Seconds(), 2*sent/rate; took < 0.9*least { // on a busy machine it takes longer
		t.Errorf("%.1f MB took %.2f s, at %.0f MB/s", 2*sent/1e6, took, rate/1e6)
	}
}

// serverInside talks from outside to a server that begins to listen inside.
func serverInside(t *testing.T, inside *thread) {
	t.Helper()
	var l net.Listener
	if err := inside.do(func() (err error) { l, err = net.Listen("tcp4", "127.0.0.1:0"); return err }); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			fmt.Fprintln(c, "inside")
			c.Close()
		}
	}()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(lookEvery / 4) {
		c, err := net.Dial("tcp4", l.Addr().String())
		if err != nil {
			continue // it is not passed on yet
		}
		text, err := io.ReadAll(c)
		c.Close()
		if string(text) != "inside\n" {
			t.Errorf("the server inside says %q: %v", text, err)
		}
		return
	}
	t.Error("the server inside is not reached")
}

func connected(t *testing.T, at *thread, server netip.AddrPort) *net.TCPConn {
	t.Helper()
	c, err := dial(at, server)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// TestWhatSetCannot: one line, and a remedy.
func TestWhatSetCannot(t *testing.T) {
	if os.Geteuid() != 0 {
		_, err := Set(profile.Knobs{Device: "slow", NetBytes: 1e6}, ".", target.User{})
		if err == nil || !strings.Contains(err.Error(), "only root may do that") || hint.Of(err) == "" {
			t.Error(err)
		}
		return
	}
	_, err := Set(profile.Knobs{Device: "slow", ReadOps: 1}, "/proc", target.User{})
	if err == nil || !strings.Contains(err.Error(), "the file system of /proc is on no disk") || hint.Of(err) == "" {
		t.Error(err)
	}
}

// TestSweep: an empty group that a killed keeper has left is removed, and that of a running one is not.
func TestSweep(t *testing.T) {
	above := t.TempDir()
	gone := filepath.Join(above, groupName+strconv.Itoa(1<<22+1)) // no process has such a number
	own := filepath.Join(above, groupName+strconv.Itoa(syscall.Getpid()))
	for _, dir := range []string{gone, own} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep(above)
	if _, err := os.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group that was left: %v", err)
	}
	if _, err := os.Stat(own); err != nil {
		t.Error(err)
	}
}
