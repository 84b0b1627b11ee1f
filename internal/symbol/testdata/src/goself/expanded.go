//go:build go1.23
// +build go1.23

package main

// expanded gives return addresses for which CallersFrames tells the whole inline
// chain. It does if there is another address after it; this one is no code.
func expanded(pc uintptr) []uintptr { return []uintptr{pc, 1} }
