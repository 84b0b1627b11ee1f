package tracepoint

import (
	"maps"
	"slices"
	"strings"

	"whatif/internal/symbol"
)

//go:generate go run generate.go

// inKernel is what the kernel calls some system calls in its own code, and so in the names of
// its tracepoints.
var inKernel = map[string]string{
	"newfstat":   "fstat",
	"newlstat":   "lstat",
	"newstat":    "stat",
	"newuname":   "uname",
	"sendfile64": "sendfile",
	"umount":     "umount2",
}

// newer are younger than the table; they have the same numbers on all processors.
var newer = map[string]int{
	"file_getattr": 468,
	"file_setattr": 469,
}

// Syscall gives the number of a system call. The error is a *symbol.NotFound with the nearest names.
func Syscall(name string) (int, error) {
	for _, table := range []map[string]int{numbers, newer} {
		if n, ok := table[name]; ok {
			return n, nil
		}
		if n, ok := table[inKernel[name]]; ok {
			return n, nil
		}
	}
	all := slices.Concat(slices.Sorted(maps.Keys(numbers)), slices.Sorted(maps.Keys(newer)))
	return 0, &symbol.NotFound{What: "system call", Name: name, Where: "Linux on this processor", Near: symbol.Like(name, all, nearCount)}
}

// OfSyscall gives the system call of a tracepoint that perf makes of one (syscalls:sys_enter_NAME, sys_exit_NAME): it is
// no tracepoint of its own.
func OfSyscall(category, name string) (call string, over, ok bool) {
	if category != "syscalls" {
		return "", false, false
	}
	if call, ok = strings.CutPrefix(name, "sys_enter_"); ok {
		return call, false, true
	}
	call, ok = strings.CutPrefix(name, "sys_exit_")
	return call, true, ok
}
