package ledger

import (
	"fmt"
	"os"

	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/internal/privilege"
)

// setAllowed sets probes in code of a target. Where whatif's capabilities are lent, the file must be the caller's own,
// because the kernel sets a probe in every process that runs the file. A file's owner can change those processes
// anyway.
func (p *probes) setAllowed(handler string, in []Probe) ([]link.Link, error) {
	if privilege.Lent() {
		if err := checkOwn(in[0].File); err != nil {
			return nil, err
		}
	}
	return p.set(handler, in)
}

// checkOwn refuses a file that is not the caller's.
func checkOwn(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("looking at %s for a probe: %w", f.Name(), err)
	}
	if int(st.Uid) != os.Getuid() {
		return privilege.Refuse("putting a probe into "+f.Name(),
			"the file is not yours, and the probe would slow everybody who runs it")
	}
	return nil
}
