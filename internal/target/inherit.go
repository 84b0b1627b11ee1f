package target

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// numSignals is Linux's highest signal number, on every architecture of Go except MIPS.
const numSignals = 64

// A signalSet has bit n-1 set for signal n, as in the kernel.
type signalSet uint64

func (s signalSet) has(sig int) bool { return s>>(sig-1)&1 != 0 }

// inheritance is the part of what whatif inherited that whatif or Go's runtime has changed. The program must get it
// unchanged.
type inheritance struct {
	Ignored signalSet
	// Mask is nil if it is unknown. The thread's own mask is then the best guess.
	Mask   *signalSet
	Limits map[int]unix.Rlimit
}

// limitsAtStart are the resource limits that whatif was started with, read before whatif changes any: old kernels count
// BPF maps against RLIMIT_MEMLOCK, which is then raised. RLIMIT_NOFILE is left out: Go raises it before any code of
// whatif runs, and package syscall restores it at exec.
var limitsAtStart = readLimits()

func readLimits() map[int]unix.Rlimit {
	limits := make(map[int]unix.Rlimit)
	for which := 0; which <= unix.RLIMIT_RTTIME; which++ {
		var l unix.Rlimit
		if which != unix.RLIMIT_NOFILE && unix.Prlimit(0, which, nil, &l) == nil {
			limits[which] = l
		}
	}
	return limits
}

// leftAlone are the signals that Go's runtime handles only on request.
const leftAlone = signalSet(1<<(unix.SIGCONT-1) | 1<<(unix.SIGTSTP-1) | 1<<(unix.SIGTTIN-1) | 1<<(unix.SIGTTOU-1))

// inherited finds out what whatif was started with. Go's runtime installs handlers for nearly all signals before main.
// A signal that was ignored (systemd ignores SIGPIPE for every service) would then have its default action in a child.
// The runtime keeps the old state in two private variables, which are read here through the symbol table. In a stripped
// whatif (-ldflags -s) the result is exact only for SIGHUP, SIGINT and the signals in leftAlone.
var inherited = sync.OnceValue(func() inheritance {
	in := inheritance{Limits: limitsAtStart}
	now, _ := statusSignals("SigIgn") // without /proc whatif cannot profile, either
	ignored, mask, err := runtimeSignals()
	if err != nil {
		in.Ignored = now
		return in
	}
	in.Ignored, in.Mask = ignored|now&leftAlone, &mask
	return in
})

// runtimeSignals reads runtime.fwdSig, the action of each signal at the start (1 is SIG_IGN), and runtime.initSigmask.
func runtimeSignals() (ignored, mask signalSet, err error) {
	f, err := elf.Open("/proc/self/exe")
	if err != nil {
		return 0, 0, fmt.Errorf("reading whatif's own symbols: %w", err)
	}
	defer f.Close()
	syms, err := newSymbolTable(f)
	if err != nil {
		return 0, 0, err
	}
	// The address at which a position-independent whatif was loaded is the distance between one of its functions and
	// that function's symbol.
	here := runtime.FuncForPC(reflect.ValueOf(runtimeSignals).Pointer())
	self, err := syms.value(here.Name())
	if err != nil {
		return 0, 0, err
	}
	bias := uint64(here.Entry()) - self

	handlers := make([]uint64, numSignals+1)
	if err := readOwn(syms, "runtime.fwdSig", bias, handlers); err != nil {
		return 0, 0, err
	}
	for sig := 1; sig <= numSignals; sig++ {
		if handlers[sig] == 1 {
			ignored |= 1 << (sig - 1)
		}
	}
	blocked := make([]uint64, 1)
	if err := readOwn(syms, "runtime.initSigmask", bias, blocked); err != nil {
		return 0, 0, err
	}
	return ignored, signalSet(blocked[0]), nil
}

// readOwn copies a variable of this process. It uses a system call, so that a wrong address is an error.
func readOwn(syms *symbolTable, name string, bias uint64, into []uint64) error {
	addr, err := syms.value(name)
	if err != nil {
		return err
	}
	buf := make([]byte, 8*len(into))
	n, err := ReadMemory(os.Getpid(), addr+bias, buf)
	if err == nil && n != len(buf) {
		err = errors.New("short read")
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	for i := range into {
		into[i] = binary.NativeEndian.Uint64(buf[8*i:])
	}
	return nil
}

// A symbolTable finds a few symbols without a list of all of them.
type symbolTable struct {
	syms, names []byte
	order       binary.ByteOrder
}

func newSymbolTable(f *elf.File) (*symbolTable, error) {
	symtab, strtab := f.Section(".symtab"), f.Section(".strtab")
	if symtab == nil || strtab == nil || f.Class != elf.ELFCLASS64 {
		return nil, errors.New("reading whatif's own symbols: there are none")
	}
	syms, err := symtab.Data()
	if err != nil {
		return nil, fmt.Errorf("reading whatif's own symbols: %w", err)
	}
	names, err := strtab.Data()
	if err != nil {
		return nil, fmt.Errorf("reading whatif's own symbols: %w", err)
	}
	return &symbolTable{syms: syms, names: names, order: f.ByteOrder}, nil
}

func (t *symbolTable) value(name string) (uint64, error) {
	at := bytes.Index(t.names, []byte("\x00"+name+"\x00"))
	if at >= 0 {
		for sym := t.syms; len(sym) >= elf.Sym64Size; sym = sym[elf.Sym64Size:] {
			if t.order.Uint32(sym) == uint32(at+1) {
				return t.order.Uint64(sym[8:]), nil
			}
		}
	}
	return 0, fmt.Errorf("reading whatif's own symbols: no %s", name)
}

// statusSignals reads a signal set in /proc/self/status.
func statusSignals(field string) (signalSet, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("reading whatif's signals: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			set, err := strconv.ParseUint(strings.TrimSpace(value), 16, 64)
			return signalSet(set), err
		}
	}
	return 0, fmt.Errorf("reading whatif's signals: no %s", field)
}
