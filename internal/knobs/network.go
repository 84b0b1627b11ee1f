package knobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/profile"
)

// A network is a namespace with a loopback of its own.
type network struct {
	file    *os.File // the namespace
	inode   uint64
	inner   *thread
	limited bool // loopback has a queue
	relay   *relay
}

const (
	// mtu is that of Ethernet. Loopback's own is 64 KiB: one packet of that would be the burst.
	mtu = 1500
	// leastBurst lets two packets pass at once.
	leastBurst = 4 << 10
	// burstTime is how late the queue's timer may be, on a virtual machine, before bandwidth is lost.
	burstTime = 150 * time.Microsecond
	// leastRate is what the kernel's numbers can express for such a burst.
	leastRate = 100
	// queueTime is how long packets wait before the queue drops some.
	queueTime = time.Second
)

// newNetwork makes a network, with the limits of an order, and passes connections on.
func newNetwork(o order) (n *network, err error) {
	n = &network{}
	outer, err := newThread(nil)
	if err != nil {
		return nil, err
	}
	n.inner, err = newThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return hint.New(fmt.Errorf("making a network namespace: %w", err), needsRoot)
		}
		if n.file, err = os.Open("/proc/thread-self/ns/net"); err != nil {
			return fmt.Errorf("making a network namespace: %w", err)
		}
		return n.limit(&o.Limits)
	})
	if err != nil {
		return nil, err
	}
	info, err := n.file.Stat()
	if err != nil {
		return nil, fmt.Errorf("making a network namespace: %w", err)
	}
	n.inode = info.Sys().(*syscall.Stat_t).Ino
	// Sockets belong to the program's user: some servers ask the kernel which user has connected.
	for _, t := range []*thread{n.inner, outer} {
		if err := t.do(func() error { return become(o.UID, o.GID) }); err != nil {
			return nil, err
		}
	}
	n.relay = startRelay(outer, n.inner, time.Duration(o.Limits.RoundTripNS)/2)
	return n, nil
}

// limit sets loopback up, in the namespace of the calling thread.
func (n *network) limit(k *profile.Knobs) error {
	lo, err := netlink.LinkByName("lo")
	if err == nil && k.NetBytes > 0 {
		err = netlink.LinkSetMTU(lo, mtu)
	}
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if errors.Is(err, unix.EPERM) {
		return hint.New(fmt.Errorf("setting loopback up: %w", err), needsRoot)
	}
	if err != nil {
		return fmt.Errorf("setting loopback up: %w", err)
	}
	if k.NetBytes == 0 {
		return nil
	}
	rate := uint64(max(leastRate, k.NetBytes))
	burst := max(leastBurst, k.NetBytes*burstTime.Seconds())
	err = netlink.QdiscAdd(&netlink.Tbf{QdiscAttrs: queueOf(lo), Rate: rate,
		Buffer: uint32(netlink.Xmittime(rate, uint32(min(burst, 1<<30)))),
		Limit:  uint32(min(burst+k.NetBytes*queueTime.Seconds(), 1<<30))})
	if errors.Is(err, unix.ENOENT) {
		return hint.New(errors.New("limiting the bandwidth of loopback: this kernel has no tbf"),
			"load its module, sch_tbf (CONFIG_NET_SCH_TBF); or leave --device-knobs out: the device is simulated then")
	}
	if err != nil {
		return fmt.Errorf("limiting the bandwidth of loopback: %w", err)
	}
	n.limited = true
	return nil
}

// queueOf names loopback's queue.
func queueOf(lo netlink.Link) netlink.QdiscAttrs {
	return netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
}

// unlimit takes the queue away, and the longer round trips.
func (n *network) unlimit() error {
	n.relay.later.Store(0)
	if !n.limited {
		return nil
	}
	return n.inner.do(func() error {
		lo, err := netlink.LinkByName("lo")
		if err == nil {
			err = netlink.QdiscDel(&netlink.Tbf{QdiscAttrs: queueOf(lo)})
		}
		if err != nil {
			return fmt.Errorf("removing the limit of loopback: %w", err)
		}
		return nil
	})
}

// used tells whether another process is in the network.
func (n *network) used() bool {
	files, _ := filepath.Glob("/proc/[0-9]*/ns/net") // the pattern is right
	own := filepath.Join("/proc", strconv.Itoa(os.Getpid()), "ns/net")
	for _, f := range files {
		var s unix.Stat_t
		if f != own && unix.Stat(f, &s) == nil && s.Ino == n.inode {
			return true
		}
	}
	return false
}

// A thread executes functions, one after the other. Sockets that they make are in the thread's network.
type thread struct{ calls chan func() }

// newThread makes a thread that begins with a function, if that is not nil.
func newThread(begin func() error) (*thread, error) {
	t := &thread{make(chan func())}
	go func() {
		runtime.LockOSThread() // for good, and Go makes no other threads from it
		for f := range t.calls {
			f()
		}
	}()
	if begin == nil {
		return t, nil
	}
	return t, t.do(begin)
}

func (t *thread) do(f func() error) error {
	done := make(chan error)
	t.calls <- func() { done <- f() }
	return <-done
}

// become makes new files and sockets of the calling thread those of a user.
func become(uid, gid uint32) error {
	if err := errors.Join(unix.Setfsgid(int(gid)), unix.Setfsuid(int(uid))); err != nil {
		return fmt.Errorf("becoming the program's user: %w", err)
	}
	return nil
}
