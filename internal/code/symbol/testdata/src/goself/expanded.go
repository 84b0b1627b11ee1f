//go:build go1.23
// +build go1.23

package main

// expanded returns return addresses for which CallersFrames returns the whole inline
// chain. It does so if another address follows; this one is no code.
func expanded(pc uintptr) []uintptr { return []uintptr{pc, 1} }
