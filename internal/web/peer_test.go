package web

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenAsAnother: all users can read the command line of a browser. Another user, faster than
// the browser, gets nothing with the key, and does not use it up.
func TestOpenAsAnother(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	for _, name := range []string{"SUDO_UID", "PKEXEC_UID", "DOAS_USER"} {
		t.Setenv(name, "")
	}
	page := pageOf(world{}.made())
	s, err := Listen(0, func() *Page { return page })
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(context.Background())
	defer s.Close()
	const nobody = 65534
	if status, text := getAs(t, nobody, s.OpenAddress()); status != http.StatusNotFound ||
		strings.Contains(text, s.token) {
		t.Errorf("another user: status %d\n%s", status, text)
	}
	if status, text := getAs(t, 0, s.OpenAddress()); status != http.StatusOK ||
		!strings.Contains(text, `id="data-index"`) {
		t.Errorf("the browser's user: status %d, %d bytes", status, len(text))
	}
	if status, _ := getAs(t, 0, s.OpenAddress()); status != http.StatusNotFound {
		t.Errorf("used twice: status %d", status)
	}
	// With the address itself, any account may look: ssh -L connects as the user of the login.
	if status, _ := getAs(t, nobody, s.Address()); status != http.StatusOK {
		t.Errorf("by the address: status %d", status)
	}
	mapped := strings.Replace(s.Address(), "127.0.0.1", "[::ffff:127.0.0.1]", 1)
	if status, _ := getAs(t, 0, mapped); status != http.StatusMisdirectedRequest {
		t.Errorf("by another name: status %d", status)
	}
}

// TestOpenAsInvoker: under sudo the browser is the invoking user's.
func TestOpenAsInvoker(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	t.Setenv("SUDO_UID", "65534")
	page := pageOf(world{}.made())
	s, err := Listen(0, func() *Page { return page })
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(context.Background())
	defer s.Close()
	if status, _ := getAs(t, 1234, s.OpenAddress()); status != http.StatusNotFound {
		t.Errorf("a third user: status %d", status)
	}
	if status, _ := getAs(t, 65534, s.OpenAddress()); status != http.StatusOK {
		t.Errorf("the invoking user: status %d", status)
	}
}

// getAs asks for an address over a socket of a user.
func getAs(t *testing.T, uid int, address string) (status int, text string) {
	t.Helper()
	dial := func(ctx context.Context, network, host string) (net.Conn, error) {
		runtime.LockOSThread() // without unlocking: the thread ends with its goroutine
		if err := unix.Setfsuid(uid); err != nil {
			return nil, err
		}
		var d net.Dialer
		return d.DialContext(ctx, network, host)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

func TestSocketOwner(t *testing.T) {
	if !littleEndian() {
		t.Skip("the table is of a little-endian machine")
	}
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:07E8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1149 1 0 100 0 0 10 0
   1: 0100007F:AB1F 0100007F:8124 06 00000000:00000000 03:000013D2 00000000     0        0 0 3 0
   2: 0100007F:8124 0100007F:AB20 01 00000000:00000000 00:00000000 00000000  1001        0 7 1 0
   3: 0100007F:AB20 0100007F:8124 01 00000000:00000000 00:00000000 00000000  1000        0 8 1 0
   4: 0000000000000000FFFF00000100007F:AB21 0000000000000000FFFF00000100007F:8124 01 00000000:00000000 00:00000000 00000000  1002  0 9 1 0
   5: 00000000000000000000000001000000:AB22 00000000000000000000000001000000:8124 01 00000000:00000000 00:00000000 00000000  1003  0 9 1 0
   6: damaged
   7: 0100007:AB23 zz:8124 01 00000000:00000000 00:00000000 00000000 x 0 9 1 0
`
	for _, test := range []struct {
		from string
		uid  uint32
		ok   bool
	}{
		{"127.0.0.1:43807", 0, false}, // closed: the kernel says 0
		{"127.0.0.1:43808", 1000, true},
		{"127.0.0.1:43809", 1002, true}, // an IPv6 socket
		{"[::1]:43810", 1003, true},
		{"127.0.0.1:43811", 0, false},
	} {
		from, to := netip.MustParseAddrPort(test.from), netip.MustParseAddrPort("127.0.0.1:33060")
		if from.Addr().Is6() {
			to = netip.MustParseAddrPort("[::1]:33060")
		}
		if uid, ok := socketOwner(table, from, to); uid != test.uid || ok != test.ok {
			t.Errorf("%s: %d, %v", test.from, uid, ok)
		}
	}
}

func littleEndian() bool { return isAddress("0100007F:0001", netip.MustParseAddrPort("127.0.0.1:1")) }

// TestPort: a port that was asked for is used, or the error says what to do.
func TestPort(t *testing.T) {
	page := func() *Page { return nil }
	s, err := Listen(0, page)
	if err != nil {
		t.Fatal(err)
	}
	port := s.listener.Addr().(*net.TCPAddr).Port
	if _, err := Listen(port, page); err == nil || !strings.Contains(err.Error(), fmt.Sprint("port ", port)) {
		t.Errorf("a port that is taken: %v", err)
	}
	s.listener.Close()
	again, err := Listen(port, page)
	if err != nil {
		t.Fatal(err)
	}
	defer again.listener.Close()
	if want := fmt.Sprintf("http://127.0.0.1:%d/", port); !strings.HasPrefix(again.Address(), want) {
		t.Errorf("%s, want %s…", again.Address(), want)
	}
}
