package symbol

import (
	"path"
	"strings"
)

// Origin describes the binary of a frame: with the frame, it decides whether the frame is in scope.
type Origin struct {
	// Path is the binary's path, as in /proc/PID/maps.
	Path string
	// Executable is set for the main program of a process. That is the user's own in any directory
	// (PostgreSQL's is under /usr/lib).
	Executable bool
	// Lines is set if the binary's own code has lines. Code without lines is then a library's that was
	// linked in, as libc in a static binary.
	Lines bool
	// Kernel is set for code of the kernel and its modules, if that may be sped up.
	Kernel bool
	// Generated is set for code that the program has made while it ran. Path is the program then.
	Generated bool
	// Java is set for code that a Java VM has made, in which methods of several classes may be inlined.
	Java bool
	// Part is set for code of a runtime that is a unit of its own, such as a garbage collector's.
	Part bool
	// Outside says why the code is not the user's own, if that is known from elsewhere; "": it is not.
	Outside string
}

// InScope reports whether a frame is the user's own code by default: code of the main program and of
// libraries that are not the system's, without the language's own library. Time in other code belongs
// to the line that called it.
func (o Origin) InScope(f Frame) bool { return o.WhyOutside(f) == "" }

// WhyOutside returns why a frame is not in scope by default, in a few words; "" if it is in scope.
func (o Origin) WhyOutside(f Frame) string {
	switch {
	case o.Kernel:
		if o.Path == "[bpf]" {
			return "BPF program" // often whatif's own
		}
		return ""
	case o.Part:
		return ""
	case o.Java:
		return JavaLibrary(f.Func)
	case o.Outside != "" || o.Generated:
		return o.Outside
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

// System reports whether the binary is the system's. By default no frame of such a binary is in scope.
func (o Origin) System() bool {
	return !o.Executable && !o.Kernel && !o.Generated && systemBinary(o.Path)
}

// FirstInScope returns the index of the frame to which a chain's time belongs: the first in scope, -1
// if there is none. A frame further out with a line is preferred to one without.
func FirstInScope(chain []Frame, inScope func(Frame) bool) int {
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

// systemBinary reports whether a mapping is the system's: a library of the distribution, no file at all,
// or, in any directory, a language's library or the dynamic linker. Conda, Homebrew and Guix bring
// such libraries of their own.
func systemBinary(p string) bool {
	p = strings.TrimSuffix(p, " (deleted)")
	if p == "" || p[0] == '[' {
		return true // [vdso], [anon], [heap]: no binary with lines
	}
	if hasAnyPrefix(p, "/lib/", "/lib32/", "/lib64/", "/libx32/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/",
		"/usr/libx32/", "/nix/store/") {
		return true
	}
	return kindOfLibrary(p) != anyLibrary
}

const anyLibrary = "system library"

// kindOfLibrary names the kind of a system binary.
func kindOfLibrary(p string) string {
	switch base := path.Base(p); {
	case p == "" || p[0] == '[':
		return "no file"
	case hasAnyPrefix(base, "libc.so", "libc-2.", "libc.musl", "ld-linux", "ld-musl", "ld-2.", "ld.so",
		"libm.so", "libm-2.", "libpthread.", "libpthread-2.", "libmvec.", "libmvec-2.",
		"librt.", "librt-2.", "libdl.", "libdl-2."):
		return "C library"
	case hasAnyPrefix(base, "libstdc++.", "libc++.", "libc++abi.", "libgcc_s.", "libgcc_s-"):
		return "C++ library"
	case hasAnyPrefix(base, "libstd-"):
		return "Rust's library"
	case hasAnyPrefix(base, "libwhatif-"):
		return "whatif's own"
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

// systemSource reports whether a source file is part of a language's library or of the system's headers.
func systemSource(file string) bool {
	// Compilers outside of /usr: /opt/gcc-15/include/c++/15/vector, libc++'s /…/include/c++/v1/vector,
	// a toolchain's own gcc headers.
	return hasAnyPrefix(file, "/usr/include/", "/usr/lib/llvm") ||
		strings.Contains(file, "/include/c++/") || strings.Contains(file, "/lib/gcc/")
}

// rustLibrary reports whether a source file is in Rust's library. Its paths are /rustc/HASH/library/…
// or, with the component rust-src, …/lib/rustlib/src/rust/library/…; those of the crates that it uses
// are /rust/deps/….
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

// JavaLibrary returns why a Java class or method, by its whole name, is not the user's own code, "" if it is.
func JavaLibrary(name string) string {
	if hasAnyPrefix(name, "java.", "javax.", "jdk.", "sun.", "com.sun.") {
		return "Java's own library"
	}
	return ""
}

// startup has the functions that the C compiler adds to every program, without lines.
var startup = map[string]bool{
	"_start": true, "_init": true, "_fini": true, "frame_dummy": true, "register_tm_clones": true,
	"deregister_tm_clones": true, "__do_global_dtors_aux": true, "__libc_csu_init": true,
}
