package dwarf

import (
	"bytes"
	stddwarf "debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"whatif/internal/testing/compiled"
)

// TestFlatten compares flatten with laying the spans over each other address by address.
func TestFlatten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		var spans []span
		var want [64]int32
		for i := range want {
			want[i] = -1
		}
		for i := range rng.IntN(12) {
			low := rng.Uint64N(63)
			s := span{Range{low, low + 1 + rng.Uint64N(63-low)}, int32(i % 5)}
			spans = append(spans, s)
			for a := s.Low; a < s.High; a++ {
				want[a] = s.owner
			}
		}
		o := flatten(spans)
		for a := range want {
			if got, stretch := o.find(uint64(a)); got != want[a] {
				t.Fatalf("%+v: address %d belongs to %d, not %d", spans, a, got, want[a])
			} else if got >= 0 && (uint64(a) < stretch.Low || uint64(a) >= stretch.High) {
				t.Fatalf("%+v: address %d is not in %+v", spans, a, stretch)
			}
		}
	}
}

func TestLEB(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		v := rng.Uint64() >> rng.UintN(64)
		c := at(binary.AppendUvarint(nil, v), 0, 99)
		if got := c.uleb(); got != v || c.bad || c.more() {
			t.Fatalf("%d read as %d", v, got)
		}
	}
	for _, x := range []struct {
		enc  []byte
		want int64
	}{{[]byte{2}, 2}, {[]byte{0x7e}, -2}, {[]byte{0xff, 0}, 127}, {[]byte{0x81, 0x7f}, -127}, {[]byte{0x80, 0x7f}, -128}} {
		c := at(x.enc, 0, 99)
		if got := c.sleb(); got != x.want || c.bad {
			t.Errorf("%x read as %d", x.enc, got)
		}
	}
	c := at(bytes.Repeat([]byte{0x80}, 100), 0, 100)
	if c.uleb(); !c.bad {
		t.Error("a number without an end was read")
	}
}

// lineZero has a table with a row of line 0 in its middle.
var lineZero = &lineTable{
	header: &lineHeader{files: []lineFile{{name: []byte("/a.c")}}},
	paths:  map[uint32]string{},
	rows:   []row{{0x10, 0, 5}, {0x20, 0, 0}, {0x30, 0, 7}},
	seqs:   []sequence{{Range{0x10, 0x40}, 0, 3}},
}

func TestLineZero(t *testing.T) {
	for _, c := range []struct {
		pc      uint64
		stretch Range
		exact   bool
		want    int
	}{
		{0x10, Range{0, 0x100}, false, 5},
		{0x2f, Range{0, 0x100}, false, 5},    // as before it
		{0x2f, Range{0x20, 0x100}, false, 7}, // another scope begins there: as after it
		{0x2f, Range{0x20, 0x30}, false, 0},  // nothing in that scope
		{0x2f, Range{0, 0x100}, true, 0},
		{0x3f, Range{0, 0x100}, false, 7},
	} {
		d := &Data{KeepLineZero: c.exact, stepsLeft: 100}
		if _, line := d.place(lineZero, c.pc, c.stretch); line != c.want {
			t.Errorf("%+v: line %d", c, line)
		}
	}
	if file, _ := (&Data{}).place(lineZero, 0x40, Range{0, 0x100}); file != "" {
		t.Errorf("an address after the sequence is in %s", file)
	}
}

// TestHostileLineTable reads headers with counts above their size.
func TestHostileLineTable(t *testing.T) {
	for _, count := range []uint64{0, 1, 1 << 20, 1 << 40, ^uint64(0)} {
		var h []byte
		h = append(h, 1, 1, 1, 0xfb, 14, 1) // no opcodes of its own
		h = append(h, 0)                    // directories have no fields
		h = binary.AppendUvarint(h, count)
		h = append(h, 0)
		h = binary.AppendUvarint(h, count)
		line := binary.LittleEndian.AppendUint16(nil, 5)
		line = append(line, 8, 0)
		line = binary.LittleEndian.AppendUint32(line, uint32(len(h)))
		line = append(line, h...)
		line = append(binary.LittleEndian.AppendUint32(nil, uint32(len(line))), line...)
		d := New(contents(func(name string) []byte {
			if name == "line" {
				return line
			}
			return nil
		}), nil, nil)
		d.startCall()
		if h, ok := d.lineHeader(&unit{src: d.main, version: 5, addrSize: 8}); ok && len(h.files) > len(line) {
			t.Errorf("%d files in %d bytes", len(h.files), len(line))
		}
	}
}

// TestLinesAgainstStandardLibrary compares every row of line tables with debug/dwarf.
func TestLinesAgainstStandardLibrary(t *testing.T) {
	// debug/dwarf does not make relative paths absolute.
	source := compiled.Src + "inline.c"
	for name, command := range map[string][]string{
		"go":    nil,
		"gcc":   {"gcc", "-g", "-O2", "-o", compiled.Out, source},
		"clang": {"clang", "-gdwarf-4", "-O2", "-o", compiled.Out, source},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "go" {
				compareLines(t, compiled.Go(t, "../testdata/src/goprog"))
				return
			}
			compareLines(t, compiled.Program(t, compiled.File(t, "../testdata/src/inline.c"), nil, command...))
		})
	}
}

func compareLines(t *testing.T, path string) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	std, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	text := f.Section(".text")
	sections := make(map[string][]byte) // each is decompressed once
	d := New(contents(func(name string) []byte {
		s := f.Section(".debug_" + name)
		if s == nil {
			return nil
		}
		if sections[name] == nil {
			if sections[name], err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
		return sections[name]
	}), []Range{{text.Addr, text.Addr + text.Size}}, nil)
	d.KeepLineZero = true
	most := 50_000
	if testing.Short() {
		most = 10_000
	}
	rows, r := 0, std.Reader()
	for rows < most {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		r.SkipChildren()
		lr, err := std.LineReader(e)
		if err != nil || lr == nil {
			continue
		}
		var prev, next stddwarf.LineEntry
		for lr.Next(&next) == nil {
			if !prev.EndSequence && prev.File != nil && prev.Address < next.Address {
				rows++
				chain := d.Lookup(prev.Address)
				if len(chain) == 0 || chain[0].Line != prev.Line || chain[0].File != prev.File.Name {
					t.Fatalf("%#x: %+v, not %s:%d", prev.Address, chain, prev.File.Name, prev.Line)
				}
			}
			prev = next
		}
	}
	t.Logf("%d rows agree", rows)
	if rows < 200 {
		t.Errorf("only %d rows to compare", rows)
	}
}

// FuzzLookup reads arbitrary sections.
func FuzzLookup(f *testing.F) {
	f.Add([]byte{0x10, 0, 0, 0, 5, 0, 1, 8}, []byte{1, 0x11, 1, 0, 0}, []byte{}, []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, info, abbrev, line, lists, str []byte) {
		d := New(contents(func(name string) []byte {
			switch name {
			case "info":
				return info
			case "abbrev":
				return abbrev
			case "line":
				return line
			case "rnglists", "ranges", "aranges", "addr", "str_offsets":
				return lists
			case "str", "line_str":
				return str
			}
			return nil
		}), []Range{{0, 1 << 20}}, nil)
		for _, pc := range []uint64{0, 1, 0x10, 0x1000, 1 << 19} {
			for _, c := range d.Lookup(pc) {
				if c.Line < 0 {
					t.Errorf("line %d", c.Line)
				}
			}
		}
		d.Functions(func(Call) bool { return true })
		lines, _ := d.Lines(func(string) bool { return true }, 1)
		if !slices.IsSorted(lines) {
			t.Error("lines out of order")
		}
	})
}
