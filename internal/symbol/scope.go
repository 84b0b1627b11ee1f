package symbol

import (
	"path"
	"strings"
)

// Origin is what decides, besides a frame itself, whether it is in scope.
type Origin struct {
	// Path is the binary's, as /proc/PID/maps has it.
	Path string
	// Executable is set for the main program of a process: it is the
	// user's wherever it lies (PostgreSQL's is under /usr/lib).
	Executable bool
	// Lines is set when the binary's own code has lines. Then code in it
	// that has none is a library's, linked in: libc in a static binary.
	Lines bool
	// Kernel is set for code of the kernel and its modules, where that may be sped up.
	Kernel bool
}

// InScope reports whether a frame is the user's own code by default: code of
// the main program and of its libraries that the system does not own, except
// what the language brought along. Time spent in other code belongs to the line
// that called it.
func (o Origin) InScope(f Frame) bool { return o.Outside(f) == "" }

// Outside says why a frame is not in scope by default, in a word or two; "" if
// it is.
func (o Origin) Outside(f Frame) string {
	switch {
	case o.Kernel:
		if o.Path == "[bpf]" {
			return "BPF program" // often whatif's own
		}
		return ""
	case o.System():
		return kindOfLibrary(o.Path)
	case goStandard(f.Func, f.File):
		if root, _, _ := strings.Cut(goPackage(f.Func), "/"); root == "runtime" || root == "internal" || root == "" {
			return "Go's runtime"
		}
		return "Go's library"
	case rustLibrary(f.File):
		return "Rust's library"
	case systemSource(f.File):
		if strings.Contains(f.File, "/c++/") {
			return "C++ library"
		}
		return "system header"
	case f.File == "" && startup[f.Func]:
		return "C start-up code"
	case f.File == "" && o.Lines:
		return "linked in, without lines"
	}
	return ""
}

// System reports that the binary is the system's: by default no frame of it is in scope.
func (o Origin) System() bool { return !o.Executable && !o.Kernel && systemBinary(o.Path) }

// First gives the index of the frame that a chain is blamed on: the first in
// scope, -1 if there is none. A frame whose line is unknown gives way to one
// further out that has a line.
func First(chain []Frame, inScope func(Frame) bool) int {
	first := -1
	for i, f := range chain {
		if !inScope(f) {
			continue
		}
		if f.Line > 0 {
			return i
		}
		if first < 0 {
			first = i
		}
	}
	return first
}

// systemBinary reports whether a mapping is the system's: a library from the
// distribution, a language's or the dynamic linker wherever they lie (conda, Homebrew and
// Guix bring their own), or no file at all.
func systemBinary(p string) bool {
	p = strings.TrimSuffix(p, " (deleted)")
	if p == "" || p[0] == '[' {
		return true // [vdso], [anon], [heap]: no binary that has lines
	}
	for _, dir := range []string{"/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libx32/", "/nix/store/"} {
		if strings.HasPrefix(p, dir) {
			return true
		}
	}
	return kindOfLibrary(p) != anyLibrary
}

const anyLibrary = "system library"

// kindOfLibrary names what a binary of the system is.
func kindOfLibrary(p string) string {
	switch base := path.Base(p); {
	case p == "" || p[0] == '[':
		return "no file"
	case hasAnyPrefix(base, "libc.so", "libc-2.", "libc.musl", "ld-linux", "ld-musl", "ld-2.", "ld.so", "libm.so", "libm-2.", "libpthread.", "libpthread-2.", "libmvec.", "libmvec-2.", "librt.", "librt-2.", "libdl.", "libdl-2."):
		return "C library"
	case hasAnyPrefix(base, "libstdc++.", "libc++.", "libc++abi.", "libgcc_s.", "libgcc_s-"):
		return "C++ library"
	case hasAnyPrefix(base, "libstd-"):
		return "Rust's library"
	}
	return anyLibrary
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

// systemSource reports whether a source file is part of a language's library
// or of the system's headers.
func systemSource(file string) bool {
	// Compilers outside of /usr: /opt/gcc-15/include/c++/15/vector, libc++'s
	// /…/include/c++/v1/vector, a toolchain's own gcc headers.
	return hasAnyPrefix(file, "/usr/include/", "/usr/lib/llvm") || strings.Contains(file, "/include/c++/") || strings.Contains(file, "/lib/gcc/")
}

// rustLibrary reports whether a file is in Rust's library; its sources are at
// /rustc/HASH/library/… (and /rust/deps/… for crates that it is made of) or, where the component rust-src is installed, at
// …/lib/rustlib/src/rust/library/….
func rustLibrary(file string) bool {
	if hasAnyPrefix(file, "/rustc/", "/rust/deps/") || strings.Contains(file, "/lib/rustlib/src/rust/") {
		return true
	}
	for _, crate := range []string{"core", "alloc", "std", "proc_macro", "test", "panic_unwind", "backtrace"} {
		if strings.Contains(file, "/library/"+crate+"/src/") {
			return true
		}
	}
	return false
}

// startup is what the C compiler adds to every program, without lines.
var startup = map[string]bool{
	"_start": true, "_init": true, "_fini": true, "frame_dummy": true, "register_tm_clones": true,
	"deregister_tm_clones": true, "__do_global_dtors_aux": true, "__libc_csu_init": true,
}
