package symbol

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Missing returns a sentence that says which debug information was needed but not found, and how to get
// it; "" if none is missing.
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
		return name + ": part of its debug information is missing, so inlined functions or lines are: " + why
	case b.finder.Pending():
		return name + ": its debug information is still being fetched from DEBUGINFOD_URLS, so it has no lines; run again"
	}
	if why != "" {
		why = " (" + why + ")"
	}
	return fmt.Sprintf("%s has no debug information%s, so it has no lines: %s", name, why, b.remedy())
}

// remedy says how the user gets debug information for the binary.
func (b *Binary) remedy() string {
	installed := systemBinary(b.name) || hasAnyPrefix(b.name, "/usr/", "/bin/", "/sbin/")
	if b.file.BuildID() == "" || !installed {
		return "compile it with -g"
	}
	ways := "install its package of debug symbols (-dbgsym, -dbg, -debuginfo)"
	if servers() == nil {
		ways += ", set DEBUGINFOD_URLS"
	}
	return ways + ", or compile it with -g"
}
