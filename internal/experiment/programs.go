package experiment

import (
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"whatif/internal/code/symbol"
	"whatif/internal/experiment/probes"
	"whatif/internal/privilege"
	"whatif/internal/target"
)

// openStopped opens the program of a process that has not run yet, and the libraries that it will load.
func openStopped(pid int) (probes.Program, error) {
	exe, err := target.Executable(pid)
	if err != nil {
		return nil, err
	}
	main, err := target.Reachable(pid, exe)
	if err != nil {
		return nil, err
	}
	b, err := symbol.Open(main)
	if err != nil {
		return nil, err
	}
	if !target.IsMapped(b.Opened(), exe) {
		b.Close()
		return nil, fmt.Errorf("opening %s: %w", main, probes.ErrOtherFile)
	}
	return append(probes.Program{b}, b.Libraries(privilege.Getenv("LD_LIBRARY_PATH"))...), nil
}

// openRunning opens the programs of processes, and what they have mapped. Each program is opened once, by the first of
// the processes that run it.
func openRunning(all []target.Running) []probes.Program {
	opened := make(mappedFiles)
	var programs []probes.Program
	have := make(map[*symbol.Binary]bool)
	for _, r := range all {
		exe, err := target.Executable(r.PID)
		if err != nil {
			continue // the process is gone
		}
		maps, err := target.Maps(r.PID)
		if err != nil {
			continue
		}
		for _, m := range maps {
			if m.Dev == exe.Dev && m.Inode == exe.Inode {
				exe = m // with its addresses it can be opened also where its path leads elsewhere
			}
		}
		main := opened.open(r.PID, exe)
		if main == nil || have[main] {
			continue
		}
		have[main] = true
		p := probes.Program{main}
		for _, m := range maps {
			if b := opened.open(r.PID, m); b != nil && !slices.Contains(p, b) {
				p = append(p, b)
			}
		}
		programs = append(programs, p)
	}
	return programs
}

// mostBinaries bounds the binaries that are open. Each takes a descriptor and a mapping, and a process can make and map
// as many files as it likes. All programs of a machine together have some thousands.
var mostBinaries = sync.OnceValue(func() int {
	const most = 8192
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return most
	}
	return int(min(most, l.Cur/4))
})

// mappedFiles are files that processes have mapped, opened once each; nil: it is no ELF file.
type mappedFiles map[mappedFile]*symbol.Binary

type mappedFile struct{ dev, inode uint64 }

// open opens a file that a process has mapped. It gives nil where there is none, or another file by now.
func (f mappedFiles) open(pid int, m target.Mapping) *symbol.Binary {
	key := mappedFile{m.Dev, m.Inode}
	if b, known := f[key]; known {
		return b
	}
	if len(f) >= mostBinaries() {
		return nil
	}
	path, err := target.Reachable(pid, m)
	if err != nil {
		return nil
	}
	b, err := symbol.Open(path)
	if err == nil && !target.IsMapped(b.Opened(), m) {
		b.Close()
		return nil
	}
	if err != nil {
		b = nil
	}
	f[key] = b
	return b
}
