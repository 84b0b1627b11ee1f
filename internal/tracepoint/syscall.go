package tracepoint

import (
	"maps"
	"slices"
	"strings"

	"whatif/internal/code/symbol"
)

//go:generate go run generate.go

// inKernel maps the kernel's own names of some system calls, which its tracepoints use, to the
// names of the table.
var inKernel = map[string]string{
	"newfstat":   "fstat",
	"newlstat":   "lstat",
	"newstat":    "stat",
	"newuname":   "uname",
	"sendfile64": "sendfile",
	"umount":     "umount2",
}

// newer has system calls that are younger than the table. Their numbers are the same on all
// processors.
var newer = map[string]int{
	"file_getattr": 468,
	"file_setattr": 469,
}

// Syscall returns the number of a system call. The error is a *symbol.NotFound with the nearest
// names.
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
	return 0, &symbol.NotFound{
		What: "system call", Name: name, Where: "Linux on this processor",
		Near: symbol.NearestWhole(name, all, nearCount),
	}
}

// SyscallOf returns the system call of syscalls:sys_enter_NAME or, with atExit,
// syscalls:sys_exit_NAME. The kernel has no such tracepoints: ftrace makes the events from those
// of the category raw_syscalls.
func SyscallOf(category, name string) (call string, atExit, ok bool) {
	if category != "syscalls" {
		return "", false, false
	}
	if call, ok = strings.CutPrefix(name, "sys_enter_"); ok {
		return call, false, true
	}
	call, ok = strings.CutPrefix(name, "sys_exit_")
	return call, true, ok
}
