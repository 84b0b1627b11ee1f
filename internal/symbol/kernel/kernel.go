// Package kernel says which function of the Linux kernel an address belongs to,
// from /proc/kallsyms, and which line, from a vmlinux with debug information.
//
// Addresses are those of the running kernel. It lies elsewhere after every boot
// (KASLR): by how much is the difference between where kallsyms and vmlinux have
// _stext. Modules lie where they were loaded; a vmlinux does not hold them, so
// they have functions only, and so does code that was generated (BPF programs).
//
// The sequence of calls is New, then Frames for each sampled address, or
// Functions and CheckLine for what the user named. kallsyms is read when it is
// first needed (120,000 lines take a tenth of a second, four fifths of it in the
// kernel), vmlinux as package symbol reads any binary. Addresses are only told to
// those who may know: without the capability CAP_SYSLOG or with
// kernel.kptr_restrict=2 all of them are zero, and that is a *HiddenError.
package kernel

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"whatif/internal/hint"
	"whatif/internal/symbol"
)

// Kernel is the running kernel. Its methods may be called concurrently.
type Kernel struct {
	kallsyms, notes string // files
	vmlinux         string // "" for none

	once  sync.Once
	table *Table
	image *symbol.Binary
	slide uint64 // what the running kernel's addresses are higher than vmlinux's
	err   error
}

// New is the running kernel, with lines if vmlinux is the path of its image with
// debug information. Nothing is read yet.
func New(vmlinux string) *Kernel {
	return &Kernel{kallsyms: "/proc/kallsyms", notes: "/sys/kernel/notes", vmlinux: vmlinux}
}

// Load reads what is needed, once. Frames and Functions do so themselves; it is
// for those who want to know of errors first.
func (k *Kernel) Load() error {
	k.once.Do(func() { k.err = k.load() })
	return k.err
}

func (k *Kernel) load() error {
	f, err := os.Open(k.kallsyms)
	if err != nil {
		return fmt.Errorf("reading the kernel's symbols: %w", err)
	}
	defer f.Close()
	if k.table, err = Parse(f); err != nil {
		return fmt.Errorf("reading the kernel's symbols from %s: %w", k.kallsyms, err)
	}
	if k.vmlinux == "" {
		return nil
	}
	if err := k.openImage(); err != nil {
		return fmt.Errorf("reading the kernel's lines: %w", err)
	}
	return nil
}

// Close releases vmlinux.
func (k *Kernel) Close() error {
	if k.image == nil {
		return nil
	}
	return k.image.Close()
}

// Frames says what the code at an address of the running kernel is, innermost
// first: with vmlinux as symbol.Binary does, else one frame with line 0. Empty
// where nothing is known. File is the module's name, as kallsyms has it, for
// code of one: [ext4].
func (k *Kernel) Frames(addr uint64) ([]symbol.Frame, error) {
	if err := k.Load(); err != nil {
		return nil, err
	}
	s, ok := k.table.Find(addr)
	if !ok {
		return nil, nil
	}
	if k.image != nil && s.Module == "" {
		frames, err := k.image.FramesAt(addr - k.slide)
		if err != nil || len(frames) > 0 && frames[0].Line > 0 {
			return frames, err
		}
	}
	return []symbol.Frame{s.frame()}, nil
}

// Name is what the kernel's own code is shown to be in, as a module's is in [ext4].
const Name = "[kernel]"

// Module is what Frames says of code that is in a module, such as [ext4]; "" for the kernel's own.
func Module(frames []symbol.Frame) string {
	if len(frames) == 1 && frames[0].Line == 0 && strings.HasPrefix(frames[0].File, "[") {
		return frames[0].File
	}
	return ""
}

// Between gives the addresses of two symbols that mark where a part of the kernel's code
// begins and ends.
func (k *Kernel) Between(begin, end string) (first, last uint64, err error) {
	if err := k.Load(); err != nil {
		return 0, 0, err
	}
	first, found := k.table.Address(begin)
	last, alsoFound := k.table.Address(end)
	if !found || !alsoFound || last < first {
		return 0, 0, fmt.Errorf("the kernel's symbols do not say where %s is and %s", begin, end)
	}
	return first, last, nil
}

// Starts are the addresses, ascending, from each of which to the next all code is one
// function's, or nobody's. None where lines are known, which change within functions.
func (k *Kernel) Starts() ([]uint64, error) {
	if err := k.Load(); err != nil || k.image != nil {
		return nil, err
	}
	return k.table.starts(), nil
}

// HasFunc tells whether a name means some function of the kernel: with vmlinux also one that was
// inlined wherever it is called.
func (k *Kernel) HasFunc(match string) (bool, error) {
	found, err := k.Functions(match)
	if err != nil || len(found) > 0 || k.image == nil {
		return len(found) > 0, err
	}
	return k.image.HasFunc(match)
}

// Functions finds the functions that a name means, as symbol.MatchFunc has it.
func (k *Kernel) Functions(match string) ([]Symbol, error) {
	if err := k.Load(); err != nil {
		return nil, err
	}
	return k.table.Functions(match), nil
}

// CheckLine reports whether some code of the kernel belongs to a source line;
// see symbol.Binary.CheckLine.
func (k *Kernel) CheckLine(file string, line int) error {
	if err := k.Load(); err != nil {
		return err
	}
	if k.image == nil {
		err := &symbol.NotFound{What: "file", Name: file, Where: "the kernel", Note: "its lines are not known"}
		return hint.New(err, "name the kernel's image with debug information: --vmlinux FILE")
	}
	return k.image.CheckLine(file, line)
}

// frame is a symbol as a frame without a line.
func (s Symbol) frame() symbol.Frame {
	f := symbol.Named(s.Name)
	if s.Module != "" {
		f.File = "[" + s.Module + "]"
	}
	return f
}

// HiddenError says that the kernel does not tell its addresses.
type HiddenError struct {
	Restrict string // kernel.kptr_restrict, "" if that cannot be read
}

func (e *HiddenError) Error() string {
	if e.Restrict == "" {
		return "the kernel hides its addresses"
	}
	return "the kernel hides its addresses (kernel.kptr_restrict=" + e.Restrict + ")"
}

// hidden is the error, with the remedy that helps.
func hidden() error {
	text, _ := os.ReadFile("/proc/sys/kernel/kptr_restrict") // only for the wording
	e := &HiddenError{Restrict: strings.TrimSpace(string(text))}
	if e.Restrict == "2" {
		return hint.New(e, "sudo sysctl kernel.kptr_restrict=1")
	}
	return hint.New(e, "run as root: sudo whatif …")
}
