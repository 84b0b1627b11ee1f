package target

import (
	"debug/elf"
	"testing"
	"time"

	"whatif/internal/testing/hostile"
)

// TestExplainHostile asks why a program cannot be executed that states eight gigabytes of section headers.
func TestExplainHostile(t *testing.T) {
	hostile.Limited(t, 30*time.Second, func(t *testing.T) {
		const interpreter, at = "/no/such/ld.so\x00", 128 // behind the headers
		path := (&hostile.File{
			Progs:    []elf.Prog64{{Type: uint32(elf.PT_INTERP), Off: at, Filesz: uint64(len(interpreter))}},
			Sections: []hostile.Section{{Name: ".interp", Type: elf.SHT_PROGBITS, Data: []byte(interpreter)}},
			Claim:    8 << 30 / 64,
		}).Write(t)
		if got := interpreterOf(path); got+"\x00" != interpreter {
			t.Errorf("interpreter %q", got)
		}
		if why, remedy := unloadable(path, path); why == "" || remedy == "" {
			t.Errorf("%q, %q", why, remedy)
		}
	})
}
