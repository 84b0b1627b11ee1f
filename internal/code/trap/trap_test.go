package trap

import "testing"

func TestChoose(t *testing.T) {
	for _, test := range []struct {
		name string
		code []byte
		isGo bool
		want Site
	}{
		{"only ret", []byte{0xc3}, false, Site{Offset: 0, Stepped: true}},
		{"push first", []byte{0x55, 0x48, 0x89, 0xe5, 0xc3}, false, Site{Offset: 0, Stepped: false}},
		{"endbr64 then push", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}, false, Site{Offset: 4, Stepped: false}},
		{"push r12", []byte{0x41, 0x54, 0xc3}, false, Site{Offset: 0, Stepped: false}},
		{"mov then call", []byte{0x89, 0xf8, 0xe8, 0, 0, 0, 0, 0xc3}, false, Site{Offset: 2, Stepped: false}},
		// 0: mov; 2: push; 3: jmp 2: the push is a loop's head.
		{"loop head", []byte{0x89, 0xf8, 0x55, 0xeb, 0xfd}, false, Site{Offset: 0, Stepped: true}},
		// cmp rsp,[r14+16]; jbe +1; push rbp; ret.
		{"go", []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x02, 0x55, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf1},
			true, Site{Offset: 6, Stepped: false}},
		// mov eax,edi; ret behind the check: not on the check, which can run twice.
		{"go, nothing cheap", []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x03, 0x89, 0xf8, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xf0},
			true, Site{Offset: 6, Stepped: true}},
		// The same; push rbp; test eax,eax; je: to a call that ends the program, in front of the one for more stack.
		{"go, then another condition", []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x0b, 0x55, 0x85, 0xc0, 0x74, 0x01, 0xc3,
			0xe8, 0, 0, 0, 0, 0xe8, 0, 0, 0, 0, 0xeb, 0xe8}, true, Site{Offset: 6, Stepped: false}},
		// test eax,eax; je +1; push; ret: the jump is no check.
		{"go, a jump of its own", []byte{0x85, 0xc0, 0x74, 0x01, 0x50, 0xc3}, true, Site{Offset: 2, Stepped: false}},
		{"long nop", []byte{0x0f, 0x1f, 0x40, 0, 0xc3}, false, Site{Stepped: true, LongNop: true}},
		{"nops of five bytes", []byte{0x0f, 0x1f, 0x44, 0, 0, 0x0f, 0x1f, 0x44, 0, 0, 0xc3}, false,
			Site{Offset: 10, Stepped: true}},
		{"nop of five bytes, then push", []byte{0x0f, 0x1f, 0x44, 0, 0, 0x55, 0xc3}, false, Site{Offset: 5}},
		{"go without check", []byte{0x55, 0xc3}, true, Site{Offset: 0, Stepped: false}},
		{"ret before push", []byte{0xc3, 0x55}, false, Site{Offset: 0, Stepped: true}},
		// lock add [rip+0],1; ret.
		{"atomic counter", []byte{0xf0, 0x48, 0x83, 0x05, 0, 0, 0, 0, 1, 0xc3}, false, Site{Offset: 9, Stepped: true}},
		{"atomic counter, then a call", []byte{0xf0, 0x48, 0x83, 0x05, 0, 0, 0, 0, 1, 0xe8, 0, 0, 0, 0, 0xc3},
			false, Site{Offset: 9}},
		// mov eax,1; lock xadd [rip+0],eax; ret.
		{"atomic counter, read", []byte{0xb8, 1, 0, 0, 0, 0xf0, 0x0f, 0xc1, 0x05, 0, 0, 0, 0, 0xc3},
			false, Site{Offset: 0, Stepped: true}},
		{"nothing", nil, false, Site{Offset: 0, Stepped: true}},
		{"not code", []byte{0x06, 0x07}, false, Site{Offset: 0, Stepped: true}},
	} {
		if got := Choose(test.code, test.isGo); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestFirst(t *testing.T) {
	check := []byte{0x49, 0x3b, 0x66, 0x10, 0x76, 0x04, 0x89, 0xf8, 0x55, 0xc3, 0xe8, 0, 0, 0, 0, 0xeb, 0xef}
	for _, test := range []struct {
		name string
		code []byte
		isGo bool
		want Site
	}{
		{"go", check, true, Site{Offset: 6, Stepped: true}}, // not at the push behind it
		{"the same in C", check, false, Site{Stepped: true}},
		{"endbr64 then push", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}, false, Site{Stepped: true}},
		{"nothing", nil, true, Site{Stepped: true}},
	} {
		if got := First(test.code, test.isGo); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

func TestEntry(t *testing.T) {
	for _, test := range []struct {
		name string
		code []byte
		want Site
	}{
		{"push", []byte{0x55, 0xc3}, Site{}},
		{"endbr64 then push", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0xc3}, Site{Offset: 4}},
		// The sub changes the stack before the push.
		{"sub then push", []byte{0x48, 0x83, 0xec, 0x08, 0x55}, Site{Stepped: true}},
		{"endbr64 then mov", []byte{0xf3, 0x0f, 0x1e, 0xfa, 0x89, 0xf8}, Site{Stepped: true}},
		{"nothing", nil, Site{Stepped: true}},
	} {
		if got := Entry(test.code); got != test.want {
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
