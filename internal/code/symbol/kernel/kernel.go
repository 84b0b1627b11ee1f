// Package kernel maps addresses of the running Linux kernel to functions, by /proc/kallsyms, and to lines, by a
// vmlinux with debug information.
//
// Call New, then Frames for each sampled address, or Functions and CheckLine for names from the user.
// kallsyms is read when it is first needed: 120,000 lines take a tenth of a second, four fifths of it in
// the kernel. vmlinux is read as package symbol reads any binary.
//
// The running kernel is at another address after every boot (KASLR). The distance from vmlinux is the
// difference between the addresses of _stext in kallsyms and vmlinux. A vmlinux has no modules, so modules,
// and generated code (BPF programs), have functions but no lines.
//
// The kernel hides its addresses without CAP_SYSLOG, or with kernel.kptr_restrict=2: all are zero. Then the
// error is a *HiddenError.
package kernel

import (
	"fmt"
	"os"
	"strings"
	"sync"

	"whatif/internal/code/symbol"
	"whatif/internal/hint"
)

// Kernel is the running kernel. Its methods may be called concurrently.
type Kernel struct {
	kallsyms, notes string // files
	vmlinux         string // "" for none

	once  sync.Once
	table *Table
	image *symbol.Binary
	slide uint64 // distance of the running kernel's addresses from vmlinux's
	err   error
}

// New returns the running kernel. If vmlinux is the path of its image with debug information, lines are known; it
// may be "". New reads nothing yet.
func New(vmlinux string) *Kernel {
	return &Kernel{kallsyms: "/proc/kallsyms", notes: "/sys/kernel/notes", vmlinux: vmlinux}
}

// Load reads kallsyms and opens vmlinux, once. The other methods call it, too; a caller may do so to get errors
// early.
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

// Frames returns the code at an address of the running kernel, innermost first: with vmlinux as symbol.Binary
// does, else one frame with line 0. The result is empty if the address is not known. For code of a module,
// File is the module's name as in kallsyms: [ext4].
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

// Name stands for the kernel's own code in reports, as [ext4] does for a module's.
const Name = "[kernel]"

// Module returns the module of the frames that Frames returned, such as [ext4]; "" for the kernel's own code.
func Module(frames []symbol.Frame) string {
	if len(frames) == 1 && frames[0].Line == 0 && strings.HasPrefix(frames[0].File, "[") {
		return frames[0].File
	}
	return ""
}

// Between returns the addresses of two symbols that mark the begin and the end of a part of the kernel's code.
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

// Starts returns addresses, ascending, such that all code from one to the next belongs to one function, or to
// none. It returns none if lines are known, because lines change within functions.
func (k *Kernel) Starts() ([]uint64, error) {
	if err := k.Load(); err != nil || k.image != nil {
		return nil, err
	}
	return k.table.starts(), nil
}

// HasFunc reports whether a name means a function of the kernel. With vmlinux that may be a function that was
// inlined wherever it is called.
func (k *Kernel) HasFunc(match string) (bool, error) {
	found, err := k.Functions(match)
	if err != nil || len(found) > 0 || k.image == nil {
		return len(found) > 0, err
	}
	return k.image.HasFunc(match)
}

// Functions returns the functions that a name means: see symbol.MatchFunc.
func (k *Kernel) Functions(match string) ([]Symbol, error) {
	if err := k.Load(); err != nil {
		return nil, err
	}
	return k.table.Functions(match), nil
}

// CheckLine returns nil if some code of the kernel belongs to a source line: see symbol.Binary.CheckLine.
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

// frame returns the symbol's frame, without a line.
func (s Symbol) frame() symbol.Frame {
	f := symbol.FrameOfSymbol(s.Name)
	if s.Module != "" {
		f.File = "[" + s.Module + "]"
	}
	return f
}

// HiddenError is the error for a kernel that hides its addresses.
type HiddenError struct {
	Restrict string // kernel.kptr_restrict, "" if it cannot be read
}

func (e *HiddenError) Error() string {
	if e.Restrict == "" {
		return "the kernel hides its addresses"
	}
	return "the kernel hides its addresses (kernel.kptr_restrict=" + e.Restrict + ")"
}

// hidden returns a HiddenError with its remedy.
func hidden() error {
	text, _ := os.ReadFile("/proc/sys/kernel/kptr_restrict") // only for the wording
	e := &HiddenError{Restrict: strings.TrimSpace(string(text))}
	if e.Restrict == "2" {
		return hint.New(e, "sudo sysctl kernel.kptr_restrict=1")
	}
	return hint.New(e, "run as root: sudo whatif …")
}
