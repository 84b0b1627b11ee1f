package symbol

import (
	"path"
	"strings"
)

// goStandard reports whether a frame is in Go's standard library, which is out of scope as libc is for
// C. Otherwise a lock's cost would belong to runtime.futex.
//
// The import path alone is not enough: a user's package may be called "internal/parse" or "log". But a
// file of the standard library is at GOROOT/src/IMPORTPATH/, or at IMPORTPATH/ after -trimpath.
func goStandard(fn, file string) bool {
	pkg := goPackage(fn)
	if pkg == "" {
		// Entry points in assembly have no package: _rt0_amd64_linux.
		return strings.HasSuffix(path.Dir(file), "/src/runtime") && strings.HasSuffix(file, ".s")
	}
	root, _, _ := strings.Cut(pkg, "/")
	if !goRoots[root] {
		return false
	}
	if file == "" || strings.HasPrefix(file, "<") {
		return true // no debug information, or a generated wrapper
	}
	// The runtime's directory has functions of other packages, such as time.Sleep.
	dir := path.Dir(file)
	return pkg == "runtime" || goDirectory(dir, pkg) || goDirectory(dir, "runtime")
}

// goDirectory reports whether a source directory is that of a package of the standard library.
func goDirectory(dir, pkg string) bool {
	goroot, ok := strings.CutSuffix(dir, "/src/"+pkg)
	// Files by cgo ("_cgo_gotypes.go") have only the import path.
	return dir == pkg || ok && goroot != ""
}

// goPackage returns the import path in a Go function's name, "" if there is none: "net/http" in
// "net/http.(*conn).serve".
func goPackage(fn string) string {
	// Type arguments have import paths of their own.
	if i := strings.IndexByte(fn, '['); i >= 0 {
		fn = fn[:i]
	}
	// Names of C++ and Rust have none, although they may have dots.
	if strings.Contains(fn, "::") || strings.ContainsAny(fn, " <") {
		return ""
	}
	slash := strings.LastIndexByte(fn, '/') + 1
	dot := strings.IndexByte(fn[slash:], '.')
	if dot <= 0 {
		return ""
	}
	return fn[:slash+dot]
}

// goRoots has the first elements of the standard library's import paths (Go 1.26). A newer package is in
// scope until it is added here.
var goRoots = func() map[string]bool {
	m := map[string]bool{}
	for _, root := range strings.Fields(`archive bufio bytes cmp compress container context crypto database debug
		embed encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net os
		path plugin reflect regexp runtime slices sort strconv strings structs sync syscall testing text time
		unicode unique unsafe vendor weak`) {
		m[root] = true
	}
	return m
}()
