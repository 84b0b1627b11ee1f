//go:build !go1.23
// +build !go1.23

package main

import _ "unsafe" // for go:linkname

// expanded returns the return addresses for the inline chain, as the runtime itself
// does for package runtime/pprof.
func expanded(pc uintptr) []uintptr { return expandFinalInlineFrame([]uintptr{pc}) }

//go:linkname expandFinalInlineFrame runtime/pprof.runtime_expandFinalInlineFrame
func expandFinalInlineFrame(stack []uintptr) []uintptr
