package symbol

import (
	"debug/elf"
	"slices"
	"sync"

	"whatif/internal/privilege"
	"whatif/internal/symbol/debugfile"
	"whatif/internal/symbol/debuginfod"
)

// servers is the client of debuginfod, nil unless the user asked for it.
var servers = sync.OnceValue(func() *debuginfod.Client { return debuginfod.FromEnvironment(privilege.Getenv) })

// fetcher is what may be asked over the network for the binary's debug
// information: for programs and the user's own libraries. The system's
// libraries are out of scope by default, so that their lines are not worth it.
func (b *Binary) fetcher() debugfile.Fetcher {
	c := servers()
	if c == nil || systemBinary(b.name) && !b.isProgram() {
		return nil
	}
	return c
}

// isProgram reports whether the binary is a program rather than a library.
func (b *Binary) isProgram() bool {
	if b.elf.Type == elf.ET_EXEC {
		return true
	}
	entries, _ := b.dynamic()
	return slices.ContainsFunc(entries, func(e dynamicEntry) bool {
		return e.tag == elf.DT_FLAGS_1 && elf.DynFlag1(e.value)&elf.DF_1_PIE != 0
	})
}
