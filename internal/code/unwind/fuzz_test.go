package unwind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// check checks what Rows promises for any file: rows in order, the first at low, in bounded time.
func check(t *testing.T, table *Table, low, high uint64) {
	t.Helper()
	start := time.Now()
	rows, _ := table.Rows(low, high)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("rows from %#x to %#x took %v", low, high, took)
	}
	if low >= high {
		return
	}
	if len(rows) == 0 || rows[0].Address != low || uint64(len(rows)) > high-low {
		t.Fatalf("%d rows from %#x to %#x: %+v", len(rows), low, high, rows)
	}
	for i := 1; i < len(rows); i++ {
		if rows[i].Address <= rows[i-1].Address || rows[i].Address >= high {
			t.Fatalf("rows from %#x to %#x: row %d at %#x, after one at %#x",
				low, high, i, rows[i].Address, rows[i-1].Address)
		}
	}
}

// FuzzEHFrame reads arbitrary .eh_frame and .debug_frame sections, with and without a
// search table.
func FuzzEHFrame(f *testing.F) {
	for _, path := range []string{
		"/lib/x86_64-linux-gnu/libz.so.1", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libm.so.6",
	} {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		table, file := open(f, path)
		eh, header := file.Section(".eh_frame"), file.Section(".eh_frame_hdr")
		data := table.contents(eh)
		data = data[:min(len(data), 3000)]
		f.Add(data, table.contents(header)[:512], eh.Addr, header.Addr, file.Section(".text").Addr)
	}
	for _, program := range handMade {
		f.Add(frame(program.cie, program.fde), []byte(nil), uint64(0), uint64(0), uint64(0x1000))
	}
	f.Fuzz(func(t *testing.T, data, header []byte, ehAddress, headerAddress, low uint64) {
		if low > 1<<62 {
			low >>= 2
		}
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			for _, debug := range []bool{false, true} {
				s := &section{data: data, address: ehAddress, debug: debug}
				table := &Table{arch: arches[machine], isGo: debug, file: &elf.File{}, read: true}
				if eh, x, err := readHeader(header, headerAddress); err == nil && x != nil && !debug {
					s.address = eh
					table.sources = append(table.sources, source{s, x})
				}
				if l, err := s.list(); err == nil {
					table.sources = append(table.sources, source{s, l})
				}
				check(t, table, low, low+4096)
				check(t, table, low&^4095, low&^4095+4096)
				for _, src := range table.sources {
					if src.index.len() > 0 {
						if begin, _ := src.index.at(0); begin < 1<<62 {
							check(t, table, begin, begin+4096)
						}
					}
				}
			}
		}
	})
}

// FuzzFile reads damaged ELF files: the input says where in a real file bytes are replaced.
func FuzzFile(f *testing.F) {
	var images [][]byte
	for _, path := range []string{"/lib/x86_64-linux-gnu/libz.so.1", "/lib64/ld-linux-x86-64.so.2"} {
		if image, err := os.ReadFile(path); err == nil {
			images = append(images, image)
		}
	}
	goProgram, err := os.Executable()
	if image, readErr := os.ReadFile(filepath.Clean(goProgram)); err == nil && readErr == nil && len(image) < 8<<20 {
		images = append(images, image)
	}
	if len(images) == 0 {
		f.Skip("no files to damage")
	}
	for i := range images {
		f.Add(uint8(i), uint32(64), []byte{0xff, 0xff})
		f.Add(uint8(i), uint32(0x200), []byte{1, 2, 3, 4, 5, 6, 7, 8})
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint32, damage []byte) {
		image := bytes.Clone(images[int(which)%len(images)])
		copy(image[int(at)%len(image):], damage)
		file, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			return
		}
		table, err := New(file, image, which&1 == 1, nil)
		if err != nil {
			return
		}
		for _, p := range file.Progs {
			if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Vaddr < 1<<62 {
				check(t, table, p.Vaddr, p.Vaddr+4096)
				check(t, table, p.Vaddr+p.Filesz/2&0xffffff, p.Vaddr+p.Filesz/2&0xffffff+4096)
			}
		}
	})
}

// frame makes a section of a CIE and an FDE for 0x1000 to 0x2000 with absolute
// addresses.
func frame(cie, fde []byte) []byte {
	entry := func(out, body []byte) []byte {
		for len(body)%4 != 0 {
			body = append(body, cfaNop)
		}
		return append(binary.LittleEndian.AppendUint32(out, uint32(len(body))), body...)
	}
	out := entry(nil, append([]byte{0, 0, 0, 0, 1, 0, 1, 0x78, 16}, cie...)) // alignments 1 and -8
	body := binary.LittleEndian.AppendUint32(nil, uint32(len(out)+4))
	body = binary.LittleEndian.AppendUint64(body, 0x1000)
	body = binary.LittleEndian.AppendUint64(body, 0x1000)
	out = entry(out, append(body, fde...))
	return append(out, 0, 0, 0, 0)
}
