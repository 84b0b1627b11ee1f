package ledger

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// Watched are the processes that other whatifs profile now. It looks through the maps of the kernel for
// theirs: nothing is left behind that a killed one would have to clean up. A map that
// may not be looked at is nobody's: then there is nothing to be found.
func Watched() (map[int]bool, error) {
	watched := make(map[int]bool)
	for id := ebpf.MapID(0); ; {
		next, err := ebpf.MapGetNextID(id)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
			return watched, nil
		}
		if err != nil {
			return nil, fmt.Errorf("looking for another whatif: %w", err)
		}
		id = next
		m, err := ebpf.NewMapFromID(id)
		if err != nil {
			continue // gone meanwhile
		}
		if isProcesses(m) {
			members, err := membersOf(m)
			if err != nil {
				m.Close()
				return nil, fmt.Errorf("looking at another whatif's target: %w", err)
			}
			for _, member := range members {
				watched[member.PID] = true
			}
		}
		m.Close()
	}
}

// isProcesses tells whether a map is the kernel side's table of processes.
func isProcesses(m *ebpf.Map) bool {
	info, err := m.Info()
	if err != nil || info.Name != "processes" || m.Type() != ebpf.Hash {
		return false
	}
	return m.KeySize() == 4 && m.MaxEntries() == 1<<16 && uintptr(m.ValueSize()) == unsafe.Sizeof(bpf.LedgerProcess{})
}
