package measure

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"whatif/internal/hint"
)

// The two ends speak so: the client sends hello and one byte, what it wants. After an echo it sends messages, each of
// which comes back. After a stream it sends bytes until it closes its side; the server answers with their number, 8
// bytes, big-endian.
const (
	hello  = "whatif-device 1\n"
	echo   = 'e'
	stream = 's'

	message = 64        // bytes of an echo: a small request
	piece   = 256 << 10 // bytes of a write of a stream

	// patienceNet is how long each end waits for the other.
	patienceNet = 10 * time.Second
	// mostPeers is how many connections are served at once: more would only disturb each other.
	mostPeers = 4
)

// addNet adds the network: loopback, and a peer if there is one.
func (b *bench) addNet(peer string) error {
	own, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening on loopback: %w", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var served sync.WaitGroup
	served.Go(func() { _ = serve(ctx, own, func(string) {}) })
	b.close = append(b.close, func() {
		cancel()
		served.Wait()
	})
	b.addPeer("net.loopback.", own.Addr().String())
	if peer == "" {
		return nil
	}
	if _, err := roundTrip(peer, 0); err != nil {
		return hint.New(fmt.Errorf("measuring the network to %s: %w", peer, err),
			"start whatif device --serve ADDR there, and let its port through the firewall")
	}
	b.addPeer("net.peer.", peer)
	return nil
}

func (b *bench) addPeer(prefix, address string) {
	b.add(prefix+"rtt", func(d time.Duration) (float64, error) { return roundTrip(address, d) })
	b.add(prefix+"bandwidth", func(d time.Duration) (float64, error) { return bandwidth(address, d) })
}

// dial connects to a server, and says what is wanted.
func dial(address string, want byte) (*net.TCPConn, error) {
	conn, err := net.DialTimeout("tcp", address, patienceNet)
	if err != nil {
		return nil, err
	}
	_ = conn.SetDeadline(time.Now().Add(patienceNet))
	if _, err := conn.Write(append([]byte(hello), want)); err != nil {
		conn.Close()
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}

// roundTrip is the median time of a round trip, in seconds. TCP_NODELAY is Go's default.
func roundTrip(address string, d time.Duration) (float64, error) {
	conn, err := dial(address, echo)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	var buf [message]byte
	var took []float64
	for begin := time.Now(); len(took) < 3 || time.Since(begin) < d; {
		sent := time.Now()
		_ = conn.SetDeadline(sent.Add(patienceNet))
		if _, err := conn.Write(buf[:]); err != nil {
			return 0, err
		}
		if _, err := io.ReadFull(conn, buf[:]); err != nil {
			return 0, notServed(err)
		}
		took = append(took, max(time.Since(sent).Seconds(), 1e-9))
	}
	return median(took), nil
}

// bandwidth is the number of bytes per second that reach the other end.
func bandwidth(address string, d time.Duration) (float64, error) {
	conn, err := dial(address, stream)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	buf := make([]byte, piece)
	begin := time.Now()
	for sent := 0; sent == 0 || time.Since(begin) < d; sent++ {
		_ = conn.SetDeadline(time.Now().Add(patienceNet))
		if _, err := conn.Write(buf); err != nil {
			return 0, err
		}
	}
	if err := conn.CloseWrite(); err != nil {
		return 0, err
	}
	_ = conn.SetDeadline(time.Now().Add(patienceNet))
	var count [8]byte
	if _, err := io.ReadFull(conn, count[:]); err != nil {
		return 0, notServed(err)
	}
	return float64(binary.BigEndian.Uint64(count[:])) / time.Since(begin).Seconds(), nil
}

// notServed explains a connection that the other end closes.
func notServed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("no whatif device --serve of this version answers there")
	}
	return err
}

// Serve is the other end of --peer, until ctx ends. It tells the address once it listens. Everybody who can connect can
// measure; nobody gets anything but the same bytes.
func Serve(ctx context.Context, address string, tell func(string)) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return hint.New(fmt.Errorf("serving: %w", err), "ADDR is HOST:PORT, :PORT for all addresses of this machine")
	}
	tell("whatif device --peer measures the network to " + listener.Addr().String() + "; Ctrl-C ends it")
	return serve(ctx, listener, tell)
}

func serve(ctx context.Context, listener net.Listener, tell func(string)) error {
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	free := make(chan struct{}, mostPeers)
	var served sync.WaitGroup
	defer served.Wait()
	for {
		conn, err := listener.Accept()
		switch {
		case ctx.Err() != nil:
			if conn != nil {
				conn.Close()
			}
			return nil
		case err != nil:
			return fmt.Errorf("serving: %w", err)
		}
		select {
		case free <- struct{}{}:
		default:
			conn.Close() // the peer says so
			continue
		}
		served.Go(func() {
			defer func() { <-free }()
			defer conn.Close()
			defer context.AfterFunc(ctx, func() { conn.Close() })()
			if err := answer(conn); err != nil && ctx.Err() == nil {
				tell(fmt.Sprintf("%s: %v", conn.RemoteAddr(), err))
			}
		})
	}
}

// answer serves one connection, for as long as the peer sends something.
func answer(conn net.Conn) error {
	_ = conn.SetDeadline(time.Now().Add(patienceNet))
	var head [len(hello) + 1]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil || string(head[:len(hello)]) != hello {
		return errors.New("it is no whatif device of this version")
	}
	switch head[len(hello)] {
	case echo:
		var buf [message]byte
		for {
			_ = conn.SetDeadline(time.Now().Add(patienceNet))
			if _, err := io.ReadFull(conn, buf[:]); err != nil {
				return ended(err)
			}
			if _, err := conn.Write(buf[:]); err != nil {
				return ended(err)
			}
		}
	case stream:
		buf := make([]byte, piece)
		var count uint64
		for {
			_ = conn.SetDeadline(time.Now().Add(patienceNet))
			n, err := conn.Read(buf)
			count += uint64(n)
			if errors.Is(err, io.EOF) {
				_, err = conn.Write(binary.BigEndian.AppendUint64(nil, count))
				return err
			}
			if err != nil {
				return err
			}
		}
	}
	return errors.New("it wants something unknown")
}

// ended takes the peer's end for what it is.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
