package knobs

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A relay makes servers of two networks reachable in the other one, over loopback: it listens there at the same
// addresses, and passes TCP connections on. UDP and abstract Unix sockets end at the namespace.
type relay struct {
	sides [2]side
	later atomic.Int64 // how long data take in each direction besides their way, in ns
}

// A side is one of the networks.
type side struct {
	at      *thread
	mirrors map[netip.AddrPort]net.Listener // of servers on the other side
}

// lookEvery is how often relays look for new servers.
const lookEvery = 200 * time.Millisecond

// startRelay passes connections on. Servers that listen already are reachable when it returns.
func startRelay(a, b *thread, later time.Duration) *relay {
	r := &relay{}
	for i, at := range []*thread{a, b} {
		r.sides[i] = side{at, make(map[netip.AddrPort]net.Listener)}
	}
	r.later.Store(int64(later))
	r.look()
	go func() {
		for range time.Tick(lookEvery) { // as long as the process lives
			r.look()
		}
	}()
	return r
}

// look brings the mirrors up to date. What cannot be mirrored, such as an address that is taken, is not.
func (r *relay) look() {
	for i := range r.sides {
		here, there := &r.sides[i], &r.sides[1-i]
		servers := here.servers()
		for server, l := range there.mirrors {
			if !servers[server] {
				l.Close()
				delete(there.mirrors, server)
			}
		}
		for server := range servers {
			if there.mirrors[server] == nil {
				if l, err := listen(there.at, server); err == nil {
					there.mirrors[server] = l
					go r.serve(l, here.at, server)
				}
			}
		}
	}
}

// servers are the addresses of loopback at which a process of this side listens.
func (s *side) servers() map[netip.AddrPort]bool {
	all := make(map[netip.AddrPort]bool)
	_ = s.at.do(func() error {
		for _, name := range []string{"tcp", "tcp6"} {
			f, err := os.Open("/proc/thread-self/net/" + name)
			if err != nil {
				continue // without IPv6
			}
			for _, a := range listening(f) {
				all[a] = true
			}
			f.Close()
		}
		return nil
	})
	for own := range s.mirrors {
		delete(all, own)
	}
	return all
}

// listening reads a table of sockets, in which those that listen come first, as far as loopback reaches these.
func listening(table io.Reader) (all []netip.AddrPort) {
	const listens = "0A"
	lines := bufio.NewScanner(table)
	lines.Scan() // the head
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || fields[3] != listens {
			break
		}
		address, err := parseAddress(fields[1])
		if err != nil {
			continue
		}
		any4 := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), address.Port())
		switch ip := address.Addr(); {
		case ip.IsLoopback():
			all = append(all, address)
		case ip == netip.IPv4Unspecified():
			all = append(all, any4)
		case ip == netip.IPv6Unspecified(): // mostly of both
			all = append(all, any4, netip.AddrPortFrom(netip.IPv6Loopback(), address.Port()))
		}
	}
	return all
}

// parseAddress reads an address of the kernel's table: words in the machine's order of bytes, and the port.
func parseAddress(text string) (a netip.AddrPort, err error) {
	ip, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	if err != nil {
		return a, fmt.Errorf("reading a port: %w", err)
	}
	words, err := hex.DecodeString(ip)
	if err != nil || len(words) != 4 && len(words) != 16 {
		return a, fmt.Errorf("reading the address %q", ip)
	}
	for w := range len(words) / 4 {
		binary.NativeEndian.PutUint32(words[4*w:], binary.BigEndian.Uint32(words[4*w:]))
	}
	is, _ := netip.AddrFromSlice(words)
	return netip.AddrPortFrom(is.Unmap(), uint16(number)), nil
}

func listen(at *thread, address netip.AddrPort) (l net.Listener, err error) {
	err = at.do(func() (err error) {
		var c net.ListenConfig
		c.SetMultipathTCP(false)
		l, err = c.Listen(context.Background(), "tcp", address.String())
		return err
	})
	return l, err
}

// serve passes on what clients send to a mirror, until that is closed.
func (r *relay) serve(mirror net.Listener, at *thread, server netip.AddrPort) {
	for {
		client, err := mirror.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(lookEvery) // there are too many files
			continue
		}
		go r.connect(client.(*net.TCPConn), at, server)
	}
}

// connect passes on one connection, until both of its ends have closed it.
func (r *relay) connect(client *net.TCPConn, at *thread, server netip.AddrPort) {
	defer client.Close()
	to, err := dial(at, server)
	if err != nil {
		return
	}
	defer to.Close()
	var both sync.WaitGroup
	for _, way := range [][2]*net.TCPConn{{to, client}, {client, to}} {
		both.Go(func() {
			err := r.pass(way[0], way[1])
			if err == nil {
				err = way[0].CloseWrite()
			}
			if err != nil { // one end is gone, so the other one is to notice
				to.Close()
				client.Close()
			}
		})
	}
	both.Wait()
}

// dial begins a connection. What is sent before it is there waits. The handshake may have to wait behind other packets,
// so the thread does not wait for it.
func dial(at *thread, server netip.AddrPort) (*net.TCPConn, error) {
	fd := -1
	err := at.do(func() (err error) {
		family, address := unix.AF_INET6, unix.Sockaddr(&unix.SockaddrInet6{Port: int(server.Port()),
			Addr: server.Addr().As16()})
		if server.Addr().Is4() {
			family, address = unix.AF_INET, &unix.SockaddrInet4{Port: int(server.Port()), Addr: server.Addr().As4()}
		}
		fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			return err
		}
		if err = unix.Connect(fd, address); errors.Is(err, unix.EINPROGRESS) {
			err = nil
		}
		return err
	})
	if fd < 0 {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), server.String())
	defer f.Close() // the connection has a copy
	if err != nil {
		return nil, err
	}
	c, err := net.FileConn(f)
	if err != nil {
		return nil, err
	}
	return c.(*net.TCPConn), nil
}

// pass copies what comes from one end of a connection to the other until the end closes its side, each part as much
// later as the relay says.
func (r *relay) pass(to, from *net.TCPConn) error {
	if r.later.Load() == 0 {
		_, err := io.Copy(to, from)
		return err
	}
	type part struct {
		due  time.Time
		data []byte
	}
	const size, parts = 16 << 10, 1 << 10 // on their way: more than fits into the sockets
	under, ended := make(chan part, parts), make(chan error, 1)
	go func() {
		defer close(under)
		buffer := make([]byte, size)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				under <- part{time.Now().Add(time.Duration(r.later.Load())), bytes.Clone(buffer[:n])}
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	for p := range under {
		time.Sleep(time.Until(p.due))
		if _, err := to.Write(p.data); err != nil {
			from.Close() // ends the reading
			for range under {
			}
			return err
		}
	}
	if err := <-ended; !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
