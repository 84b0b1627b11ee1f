package symbol

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"whatif/internal/code/swift"
)

// MatchFile reports whether a file name from the user means the file at a full path. The name is the
// whole path, or its last components: "parse.c" and "x/parse.c" mean "/src/x/parse.c", but not
// "/src/xparse.c".
func MatchFile(spec, full string) bool {
	if spec == "" || full == "" {
		return false
	}
	spec, full = path.Clean(spec), path.Clean(full)
	for strings.HasPrefix(spec, "../") {
		spec = spec[len("../"):] // relative to the user's directory, not the compiler's
	}
	if spec == full {
		return true
	}
	return !path.IsAbs(spec) && strings.HasSuffix(full, "/"+spec)
}

// MatchJava reports whether a name from the user means the file of a frame in a Java VM. Such a VM knows files from the
// package's directory on only, as com/shop/Cart.java. The name is a longer path, or that of the frame's class,
// com.shop.Cart, whose nested classes belong to it.
func MatchJava(spec string, f Frame) bool {
	if path.IsAbs(f.File) || !IsJavaSource(f.File) {
		return false
	}
	if strings.HasSuffix(spec, path.Ext(f.File)) {
		return strings.HasSuffix(path.Clean(spec), "/"+f.File)
	}
	method, _, _ := strings.Cut(f.Func, "(")
	class := method[:max(0, strings.LastIndexByte(method, '.'))]
	return spec != "" && (class == spec || strings.HasPrefix(class, spec+"$"))
}

// IsJavaSource reports whether a source file, by its name, is compiled to classes of Java VMs.
func IsJavaSource(file string) bool {
	return slices.Contains([]string{".java", ".kt", ".scala", ".groovy", ".clj"}, path.Ext(file))
}

// FuncMatcher matches functions by a name from the user.
type FuncMatcher struct {
	text  string
	token string // occurs in every mangled name that can match; "" if not known
	begin string // of every other name that can match
}

// rustHash matches the end of a name by old Rust compilers.
var rustHash = regexp.MustCompile(`::h[0-9a-f]{16}$`)

// MatchFunc returns a matcher for a name. The name is a symbol, or a demangled name that may lack
// parameters, their labels, template or type arguments or the hash, or a pattern in which * stands
// for anything.
func MatchFunc(text string) FuncMatcher {
	text = rustHash.ReplaceAllString(strings.TrimSpace(text), "")
	begin := text
	if i := strings.IndexAny(text, "*["); i >= 0 {
		begin = text[:i]
	}
	return FuncMatcher{text: text, token: lastIdentifier(text), begin: begin}
}

// begins reports whether a symbol can match, by its first bytes.
func (m FuncMatcher) begins(symbol []byte) bool {
	if head := string(symbol[:min(len(symbol), 4)]); isMangled(head) || swift.Mangled(head) {
		return true
	}
	for i := range len(m.begin) {
		if i >= len(symbol) || symbol[i] != m.begin[i] {
			return i < len(symbol) && symbol[i] == '[' // the type arguments of a Go function can be left out
		}
	}
	return true
}

// exactly reports whether the name is one of the function's names.
func (m FuncMatcher) exactly(n names) bool {
	return n.symbol == m.text || n.full == m.text || n.short == m.text || n.bare == m.text ||
		withoutLabels(n.bare) == m.text || m.text == anyLambda && isLambda(n.bare) ||
		strings.HasPrefix(n.symbol, m.text) && withoutClone(n.symbol) == m.text
}

// anyLambda is how whatif once named all lambdas without a linkage name.
const anyLambda = "(anonymous namespace)::operator()"

// isLambda reports whether a name is that of a lambda without a linkage name.
func isLambda(name string) bool {
	return strings.Contains(name, "{lambda at ") && strings.HasSuffix(name, "}::operator()")
}

// pattern reports whether the name, as a pattern, matches the function.
func (m FuncMatcher) pattern(n names) bool {
	return strings.Contains(m.text, "*") &&
		(Glob(m.text, n.symbol) || Glob(m.text, n.full) || Glob(m.text, n.short) || Glob(m.text, n.bare))
}

// possible reports whether a symbol can match at all. It does not demangle the symbol: that would take
// seconds for a million symbols.
func (m FuncMatcher) possible(symbol string) bool {
	if swift.Mangled(symbol) {
		return swift.Possible(symbol, m.text)
	}
	return !isMangled(symbol) || m.token == "" || strings.Contains(symbol, m.token)
}

// Frame reports whether a frame is in the function.
func (m FuncMatcher) Frame(f Frame) bool {
	if f.Func == "" {
		return false
	}
	n := names{symbol: f.Func, full: f.Func, short: f.Short, bare: withoutArguments(swift.Plain(f.Short))}
	return m.exactly(n) || m.pattern(n)
}

// withoutArguments removes template or type arguments from the end of a name.
func withoutArguments(short string) string {
	if s := strings.TrimSuffix(short, "[...]"); s != short {
		return s // Go
	}
	if !strings.HasSuffix(short, ">") || strings.HasSuffix(short, "operator>") || strings.HasSuffix(short, "operator->") {
		return short
	}
	depth := 0
	for i := len(short) - 1; i > 0; i-- {
		switch short[i] {
		case '>':
			depth++
		case '<':
			if depth--; depth == 0 {
				return strings.TrimSuffix(short[:i], "::") // Rust writes f::<T>
			}
		}
	}
	return short
}

// withoutLabels removes the labels of parameters from a Swift name: (_:of:).
func withoutLabels(bare string) string {
	i := strings.LastIndexByte(bare, '(')
	labels := strings.HasSuffix(bare, ":)") || strings.HasSuffix(bare, "()")
	if i <= 0 || !labels || strings.HasSuffix(bare, "operator()") {
		return bare
	}
	return bare[:i]
}

// lastIdentifier returns the last part of a qualified name if the mangled name has it, too; "" if
// mangling may spell it differently.
func lastIdentifier(text string) string {
	// Mangling abbreviates names of std, and has codes for operators.
	if strings.Contains(text, "*") || strings.Contains(text, "operator") || strings.HasPrefix(text, "std::") ||
		isMangled(text) {
		return ""
	}
	base := text
	if i := strings.IndexAny(base, "(<["); i >= 0 {
		base = base[:i]
	}
	if i := strings.LastIndex(base, "::"); i >= 0 {
		base = base[i+2:]
	}
	base = strings.TrimPrefix(base, "~")
	for _, r := range base {
		if r > 127 || r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return ""
		}
	}
	return base
}

// Glob reports whether a pattern, in which * stands for any text, matches all of s. In the worst case it
// takes time in proportion to the product of both lengths.
func Glob(pattern, s string) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
