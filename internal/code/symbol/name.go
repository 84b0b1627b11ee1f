package symbol

import (
	"regexp"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"whatif/internal/code/swift"
)

// names has the forms of one function's name that a user may write.
type names struct {
	symbol string // as in the symbol table, or DWARF's name
	full   string // demangled, as the language prints it
	short  string // full without parameters, return type and ABI tags
	bare   string // short without template or type arguments; for Swift without "specialized" and "static"
}

// maxDemangled bounds a demangled name, as a power of two: substitutions can expand a short symbol to a
// huge name.
const maxDemangled = 14

// cloneSuffix matches the suffixes with which compilers name the copies and parts of a function: gcc's
// clones, LLVM's promoted and uniquified locals, versions of target_clones, and LLVM's parts of a
// coroutine (Swift modifies variables in place by coroutines).
var cloneSuffix = regexp.MustCompile(
	`(\.(constprop|isra|part|cold|localalias|lto_priv|llvm|clone|__uniq|default|resolver` +
		`|avx[a-z0-9_]*|sse[a-z0-9_]*|arch_[a-z0-9_]+|resume\.[0-9]+|[0-9]+))+$`)

// namesOf returns all forms of a symbol's name.
func namesOf(symbol string, isGo bool) names {
	n := names{symbol: symbol}
	if name, ok := swift.Name(symbol); ok {
		n.full, n.short, n.bare = name, name, swift.Plain(name)
		return n
	}
	if isMangled(symbol) {
		mangled := withoutClone(symbol)
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

// longestSuffix bounds the end of a symbol in which a suffix is looked for.
const longestSuffix = 256

// withoutClone removes a compiler's suffix from a symbol.
func withoutClone(symbol string) string {
	// Nearly all symbols have no dot, so the expression is not tried.
	if strings.IndexByte(symbol, '.') <= 0 {
		return symbol
	}
	end := max(0, len(symbol)-longestSuffix)
	if i := cloneSuffix.FindStringIndex(symbol[end:]); i != nil && end+i[0] > 0 {
		return symbol[:end+i[0]]
	}
	return symbol
}

// isPartial reports whether a symbol names a piece of a function that is no entry point: a cold half, a
// later part of a coroutine, the rest of a partly inlined function, or the resolver that
// chooses one of its versions.
func isPartial(symbol string) bool {
	whole := withoutClone(symbol)
	suffix := symbol[len(whole):]
	return strings.Contains(suffix, ".cold") || strings.Contains(suffix, ".part.") ||
		strings.Contains(suffix, ".resume.") || strings.HasSuffix(suffix, ".resolver") || swift.Piece(whole)
}

// isMangled reports whether a symbol is a mangled name of C++ or Rust.
func isMangled(symbol string) bool {
	return strings.HasPrefix(symbol, "_Z") || strings.HasPrefix(symbol, "_R") || strings.HasPrefix(symbol, "___Z")
}

// goName returns a Go function's name as Go's runtime prints it: with [...] for type arguments, and
// without the calling convention.
func goName(symbol string) string {
	symbol = strings.TrimSuffix(symbol, ".abi0")
	symbol = strings.TrimSuffix(symbol, ".abiinternal")
	i, j := strings.IndexByte(symbol, '['), strings.LastIndexByte(symbol, ']')
	if i < 0 || j <= i {
		return symbol
	}
	return symbol[:i] + "[...]" + symbol[j+1:]
}
