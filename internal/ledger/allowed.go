package ledger

import (
	"fmt"
	"os"
	"slices"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/internal/privilege"
)

// attachAllowed is attach for code of a target. Where whatif's capabilities are lent, the file must be the caller's
// own: the kernel sets a probe in every process that runs the file. The file's owner can change those processes anyway.
func (l *Ledger) attachAllowed(handler string, probes []Probe) ([]link.Link, error) {
	if !privilege.Lent() {
		return l.attach(handler, probes)
	}
	f, err := openOwn(probes[0].Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// By the path the kernel could find another file: the directory is the caller's, too.
	same := slices.Clone(probes)
	for i := range same {
		same[i].Path = fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	}
	return l.attach(handler, same)
}

// openOwn opens a file if it is the caller's.
func openOwn(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s for a probe: %w", path, err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		f.Close()
		return nil, fmt.Errorf("looking at %s for a probe: %w", path, err)
	}
	if int(st.Uid) != os.Getuid() {
		f.Close()
		return nil, privilege.Refuse("putting a probe into "+path, "the file is not yours, and the probe would slow everybody who runs it")
	}
	return f, nil
}
