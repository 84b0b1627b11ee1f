package recorder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"

	"whatif/internal/ledger"
)

// following sets the probes on Go's runtime that tell which goroutine does what. Each wait of a goroutine passes three
// of them, and each takes more than a microsecond. Where that is more than recording may cost on average, probes are
// there only in windows; where it would be too much even there, goroutines are not followed any more, and the recording
// has their threads.
type following struct {
	kernel *kernelSide

	mu    sync.Mutex // of what follows: binaries are found while it is recorded
	files []followedFile
	ended bool
	off   bool // between windows
}

// followedFile is the probes in one file, and their links while they are set.
type followedFile struct {
	probes []Probe
	links  []io.Closer
}

// mostFollowing is how much of a core's time probes may take inside a window. What they take is known, and no part of
// the simulated program; but a program that is slowed by more than that is another one.
const mostFollowing = 0.3

// Follow follows the goroutines of the programs in a file. All probes are in it; the Moment of each is its field Of.
func (r *Recorder) Follow(all []ledger.Probe) error { return r.following.add(all) }

func (f *following) add(all []ledger.Probe) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(all) == 0 || f.ended {
		return nil
	}
	// The caller closes its file, and the probes are set again and again.
	fd, err := unix.FcntlInt(all[0].File.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("following goroutines of %s: %w", all[0].File.Name(), err)
	}
	file := followedFile{}
	own := os.NewFile(uintptr(fd), all[0].File.Name())
	for _, p := range all {
		p.File = own
		file.probes = append(file.probes, Probe{Probe: p})
	}
	if err = f.kernel.timeProbes(momentHandler, file.probes); err != nil {
		return errors.Join(err, own.Close())
	}
	if !f.off {
		file.links, err = f.kernel.set(momentHandler, file.probes)
	}
	f.files = append(f.files, file)
	if err != nil {
		return errors.Join(fmt.Errorf("following goroutines of %s: %w", own.Name(), err), f.files[len(f.files)-1].leave())
	}
	return nil
}

// enter sets the probes for a window.
func (f *following) enter() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.off || f.ended {
		return nil
	}
	f.off = false
	for i := range f.files {
		links, err := f.kernel.set(momentHandler, f.files[i].probes)
		f.files[i].links = links
		if err != nil {
			return fmt.Errorf("following goroutines of %s: %w", f.files[i].probes[0].File.Name(), err)
		}
	}
	return nil
}

// leave takes them away behind a window.
func (f *following) leave() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.off = true
	var errs []error
	for i := range f.files {
		errs = append(errs, f.files[i].leave())
	}
	return errors.Join(errs...)
}

func (f *followedFile) leave() error {
	var errs []error
	for _, l := range f.links {
		errs = append(errs, l.Close())
	}
	f.links = nil
	return errors.Join(errs...)
}

// learn hears what probes have cost in a window, as a share of a core's time, whether the recording has windows by now,
// and whether these have gaps from now on. It tells whether goroutines are not followed any more. That is decided
// before the first window is kept, as all windows have to be alike.
func (f *following) learn(cost float64, kept, gaps bool) (ended bool, err error) {
	if cost > mostFollowing && !f.ended && !kept {
		f.mu.Lock()
		f.ended, ended = true, true
		f.mu.Unlock()
	}
	if ended || gaps {
		err = f.leave()
	}
	return ended, err
}

func (f *following) close() error {
	errs := []error{f.leave()}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, file := range f.files {
		errs = append(errs, file.probes[0].File.Close())
	}
	f.files = nil
	return errors.Join(errs...)
}
