package jit

import (
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"

	"whatif/internal/code/symbol"
)

// Function is what a runtime's name for a piece of code says.
type Function struct {
	Name string // as users write it: "hot", "Shop.total"
	Full string // with what tells functions of one name apart: "hot (app.js:2)"
	File string // of its source; "" if that is not known
	// Declared is the function's own first line, 0 if not known. The lines of its code are in DEBUG_INFO only.
	Declared int
	// Outside says why the code is not the user's own, in a few words; "": it is.
	Outside string

	V8      bool // see dump.addLines
	NoLines bool // its DEBUG_INFO is about something else than its code
	rawFile string
}

// Clean makes a Function of a name as V8, CPython, the BEAM, .NET, Julia and HotSpot write it. Other names are kept as
// they are.
func Clean(name string) Function {
	for _, clean := range []func(string) (Function, bool){
		cleanV8, cleanPython, cleanBEAM, cleanDotNet, cleanJulia, cleanHotSpot,
	} {
		if f, ok := clean(name); ok {
			return f
		}
	}
	return Function{Name: name, Full: name}
}

// v8Kinds are the kinds of code that V8 names, before a colon; true: it is a script's.
var v8Kinds = map[string]bool{
	"JS": true, "LazyCompile": true, "Function": true, "Script": true, "Eval": true, "Module": true,
	"Builtin": false, "BytecodeHandler": false, "Stub": false, "Handler": false, "RegExp": false,
	"wasm": false, "BuiltinHandler": false,
}

var place = regexp.MustCompile(`^(.*?):([0-9]+)(?::[0-9]+)?$`)

// cleanV8 reads KIND:[TIER]NAME FILE:LINE:COLUMN. The tier tells what has made the code: ~ the interpreter, ^
// Sparkplug, + Maglev, * TurboFan.
func cleanV8(text string) (f Function, ok bool) {
	kind, rest, _ := strings.Cut(text, ":")
	script, known := v8Kinds[kind]
	if !known || rest == "" {
		return f, false
	}
	if !script {
		return Function{Name: rest, Full: rest, Outside: "JavaScript engine's own code"}, true
	}
	f.V8 = true
	tier := strings.TrimLeft(rest, "*^~+")
	// Sparkplug writes offsets in the bytecode, not in the code.
	f.NoLines = strings.HasPrefix(rest, "^")
	name, where := splitV8(tier)
	if m := place.FindStringSubmatch(where); m != nil {
		f.rawFile = m[1]
		f.File = fileOf(m[1])
		f.Declared, _ = strconv.Atoi(m[2])
	} else if where != "" {
		name = tier
	}
	base := path.Base(f.File)
	at := ""
	if f.File != "" {
		at = base + ":" + strconv.Itoa(f.Declared)
	}
	switch {
	case name != "" && at != "":
		f.Name, f.Full = name, name+" ("+at+")"
	case name != "":
		f.Name, f.Full = name, name
	case kind != "JS" && kind != "Function" && kind != "LazyCompile" || f.Declared == 1:
		f.Name = "(script " + base + ")"
		f.Full = f.Name
	default:
		f.Name = "(anonymous " + at + ")"
		f.Full = f.Name
	}
	if strings.HasPrefix(f.File, "node:") {
		f.Outside = "node's own library"
	}
	return f, true
}

// splitV8 separates a function's name from its file. Both may have blanks.
func splitV8(text string) (name, where string) {
	for _, begin := range []string{" /", " file:", " node:", " "} {
		if i := strings.Index(text, begin); i >= 0 {
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// fileOf makes a path of the URL by which V8 names a module.
func fileOf(name string) string {
	if rest, ok := strings.CutPrefix(name, "file://"); ok {
		if file, err := url.PathUnescape(rest); err == nil {
			return file
		}
	}
	return name
}

// cleanPython reads py::NAME:FILE.
func cleanPython(text string) (f Function, ok bool) {
	rest, ok := strings.CutPrefix(text, "py::")
	if !ok {
		return f, false
	}
	i := strings.Index(rest, ":/")
	if i < 0 {
		i = strings.LastIndexByte(rest, ':')
	}
	f.Name = rest
	if i > 0 {
		f.Name, f.File = rest[:i], rest[i+1:]
	}
	f.Full = f.Name
	switch {
	case strings.HasPrefix(f.File, "<frozen "),
		pythonLibrary.MatchString(f.File) && !strings.Contains(f.File, "-packages/"):
		f.Outside = "Python's own library"
	case strings.HasPrefix(f.File, "<"):
		f.File = ""
	case f.File != "":
		f.Full = f.Name + " (" + path.Base(f.File) + ")"
	}
	return f, true
}

// pythonLibrary matches files of Python's library, and of packages that are installed beside it.
var pythonLibrary = regexp.MustCompile(`/lib(64)?/python3\.[0-9]+t?/`)

// cleanBEAM reads $MODULE:FUNCTION/ARITY, in which Elixir's modules are in quotes.
func cleanBEAM(text string) (f Function, ok bool) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok {
		return f, false
	}
	if strings.HasPrefix(rest, "global::") {
		return Function{Name: rest, Full: rest, Outside: "Erlang's runtime"}, true
	}
	module, function, ok := strings.Cut(rest, ":")
	if !ok {
		return f, false
	}
	module = strings.Trim(module, "'")
	f.Name = module + ":" + function
	if elixir, ok := strings.CutPrefix(module, "Elixir."); ok {
		f.Name = elixir + "." + function
	}
	f.Full = f.Name
	return f, true
}

var (
	dotNet     = regexp.MustCompile(`^(?:.* )?\[([^\]]+)\] ([^\s(]+::[^\s(]+)(\(.*\))?(\[[A-Za-z0-9]+\])?$`)
	dotNetOwn  = regexp.MustCompile(`^(System|Microsoft|mscorlib|netstandard)(\.|$)`)
	julia      = regexp.MustCompile(`^(julia|jfptr|jlsys|japi1)_(.+)_[0-9]+$`)
	juliaShape = "Julia's calling convention"
)

// cleanDotNet reads TYPE [ASSEMBLY] CLASS::METHOD(PARAMETERS)[TIER].
func cleanDotNet(text string) (f Function, ok bool) {
	m := dotNet.FindStringSubmatch(text)
	if m == nil {
		return f, false
	}
	f.Name, f.Full = m[2], m[2]+m[3]
	if dotNetOwn.MatchString(m[1]) {
		f.Outside = ".NET's own library"
	}
	return f, true
}

// cleanJulia reads julia_NAME_NUMBER; jfptr_NAME_NUMBER is what only calls that.
func cleanJulia(text string) (f Function, ok bool) {
	m := julia.FindStringSubmatch(text)
	if m == nil {
		return f, false
	}
	f.Name, f.Full = m[2], m[2]
	if m[1] == "jfptr" {
		f.Outside = juliaShape
	}
	return f, true
}

var (
	hotSpot = regexp.MustCompile(`^\S+ ([\w.$/+]+)\.([\w$]+|<init>|<clinit>)(\(.*\))$`)
	// A class that the VM makes for a lambda has a number, and behind it a class loader's address.
	madeClass = regexp.MustCompile(`(\$\$Lambda)\$[0-9]+|[/+.]0x[0-9a-f]+$`)
	// What HotSpot names besides methods: its interpreter, stubs, and code that leads from one of these to another.
	hotSpotCode = regexp.MustCompile(`^(Interpreter|StubRoutines|I2C/C2I adapters|vtable chunks|MethodHandles adapters|` +
		`.*Blob|.*_?[Ss]tub|Signature Handler.*|Runtime1 .*|C1 .*|C2 .*|OptoRuntime .*)`)
)

const hotSpotOutside = "Java VM's own code"

// cleanHotSpot reads TYPE CLASS.METHOD(PARAMETERS), and the names of HotSpot's own code.
func cleanHotSpot(text string) (f Function, ok bool) {
	m := hotSpot.FindStringSubmatch(text)
	if m == nil {
		if hotSpotCode.MatchString(text) {
			return Function{Name: text, Full: text, Outside: hotSpotOutside}, true
		}
		return f, false
	}
	class := madeClass.ReplaceAllString(m[1], "$1")
	f.Name = class + "." + m[2]
	f.Full = f.Name + m[3]
	f.Outside = symbol.JavaLibrary(f.Full)
	return f, true
}
