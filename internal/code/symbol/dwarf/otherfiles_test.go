package dwarf

import (
	"encoding/binary"
	"strings"
	"testing"
)

// mirror returns the same sections as every other file, so that references to other files lead back.
type mirror struct {
	contents
	packed           bool
	split, forgotten int
}

// contents has sections by name.
type contents func(name string) []byte

func (c contents) Section(name string, _ uint64) []byte { return c(strings.TrimSuffix(name, ".dwo")) }

func (c contents) Touch(uint64) {}

func (m *mirror) Alternate() Sections { return m.contents }

func (m *mirror) Package() Sections {
	if m.packed {
		return m.contents
	}
	return nil
}

func (m *mirror) Split(_, _ string, accept func(Sections) bool) Sections {
	m.split++
	if accept(m.contents) {
		return m.contents
	}
	return nil
}

func (m *mirror) Forget() { m.forgotten++ }

// skeleton has a unit of DWARF 5 whose entries are in the file "x", with one function. An entry of the
// alternate file names the function.
func skeleton() (info, abbrev []byte) {
	abbrev = []byte{
		1, tagSkeletonUnit, 1, attrDwoName, formString, attrLowPC, formAddr, attrHighPC, formData4, 0, 0,
		2, tagSubprogram, 0, attrLowPC, formAddr, attrHighPC, formData4, attrAbstractOrigin, formRefSup4, 0, 0,
		0,
	}
	body := []byte{5, 0, unitSkeleton, 8}
	body = binary.LittleEndian.AppendUint32(body, 0)
	body = binary.LittleEndian.AppendUint64(body, 77)
	code := func() {
		body = binary.LittleEndian.AppendUint64(body, 0x1000)
		body = binary.LittleEndian.AppendUint32(body, 0x1000)
	}
	body = append(body, 1, 'x', 0)
	code()
	at := len(body) + 4
	body = append(body, 2)
	code()
	body = binary.LittleEndian.AppendUint32(body, uint32(at))
	body = append(body, 0)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...), abbrev
}

// TestMirror reads files that refer to themselves.
func TestMirror(t *testing.T) {
	info, abbrev := skeleton()
	for _, packed := range []bool{false, true} {
		m := &mirror{packed: packed, contents: func(name string) []byte {
			return map[string][]byte{"info": info, "abbrev": abbrev, "cu_index": indexOf(77, part{0, uint64(len(info))})}[name]
		}}
		d := New(m.contents, []Range{{0, 1 << 20}}, m)
		for range 3 {
			if chain := d.Lookup(0x1800); len(chain) != 1 || chain[0].Name != "" {
				t.Errorf("%+v", chain)
			}
		}
		if want := 1; !packed && m.split != want || packed && m.split != 0 {
			t.Errorf("packed %v: asked for %d .dwo files", packed, m.split)
		}
	}
}

// indexOf returns a package's index of one unit.
func indexOf(id uint64, info part) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 5)
	for _, v := range []uint32{2, 1, 2} { // columns, units, slots
		b = le.AppendUint32(b, v)
	}
	slots := make([]byte, 24)
	at := id & 1
	le.PutUint64(slots[8*at:], id)
	le.PutUint32(slots[16+4*at:], 1)
	b = append(b, slots...)
	for _, v := range []uint32{columnInfo, columnAbbrev, uint32(info.off), 0, uint32(info.size), 100} {
		b = le.AppendUint32(b, v)
	}
	return b
}

func TestPackIndex(t *testing.T) {
	data := indexOf(77, part{5, 50})
	load := contents(func(name string) []byte {
		if name == "cu_index" {
			return data
		}
		return nil
	})
	p := newPack(newSource(load, ".dwo"))
	if p == nil {
		t.Fatal("no index")
	}
	if row := p.row(77); row != 1 {
		t.Errorf("row %d", row)
	}
	if x, ok := p.part(1, columnInfo); !ok || x != (part{5, 50}) {
		t.Errorf("%+v, %v", x, ok)
	}
	if _, ok := p.part(1, columnRnglists); ok {
		t.Error("a column that is not there")
	}
	for _, absent := range []uint64{0, 78, 79, ^uint64(0)} {
		if row := p.row(absent); row != 0 {
			t.Errorf("%d: row %d", absent, row)
		}
	}
	whole := data
	for n := range whole {
		data = whole[:n]
		if newPack(newSource(load, ".dwo")) != nil {
			t.Errorf("an index of %d of %d bytes was read", n, len(whole))
		}
	}
	for i, v := range map[int]byte{0: 3, 7: 0xff, 11: 0xff, 12: 3, 15: 0xff} { // version, counts
		data = append([]byte{}, whole...)
		data[i] = v
		if newPack(newSource(load, ".dwo")) != nil {
			t.Errorf("byte %d is %#x, and the index was read", i, v)
		}
	}
}

// FuzzPack reads an arbitrary index and units.
func FuzzPack(f *testing.F) {
	info, abbrev := skeleton()
	f.Add(indexOf(77, part{0, uint64(len(info))}), info, abbrev, []byte{})
	f.Fuzz(func(t *testing.T, index, info, abbrev, lists []byte) {
		for _, packed := range []bool{false, true} {
			m := &mirror{packed: packed, contents: func(name string) []byte {
				switch name {
				case "info":
					return info
				case "abbrev":
					return abbrev
				case "cu_index":
					return index
				}
				return lists
			}}
			d := New(m.contents, []Range{{0, 1 << 20}}, m)
			for _, pc := range []uint64{0, 0x1000, 0x1800, 1 << 19} {
				d.Lookup(pc)
			}
			d.Functions(func(Call) bool { return true })
			if m.split > len(info) {
				t.Errorf("%d .dwo files of %d bytes", m.split, len(info))
			}
		}
	})
}
