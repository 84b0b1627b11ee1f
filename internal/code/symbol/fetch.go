package symbol

import (
	"debug/elf"
	"slices"
	"sync"

	"whatif/internal/code/symbol/debugfile"
	"whatif/internal/code/symbol/debuginfod"
	"whatif/internal/privilege"
)

// servers returns the client of debuginfod, nil if the user has not set DEBUGINFOD_URLS.
var servers = sync.OnceValue(func() *debuginfod.Client { return debuginfod.FromEnvironment(privilege.Getenv) })

// fetcher returns the client that may fetch the binary's debug information over the network, nil for
// the system's libraries: these are out of scope by default, so their lines are not worth the time.
func (b *Binary) fetcher() debugfile.Fetcher {
	c := servers()
	if c == nil || systemBinary(b.name) && !b.isProgram() {
		return nil
	}
	return c
}

// isProgram reports whether the binary is a program, and not a library.
func (b *Binary) isProgram() bool {
	if b.elf.Type == elf.ET_EXEC {
		return true
	}
	entries, _ := b.dynamic()
	return slices.ContainsFunc(entries, func(e dynamicEntry) bool {
		return e.tag == elf.DT_FLAGS_1 && elf.DynFlag1(e.value)&elf.DF_1_PIE != 0
	})
}
