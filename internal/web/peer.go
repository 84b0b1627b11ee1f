package web

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/target"
)

var errNoPeer = errors.New("the kernel lists no such connection")

// peerUser is the owner of the socket at the other end of a connection on this machine. from is the
// address of that end, to of this end. The kernel records the user of each socket, and no user can
// create a socket in another user's name.
func peerUser(from, to netip.AddrPort) (uint32, error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		// A line may be missed while sockets of other programs come and go.
		for range 3 {
			text, err := os.ReadFile(table)
			if err != nil {
				break // the kernel has no IPv6
			}
			if uid, ok := socketOwner(string(text), from, to); ok {
				return uid, nil
			}
		}
	}
	return 0, fmt.Errorf("finding who connects from %v: %w", from, errNoPeer)
}

// socketOwner reads lines such as
//
//	1: 0100007F:AB1F 0100007F:8124 01 00000000:00000000 00:00000000 00000000  1000  0 2345 …
//
// Only an established connection has the user: the kernel writes 0 for a closed one.
func socketOwner(table string, from, to netip.AddrPort) (uid uint32, ok bool) {
	const local, remote, state, owner = 1, 2, 3, 7
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) <= owner || fields[state] != "01" || !isAddress(fields[local], from) ||
			!isAddress(fields[remote], to) {
			continue
		}
		n, err := strconv.ParseUint(fields[owner], 10, 32)
		return uint32(n), err == nil
	}
	return 0, false
}

// isAddress compares with an address of /proc/net: 32-bit words in the machine's byte order, then
// the port. A program may use an IPv6 socket for an IPv4 address.
func isAddress(text string, a netip.AddrPort) bool {
	host, port, _ := strings.Cut(text, ":")
	if n, err := strconv.ParseUint(port, 16, 16); err != nil || uint16(n) != a.Port() {
		return false
	}
	var b []byte
	for ; len(host) >= 8; host = host[8:] {
		word, err := strconv.ParseUint(host[:8], 16, 32)
		if err != nil {
			return false
		}
		b = binary.NativeEndian.AppendUint32(b, uint32(word))
	}
	addr, ok := netip.AddrFromSlice(b)
	return ok && addr.Unmap() == a.Addr().Unmap()
}

// browserUser is the owner of the browser that OpenBrowser starts.
func browserUser() (uint32, error) {
	u, other, err := target.InvokingUser()
	if err != nil || !other {
		return uint32(unix.Geteuid()), err
	}
	return u.UID, nil
}
