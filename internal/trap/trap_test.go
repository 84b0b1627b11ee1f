package trap

import "testing"

func TestChoose(t *testing.T) {
	for _, test := range []struct {
		name string
		code []byte
		isGo bool
		want Site
	}{
		{"only ret", []byte{0xc3}, false, Site{0, true}},
		{"push first", []byte{0x55, 0x48, 0x89, 0xe5, 0xc3}, false, Site{0, false}},
		{"endbr64 then push", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}, false, Site{4, false}},
		{"push r12", []byte{0x41, 0x54, 0xc3}, false, Site{0, false}},
		{"mov then call", []byte{0x89, 0xf8, 0xe8, 0, 0, 0, 0, 0xc3}, false, Site{2, false}},
		// 0: mov; 2: push; 3: jmp 2: the push is a loop's head.
		{"loop head", []byte{0x89, 0xf8, 0x55, 0xeb, 0xfd}, false, Site{0, true}},
		// cmp rsp,[r14+16]; jbe +1; push rbp; ret.
		{"go", []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x02, 0x55, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf1}, true, Site{6, false}},
		{"go without check", []byte{0x55, 0xc3}, true, Site{0, false}},
		{"ret before push", []byte{0xc3, 0x55}, false, Site{0, true}},
		{"nothing", nil, false, Site{0, true}},
		{"not code", []byte{0x06, 0x07}, false, Site{0, true}},
	} {
		if got := Choose(test.code, test.isGo); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func FuzzChoose(f *testing.F) {
	f.Add([]byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}, false)
	f.Fuzz(func(t *testing.T, code []byte, isGo bool) {
		if s := Choose(code, isGo); s.Offset < 0 || s.Offset > len(code) {
			t.Errorf("offset %d in %d bytes", s.Offset, len(code))
		}
	})
}
