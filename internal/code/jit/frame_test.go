package jit

import (
	"testing"

	"whatif/internal/code/unwind"
)

// TestFrameRule: the rules at each instruction of methods as HotSpot's compilers make them.
func TestFrameRule(t *testing.T) {
	const (
		check = "\x44\x8b\x56\x08\x49\x3b\xc2\x0f\x85\x55\x10\x20\xff\x90" // of the receiver's class
		bang  = "\x89\x84\x24\x00\xc0\xfe\xff"
		poll  = "\x49\x3b\xa7\x48\x03\x00\x00\x0f\x87\x20\x00\x00\x00"
	)
	type at struct {
		offset   uint64
		distance int32
		saved    bool // rbp, in the frame
	}
	for name, c := range map[string]struct {
		code string
		want []at
	}{
		"push": {check + bang + "\x55\x48\x83\xec\x20" + "\x90\x90" + "\x48\x83\xc4\x20\x5d" + poll + "\xc3",
			[]at{{0, 8, false}, {14, 8, false}, {21, 8, false}, {22, 16, true}, {26, 48, true}, {28, 48, true},
				{32, 16, true}, {33, 8, false}, {40, 8, false}, {46, 8, false}}},
		"frame pointer": {bang + "\x55\x48\x8b\xec\x48\x81\xec\x00\x01\x00\x00" + "\x90\x5d\xc3",
			[]at{{7, 8, false}, {8, 16, true}, {11, 16, true}, {18, 272, true}, {19, 16, true}, {20, 8, false}}},
		"no push": {check + "\x48\x83\xec\x18\x48\x89\x6c\x24\x10" + "\x90\x48\x83\xc4\x18\x5d\x85\x05\x01\x02\x03\x04\xc3",
			[]at{{14, 8, false}, {18, 32, false}, {23, 32, true}, {28, 16, true}, {29, 8, false}, {35, 8, false}}},
		"large": {"\x48\x81\xec\x88\x00\x00\x00\x48\x89\xac\x24\x80\x00\x00\x00" + "\x90",
			[]at{{0, 8, false}, {7, 144, false}, {15, 144, true}}},
	} {
		for _, w := range c.want {
			r, known := FrameRule([]byte(c.code), []byte(c.code)[w.offset:], w.offset)
			saved := r.FP == unwind.Saved{Where: unwind.AtCFA, Offset: -16}
			if !known || r.Kind != unwind.CFA || r.Base != unwind.SP || r.Offset != w.distance ||
				saved != w.saved || r.RA != -8 {
				t.Errorf("%s at %d: %+v, %t; want %+v", name, w.offset, r, known, w)
			}
		}
	}
	for _, code := range []string{"", "\x55", "\x55\x48", "\x55\x48\x83\xec", "\x48\x83\xec\x18\x48\x89\x6c\x24\x08",
		"\x55\x48\x83\xec\x21", "\x55\x48\x81\xec\xff\xff\xff\xff", "\x55\x48\x81\xec\x00\x00\x00\x7f",
		"\x55\x48\x81\xec\x00\x00\x10\x00", "\xc3\xc3\xc3\xc3"} {
		if r, known := FrameRule([]byte(code), nil, 100); known {
			t.Errorf("% x: %+v", code, r)
		}
	}
}

func FuzzFrameRule(f *testing.F) {
	f.Add([]byte("\x55\x48\x83\xec\x20\x90"), []byte("\x5d\xc3"), uint64(3))
	f.Fuzz(func(t *testing.T, begin, here []byte, offset uint64) {
		if r, known := FrameRule(begin, here, offset); known && (r.Offset < 8 || r.Offset > mostFrame+16) {
			t.Errorf("%+v", r)
		}
	})
}
