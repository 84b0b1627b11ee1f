package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"whatif/internal/code/symbol"
)

// growing is a file in memory.
type growing struct{ text []byte }

func (g *growing) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(g.text).ReadAt(p, at)
}
func (g *growing) Size() (int64, error) { return int64(len(g.text)), nil }

func newTable() *Table { return NewTable(&Budget{Left: DefaultBudget}) }

// TestTableNewestWins compares a table with one that knows each address by itself.
func TestTableNewestWins(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	table, want := newTable(), make(map[uint64]*Body)
	for i := range 3000 {
		start, size := random.Uint64N(4000), 1+random.Uint64N(30)
		b := &Body{Function: Function{Name: fmt.Sprint(i)}}
		table.add(start, size, b)
		for a := start; a < start+size; a++ {
			want[a] = b
		}
	}
	for a := range uint64(4100) {
		if got := table.Find(a); got != want[a] {
			t.Fatalf("at %d: %+v, want %+v", a, got, want[a])
		}
	}
	if len(table.chunks) < 2 {
		t.Errorf("%d chunks: splitting was not tried", len(table.chunks))
	}
	table.Close()
	if table.budget.Left != DefaultBudget {
		t.Errorf("%d bytes of the budget are lost", DefaultBudget-table.budget.Left)
	}
}

func TestBudget(t *testing.T) {
	table := NewTable(&Budget{Left: 1000})
	for i := range uint64(100) {
		table.add(16*i, 16, &Body{Function: Function{Name: "f"}})
	}
	if table.Find(0) == nil || table.Find(16*99) != nil || !table.Full() {
		t.Error("a table without memory takes more, or nothing")
	}
}

func TestPerfMapGrows(t *testing.T) {
	file, table := &growing{}, newTable()
	f := FollowMap(file, table)
	follow := func(text string) {
		t.Helper()
		file.text = append(file.text, text...)
		if _, more, err := f.Follow(); err != nil || more {
			t.Fatal(more, err)
		}
	}
	follow("7f00 100 JS:*hot /home/u/app.js:2:13\n7f0")
	if b := table.Find(0x7fff); b == nil || b.Name != "hot" || b.Declared != 2 || table.Find(0x8000) != nil {
		t.Errorf("%+v", b)
	}
	follow("0 80 py::Shop.total:/srv/app.py\nnonsense\n" + strings.Repeat("x", 3*longestLine) + "\nff 0 empty\n")
	follow("0x9000 10 after\nffffffffffffffff 10 kernel\n")
	for address, want := range map[uint64]string{0x7f00: "Shop.total", 0x7f80: "hot", 0x9000: "after"} {
		if b := table.Find(address); b == nil || b.Name != want {
			t.Errorf("%#x: %+v, want %s", address, b, want)
		}
	}
	file.text = nil
	follow("10 10 anew\n")
	if table.Find(0x9000) != nil || table.Find(0x10) == nil {
		t.Error("a file that was written anew is not read anew")
	}
}

func TestClean(t *testing.T) {
	for text, want := range map[string]Function{
		"LazyCompile:~hot /home/u/my app/app.js:2:13": {Name: "hot",
			Full: "hot (app.js:2)", File: "/home/u/my app/app.js"},
		"JS:*get total /home/u/app.js:3:18": {Name: "get total",
			Full: "get total (app.js:3)", File: "/home/u/app.js"},
		"JS:^ /home/u/app.js:6:87": {Name: "(anonymous app.js:6)",
			Full: "(anonymous app.js:6)", File: "/home/u/app.js"},
		"Eval:~ /home/u/app.js:1:1": {Name: "(script app.js)",
			Full: "(script app.js)", File: "/home/u/app.js"},
		"JS:*f file:///home/u/a%20b.mjs:7:1": {Name: "f",
			Full: "f (a b.mjs:7)", File: "/home/u/a b.mjs"},
		"JS:*emit node:events:500:10": {Name: "emit",
			Full: "emit (node:events:500)", File: "node:events", Outside: "node's own library"},
		"Builtin:ArrayMap": {Name: "ArrayMap",
			Full: "ArrayMap", Outside: "JavaScript engine's own code"},
		"py::<module>:/srv/app.py": {Name: "<module>",
			Full: "<module> (app.py)", File: "/srv/app.py"},
		"py::loads:/usr/lib/python3.12/json/__init__.py": {Name: "loads", Full: "loads",
			File: "/usr/lib/python3.12/json/__init__.py", Outside: "Python's own library"},
		"$lists:map/2":                {Name: "lists:map/2", Full: "lists:map/2"},
		"$'Elixir.Shop.Cart':total/1": {Name: "Shop.Cart.total/1", Full: "Shop.Cart.total/1"},
		"$global::apply_fun_shared": {Name: "global::apply_fun_shared",
			Full: "global::apply_fun_shared", Outside: "Erlang's runtime"},
		"long Toy.longWork(int)": {Name: "Toy.longWork", Full: "Toy.longWork(int)"},
		"void com.shop.Cart$Item.<init>(java.lang.String, int[])": {Name: "com.shop.Cart$Item.<init>",
			Full: "com.shop.Cart$Item.<init>(java.lang.String, int[])"},
		"void Toy$$Lambda$14/0x00007f3a1c003000.run()": {Name: "Toy$$Lambda.run", Full: "Toy$$Lambda.run()"},
		"java.lang.Object java.util.HashMap.get(java.lang.Object)": {Name: "java.util.HashMap.get",
			Full: "java.util.HashMap.get(java.lang.Object)", Outside: "Java's own library"},
		"Interpreter":      {Name: "Interpreter", Full: "Interpreter", Outside: "Java VM's own code"},
		"StubRoutines (1)": {Name: "StubRoutines (1)", Full: "StubRoutines (1)", Outside: "Java VM's own code"},
		"julia_hot_123":    {Name: "hot", Full: "hot"},
		"jfptr_hot_124":    {Name: "hot", Full: "hot", Outside: juliaShape},
		"something else":   {Name: "something else", Full: "something else"},
		"int64 [app] Shop.Cart::Total(int32)[OptimizedTier1]": {Name: "Shop.Cart::Total",
			Full: "Shop.Cart::Total(int32)"},
		"void [System.Private.CoreLib] System.String::Concat(string)[PreJIT]": {Name: "System.String::Concat",
			Full: "System.String::Concat(string)", Outside: ".NET's own library"},
	} {
		got := Clean(text)
		if got.Name != want.Name || got.Full != want.Full || got.File != want.File || got.Outside != want.Outside {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestRuntimes(t *testing.T) {
	for name, want := range map[string]string{
		"Builtins_InterpreterEntryTrampoline": "node", "_PyEval_EvalFrameDefault": "Python", "process_main": "Erlang",
	} {
		if r := LoopOf(name); r == nil || r.Name != want {
			t.Errorf("%s: %+v, want %s", name, r, want)
		}
	}
	for _, name := range []string{"main", "hot", "Eval", "process_main_loop"} {
		if r := LoopOf(name); r != nil {
			t.Errorf("%s is taken for the loop of %s", name, r.Name)
		}
	}
	set := strings.Join(Variables(func(name string) string {
		return map[string]string{"NODE_OPTIONS": "--no-warnings"}[name]
	}), ";")
	if !strings.Contains(set, "NODE_OPTIONS=--no-warnings --perf-basic-prof") ||
		!strings.Contains(set, "ERL_FLAGS=+JPperf true") {
		t.Error(set)
	}
}

// dumpWriter writes jitdumps.
type dumpWriter struct{ bytes.Buffer }

func (w *dumpWriter) put(values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			v = []byte(s)
		}
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}

func (w *dumpWriter) header() {
	w.put(uint32(dumpMagic), uint32(1), uint32(headerBytes), uint32(62), uint32(0), uint32(7), uint64(1), uint64(0))
}

func (w *dumpWriter) record(kind uint32, values ...any) {
	var body dumpWriter
	body.put(values...)
	w.put(kind, uint32(prefixBytes+body.Len()), uint64(1), body.Bytes())
}

func (w *dumpWriter) load(address, size uint64, name string) {
	w.record(recordLoad, uint32(7), uint32(7), address, address, size, uint64(1), name+"\x00", make([]byte, size))
}

// recorded is what a runtime with lines writes: LLVM's listener (Julia, PostgreSQL), with all kinds of records.
func recorded() []byte {
	var w dumpWriter
	w.header()
	w.record(recordDebugInfo, uint64(0x1000), uint64(3), uint64(0x1000), uint32(4), uint32(0), "/srv/sum.jl\x00",
		uint64(0x1010), uint32(5), uint32(0), "\xff\x00", uint64(0x1018), uint32(80), uint32(0), "/usr/share/base.jl\x00")
	w.record(recordUnwindingInfo, uint64(8), uint64(0), uint64(8), make([]byte, 8))
	w.load(0x1000, 0x100, "julia_sum_12")
	w.load(0x2000, 0x100, "$lists:map/2")
	w.record(recordMove, uint32(7), uint32(7), uint64(0x1000), uint64(0x1000), uint64(0x3000), uint64(0x100), uint64(1))
	return w.Bytes()
}

func TestDump(t *testing.T) {
	file, table := &growing{}, newTable()
	f := FollowDump(file, table)
	for _, c := range recorded() { // as it grows, byte for byte
		file.text = append(file.text, c)
		if _, _, err := f.Follow(); err != nil {
			t.Fatal(err)
		}
	}
	_ = f
	if table.Find(0x1000) != nil || table.Find(0x2010) == nil {
		t.Error("moved code is where it was, or other code is not")
	}
	b := table.Find(0x3020)
	if b == nil || b.Name != "sum" || b.File != "/srv/sum.jl" {
		t.Fatalf("%+v", b)
	}
	for address, line := range map[uint64]int{0x3000: 4, 0x300f: 4, 0x3010: 5, 0x30ff: 5} {
		if got := b.Frames(address)[0]; got.Line != line || got.Short != "sum" {
			t.Errorf("%#x: %+v, want line %d", address, got, line)
		}
	}
}

// TestDumpOfV8 has V8's defects: addresses of lines are 64 too high, and files' names are freed memory.
func TestDumpOfV8(t *testing.T) {
	var w dumpWriter
	w.header()
	garbage := "\x84\x81\x00\x00\x00k\xad\x97[9]9pp.js"[:len("/srv/app.js")] + "\x00"
	w.record(recordDebugInfo, uint64(0x1000), uint64(2), uint64(0x1040), uint32(2), uint32(13), garbage,
		uint64(0x1050), uint32(3), uint32(9), garbage)
	w.load(0x1000, 0x100, "JS:*hot /srv/app.js:2:13")
	w.record(recordDebugInfo, uint64(0x2000), uint64(1), uint64(0x2040), uint32(9), uint32(9), "/srv/app.js\x00")
	w.load(0x2000, 0x100, "JS:^cold /srv/app.js:8:13")
	table := newTable()
	if _, _, err := FollowDump(&growing{w.Bytes()}, table).Follow(); err != nil {
		t.Fatal(err)
	}
	for address, line := range map[uint64]int{0x1000: 2, 0x100f: 2, 0x1010: 3, 0x1050: 3, 0x2040: 0} {
		if b := table.Find(address); b == nil || b.Frames(address)[0].Line != line || b.File != "/srv/app.js" {
			t.Errorf("%#x: %+v, want line %d", address, b, line)
		}
	}
}

// TestHostile reads files that claim much: it takes little time and memory, whatever they say.
func TestHostile(t *testing.T) {
	var w dumpWriter
	w.header()
	w.record(recordDebugInfo, uint64(0x1000), ^uint64(0), uint64(0x1000), uint32(4), uint32(0), "x\x00")
	w.load(0x1000, 0x100, "f")
	w.put(uint32(recordDebugInfo), ^uint32(0), uint64(0))
	began := time.Now()
	for _, text := range [][]byte{w.Bytes(), bytes.Repeat([]byte("0 3fffffff f\n7 1 g\n"), 50_000)} {
		for _, follow := range []func(File, *Table) *Follower{FollowMap, FollowDump} {
			table := newTable()
			f := follow(&growing{text}, table)
			for range 3 {
				_, _, _ = f.Follow()
			}
			table.Close()
			if table.budget.Left != DefaultBudget {
				t.Error("the budget is not given back")
			}
		}
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("took %v", d)
	}
}

func FuzzFollow(f *testing.F) {
	f.Add(recorded(), true)
	f.Add([]byte("7f00 100 JS:*hot /home/u/app.js:2:13\n0 1 $a:b/1\n"), false)
	f.Fuzz(func(t *testing.T, text []byte, isDump bool) {
		table, file := newTable(), &growing{}
		follower := FollowMap(file, table)
		if isDump {
			follower = FollowDump(file, table)
		}
		for i := range 2 { // in two parts
			file.text = text[:len(text)*(i+1)/2]
			for more := true; more; {
				_, more, _ = follower.Follow()
			}
		}
		for _, a := range []uint64{0, 0x1000, 0x7f10} {
			if b := table.Find(a); b != nil {
				b.Frames(a)
			}
		}
		table.Close()
		if table.budget.Left != DefaultBudget || len(table.chunks) > 0 {
			t.Error("something is left")
		}
	})
}

// TestPart: code of a Java VM's collector and compilers is known by the function from which its threads call it.
func TestPart(t *testing.T) {
	java := LoopOf("none")
	for i := range runtimes {
		if runtimes[i].Name == "Java" {
			java = &runtimes[i]
		}
	}
	for function, want := range map[string]string{
		"GangWorker::loop": "jvm:gc", "WorkerThread::run": "jvm:gc", "VM_G1CollectForAllocation::doit": "jvm:gc",
		"VM_RedefineClasses::doit": "", "VM_ThreadDump::doit": "", "CompileBroker::compiler_thread_loop": "jvm:compiler",
		"JavaThread::run": "", "G1ParScanThreadState::trim_queue": "",
	} {
		frames := []symbol.Frame{{Func: "inlined()", Short: "inlined"}, {Func: function + "()", Short: function}}
		if got := java.Part(frames); got != want {
			t.Errorf("%s: %q", function, got)
		}
		if got := runtimes[0].Part(frames); got != "" {
			t.Errorf("%s of %s: %q", function, runtimes[0].Name, got)
		}
	}
	if (*Runtime)(nil).HasParts() || (*Runtime)(nil).Part(nil) != "" {
		t.Error("no runtime has parts")
	}
}
