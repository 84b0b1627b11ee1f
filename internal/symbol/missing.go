package symbol

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Missing says in one sentence what debug information of the binary was not
// there when it was needed, and how to get it; empty if nothing was missed.
func (b *Binary) Missing() (text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ""
	}
	var err error
	defer guard("looking for debug information", &err)()
	has := b.hasDebugInfo() || b.goTable() != nil
	problems := b.finder.Problems()
	if p := b.file.Problem(); p != nil {
		problems = append(problems, p.Error())
	}
	if b.debug != nil && b.debug.GaveUp() {
		problems = append(problems, "it takes more work to read than files of its size do")
	}
	why := strings.Join(problems, "; ")
	name := filepath.Base(b.name)
	switch {
	case has && why == "":
		return ""
	case has:
		return fmt.Sprintf("%s: part of its debug information is missing, so inlined functions or lines are: %s", name, why)
	case b.finder.Pending():
		return fmt.Sprintf("%s: its debug information is still being fetched from DEBUGINFOD_URLS, so it has no lines; run again", name)
	}
	if why != "" {
		why = " (" + why + ")"
	}
	return fmt.Sprintf("%s has no debug information%s, so it has no lines: %s", name, why, b.remedy())
}

// remedy is how the user gets the debug information of a binary without.
func (b *Binary) remedy() string {
	if b.file.BuildID() == "" {
		return "compile it with -g"
	}
	installed := systemBinary(b.name) || strings.HasPrefix(b.name, "/usr/") || strings.HasPrefix(b.name, "/bin/") || strings.HasPrefix(b.name, "/sbin/")
	if !installed {
		return "compile it with -g"
	}
	ways := "install its package of debug symbols (-dbgsym, -dbg, -debuginfo)"
	if servers() == nil {
		ways += ", set DEBUGINFOD_URLS"
	}
	return ways + ", or compile it with -g"
}
