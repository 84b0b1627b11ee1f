package dwarf

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/hostile"
)

// hole returns memory like a mapped sparse file: reading it takes no memory. The tables are written into its
// beginning.
func hole(t *testing.T, size int, data []byte) []byte {
	t.Helper()
	m, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	copy(m, data)
	return m
}

// oneUnit has a unit of DWARF 5 with code from 0 to 0x10000 and a line table at 0.
func oneUnit() (info, abbrev []byte) {
	abbrev = []byte{1, tagCompileUnit, 0, attrStmtList, formSecOffset, attrLowPC, formAddr, attrHighPC, formData4, 0, 0, 0}
	body := []byte{5, 0, 1, 8, 0, 0, 0, 0, 1, 0, 0, 0, 0}
	body = binary.LittleEndian.AppendUint64(body, 0)
	body = binary.LittleEndian.AppendUint32(body, 0x10000)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body...), abbrev
}

// lookUp calls all methods that read sections, on the given ones.
func lookUp(sections map[string][]byte) {
	d := New(contents(func(name string) []byte { return sections[name] }), []Range{{0, 1 << 20}}, nil)
	for _, pc := range []uint64{0, 0x10, 0x1000, 1 << 19} {
		d.Lookup(pc)
	}
	d.Lines(func(string) bool { return true }, 1)
	d.Statements(func(string) bool { return true }, 1)
}

// header64 returns the header of a line table of DWARF 5 in the 64-bit format, of a size, and then tables.
func header64(size uint64, tables []byte) []byte {
	h := []byte{0xff, 0xff, 0xff, 0xff}
	h = binary.LittleEndian.AppendUint64(h, size-12)
	h = append(h, 5, 0, 8, 0)
	h = binary.LittleEndian.AppendUint64(h, size-12-12)
	h = append(h, 1, 1, 1, 0xfb, 14, 1)
	return append(h, tables...)
}

// TestEntriesOfNothing reads a table that states a gigabyte of files, which take no bytes.
func TestEntriesOfNothing(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		const size = 1 << 30
		info, abbrev := oneUnit()
		for _, tables := range [][]byte{
			binary.AppendUvarint([]byte{0}, size-1000),                                // no formats
			binary.AppendUvarint([]byte{1, lnctPath, formFlagPresent}, size-1000),     // one that takes no bytes
			binary.AppendUvarint([]byte{1, lnctDirectoryIndex, formData1}, size-1000), // and one that does
		} {
			lookUp(map[string][]byte{"info": info, "abbrev": abbrev, "line": hole(t, size, header64(size, tables))})
		}
	})
}

// TestDirectories reads a table of DWARF 4 with a directory in every two bytes.
func TestDirectories(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		const size = 96 << 20
		info, abbrev := oneUnit()
		h := binary.LittleEndian.AppendUint32(nil, size-4)
		h = append(h, 4, 0)
		h = binary.LittleEndian.AppendUint32(h, size-4-6)
		h = append(h, 1, 1, 1, 0xfb, 14, 1)
		line := hole(t, size, h)
		for at := len(h); at+1 < size; at += 2 {
			line[at] = 'a'
		}
		lookUp(map[string][]byte{"info": info, "abbrev": abbrev, "line": line})
	})
}

// TestManyRows reads a line table with a row in every byte.
func TestManyRows(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		const size = 64 << 20
		info, abbrev := oneUnit()
		line := header64(size, []byte{0, 0, 0, 0})
		binary.LittleEndian.PutUint64(line[16:], uint64(len(line)-24))
		rows := hole(t, size, line)
		for at := len(line); at < size; at++ {
			rows[at] = 0x15 // the next line, a byte further on
		}
		lookUp(map[string][]byte{"info": info, "abbrev": abbrev, "line": rows})
	})
}

// TestLineZeroWork checks that the search for a line around code without one is counted as work.
func TestLineZeroWork(t *testing.T) {
	const rows, steps = 1 << 20, 1000
	table := &lineTable{header: &lineHeader{}, paths: map[uint32]string{}, rows: make([]row, rows)}
	for i := range table.rows {
		table.rows[i] = row{addr: uint64(i), file: uint32(i % 2)}
	}
	table.seqs = []sequence{{Range{0, rows}, 0, rows}}
	d := &Data{stepsLeft: steps}
	d.place(table, rows/2, Range{0, rows})
	if d.stepsLeft >= 0 {
		t.Errorf("%d of %d steps are left", d.stepsLeft, steps)
	}
}

// TestLongPaths searches for a file in a unit with many files that have the same long path.
func TestLongPaths(t *testing.T) {
	hostile.Limited(t, 20*time.Second, func(t *testing.T) {
		const files = 1 << 20
		info, abbrev := oneUnit()
		name := append(bytes.Repeat([]byte("a/"), maxPath/2-1), 0)
		table := append([]byte{0}, 1, lnctPath, formLineStrp)
		table = binary.AppendUvarint(table, files)
		table = append(table, make([]byte, 4*files)...)
		table = append([]byte{1, lnctPath, formLineStrp, 1, 0, 0, 0, 0}, table[1:]...)
		line := header64(uint64(42+len(table)), table)
		binary.LittleEndian.PutUint64(line[4:], uint64(len(line)-12))
		binary.LittleEndian.PutUint64(line[16:], uint64(len(line)-24))
		lookUp(map[string][]byte{"info": info, "abbrev": abbrev, "line": line, "line_str": name})
	})
}

// TestManySpans reads .debug_aranges full of ranges.
func TestManySpans(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		const size = 96 << 20
		info, abbrev := oneUnit()
		set := binary.LittleEndian.AppendUint32(nil, size-4)
		set = append(set, 2, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0)
		spans := hole(t, size, set)
		for at := len(set); at+8 <= size; at += 8 {
			binary.LittleEndian.PutUint32(spans[at:], uint32(at)&0xffff0)
			spans[at+4] = 2
		}
		lookUp(map[string][]byte{"info": info, "abbrev": abbrev, "aranges": spans})
	})
}

// TestManyUnits reads a hole, of which each four bytes are a unit of an unknown version, and units with only
// a header.
func TestManyUnits(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		_, abbrev := oneUnit()
		lookUp(map[string][]byte{"info": hole(t, 4<<30, nil), "abbrev": abbrev})
		unit := []byte{8, 0, 0, 0, 5, 0, 1, 8, 0, 0, 0, 0}
		lookUp(map[string][]byte{"info": bytes.Repeat(unit, 64<<20/len(unit)), "abbrev": abbrev})
	})
}

// TestManyAttributes reads an abbreviation without an end.
func TestManyAttributes(t *testing.T) {
	hostile.Limited(t, time.Minute, func(t *testing.T) {
		info, _ := oneUnit()
		abbrev := append([]byte{1, tagCompileUnit, 0}, bytes.Repeat([]byte{3, formFlagPresent}, 32<<20)...)
		lookUp(map[string][]byte{"info": info, "abbrev": abbrev})
	})
}

// TestWork checks that all calls together are bounded on a file of which each place costs a reading of the
// whole.
func TestWork(t *testing.T) {
	hostile.Limited(t, 2*time.Minute, func(t *testing.T) {
		// All units have the same long line table, each one byte further on.
		const size = 8 << 20
		units := 4000
		if testing.Short() {
			units = 1500
		}
		var info []byte
		var aranges []byte
		abbrev := []byte{1, tagCompileUnit, 0, attrStmtList, formSecOffset, 0, 0, 0}
		for i := range uint32(units) {
			set := binary.LittleEndian.AppendUint32([]byte{2, 0}, uint32(len(info)))
			set = append(set, 4, 0, 0, 0, 0, 0)
			set = binary.LittleEndian.AppendUint32(set, i*16)
			set = binary.LittleEndian.AppendUint32(set, 16)
			aranges = append(binary.LittleEndian.AppendUint32(aranges, uint32(len(set))), set...)
			body := append([]byte{5, 0, 1, 8, 0, 0, 0, 0, 1}, binary.LittleEndian.AppendUint32(nil, 64*i)...)
			info = append(binary.LittleEndian.AppendUint32(info, uint32(len(body))), body...)
		}
		// At each begin: a right length, version 4, a header without tables.
		line := make([]byte, 0, size+64*units)
		for range units {
			at := len(line)
			line = binary.LittleEndian.AppendUint32(line, uint32(size))
			line = append(line, 4, 0, 8, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1, 0, 0)
			// Advance the line, so that no row is kept.
			for len(line) < at+64 {
				line = append(line, lnsAdvanceLine, 0)
			}
		}
		line = append(line, bytes.Repeat([]byte{lnsNegateStmt}, size)...)
		sections := map[string][]byte{"info": info, "abbrev": abbrev, "line": line, "aranges": aranges}
		d := New(contents(func(name string) []byte { return sections[name] }), []Range{{1, 1 << 20}}, nil)
		work := 0
		for i := range uint64(units) {
			d.Lookup(i*16 + 8)
			work += d.stepsGiven - max(d.stepsLeft, 0)
		}
		whole := minWork + d.main.work()
		if most := (maxReadings+1)*whole + units*callShare; work > most || !d.GaveUp() {
			t.Errorf("%d steps, more than %d for %d bytes; gave up: %v", work, most, whole, d.GaveUp())
		}
		t.Logf("%d steps", work)
	})
}
