package symbol

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"whatif/internal/symbol/swift"
)

// names is the forms of one function's name that a user may write.
type names struct {
	symbol string // as in the symbol table, or DWARF's name
	full   string // demangled, as the language prints it
	short  string // without parameters, return type and ABI tags
	bare   string // without template or type arguments as well; of Swift's without "specialized" and "static"
}

// maxDemangled bounds a demangled name, as a power of two: substitutions can
// make a short symbol explode.
const maxDemangled = 14

// cloneSuffix is what compilers append to the name of a copy they made of a
// function: gcc's clones, LLVM's promoted and uniquified locals, versions of
// target_clones; and LLVM's parts of a coroutine, which is how Swift lets a variable be modified in place.
var cloneSuffix = regexp.MustCompile(`(\.(constprop|isra|part|cold|localalias|lto_priv|llvm|clone|__uniq|default|resolver|avx[a-z0-9_]*|sse[a-z0-9_]*|arch_[a-z0-9_]+|resume\.[0-9]+|[0-9]+))+$`)

// namesOf gives all forms of a symbol's name.
func namesOf(symbol string, isGo bool) names {
	n := names{symbol: symbol}
	if name, ok := swift.Name(symbol); ok {
		n.full, n.short, n.bare = name, name, swift.Plain(name)
		return n
	}
	if mangled := withoutClone(symbol); isMangled(mangled) {
		limit := demangle.MaxLength(maxDemangled)
		if full, err := demangle.ToString(mangled, limit); err == nil {
			n.full = full
			n.short = demangle.Filter(mangled, limit, demangle.NoParams, demangle.NoABITags)
			n.bare = demangle.Filter(mangled, limit, demangle.NoParams, demangle.NoABITags, demangle.NoTemplateParams)
			return n
		}
	}
	if isGo {
		n.full = goName(symbol)
		n.short = n.full
		n.bare = strings.Replace(n.full, "[...]", "", 1)
		return n
	}
	n.full = withoutClone(symbol)
	n.short, n.bare = n.full, n.full
	return n
}

// withoutClone cuts a compiler's suffix off a symbol.
func withoutClone(symbol string) string {
	// Cheap for nearly all: the expression is not even tried.
	if strings.IndexByte(symbol, '.') <= 0 {
		return symbol
	}
	if i := cloneSuffix.FindStringIndex(symbol); i != nil && i[0] > 0 {
		return symbol[:i[0]]
	}
	return symbol
}

// isPartial reports whether a symbol names a piece of a function that is
// jumped into (its cold half), where it goes on after it waited, the rest of one whose start was inlined, or what
// chooses one of its versions: no entry point of the function.
func isPartial(symbol string) bool {
	whole := withoutClone(symbol)
	suffix := symbol[len(whole):]
	return strings.Contains(suffix, ".cold") || strings.Contains(suffix, ".part.") || strings.Contains(suffix, ".resume.") ||
		strings.HasSuffix(suffix, ".resolver") || swift.Piece(whole)
}

// isMangled reports whether a symbol is a mangled name in C++ or Rust.
func isMangled(symbol string) bool {
	return strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R") || strings.HasPrefix(symbol, "___Z")
}

// goName is a Go function's name as Go's runtime prints it: type arguments
// become [...], and which calling convention a symbol is for is not said.
func goName(symbol string) string {
	symbol = strings.TrimSuffix(symbol, ".abi0")
	symbol = strings.TrimSuffix(symbol, ".abiinternal")
	i, j := strings.IndexByte(symbol, '['), strings.LastIndexByte(symbol, ']')
	if i < 0 || j <= i {
		return symbol
	}
	return symbol[:i] + "[...]" + symbol[j+1:]
}
