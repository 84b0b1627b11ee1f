package flow

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
)

// behind are the offsets of the instructions behind an access.
func behind(a *Accesses) (all []uint64) {
	for i, b := range a.behind {
		if b {
			all = append(all, a.addrs[i]-0x1000)
		}
	}
	return all
}

func TestAccesses(t *testing.T) {
	for _, c := range []struct {
		code string
		want []uint64
	}{
		{"488b00 ffc9 75f9 c3", []uint64{3}},                  // a list: mov (%rax),%rax; dec; jne
		{"3b07 75fc c3", []uint64{0, 2, 4}},                   // cmp (%rdi),%eax; jne: one operation
		{"488b442408 90 c3", nil},                             // the stack
		{"488b0500000000 90 c3", nil},                         // beside the code
		{"488b45f8 90 488b4508 90", []uint64{9}},              // below a frame pointer; a field
		{"488d0401 90 0f1800 90 0f1f4000 90", nil},            // lea, prefetchnta, nop
		{"f348a5 90", []uint64{0, 3}},                         // rep movsq
		{"488903 90 c5fb1103 90 0103 90", []uint64{3, 8, 11}}, // mov, vmovsd and add to memory
		{"c5fb1004c8 90", []uint64{5}},                        // vmovsd (%rax,%rcx,8)
		{"c5fb10442408 90", nil},                              // vmovsd 8(%rsp)
		{"c4c17b100424 90", []uint64{6}},                      // vmovsd (%r12)
		{"c5fb58c1 90 c5f877 90", nil},                        // vaddsd of registers; vzeroupper
		{"62f1fd48100400 62f1fd4858c1", []uint64{7}},          // vmovupd (%rax,%rax), %zmm0; vaddpd
		{"f3 90", nil},                                        // pause
		{"c3 8b00 eb00 90", []uint64{3}},                      // nothing comes behind a jump
		{"8b", nil}, {"c5", nil}, {"62f1fd4810", nil}, {       // cut off
			"", nil},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got := behind(NewAccesses(code, 0x1000, false))
		if len(got) != len(c.want) {
			t.Errorf("%s: behind %d, want %d", c.code, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: behind %d, want %d", c.code, got, c.want)
			}
		}
	}
}

// What a sample is compared with is its innermost loop.
func TestAccessAt(t *testing.T) {
	code, err := hex.DecodeString("9090909090909090" + "488b00ffc975f9" + "9090909090909090c3")
	if err != nil {
		t.Fatal(err)
	}
	a := NewAccesses(code, 0x1000, false)
	for addr, want := range map[uint64]struct {
		behind bool
		share  float64
		ok     bool
	}{
		0x1008: {false, 1. / 3, true}, 0x100b: {true, 1. / 3, true}, 0x100d: {false, 1. / 3, true},
		0x1000: {false, 1. / 17, true}, 0x1009: {}, 0x0fff: {}, 0x2000: {},
	} {
		if is, share, ok := a.At(addr); is != want.behind || share != want.share || ok != want.ok {
			t.Errorf("%#x: %v, %v, %v, want %v", addr, is, share, ok, want)
		}
	}
}

func TestAccessesARM64(t *testing.T) {
	for _, c := range []struct {
		words []uint32
		want  []uint64
	}{
		{[]uint32{0xf9400000, 0xf1000421, 0x54ffffc1, 0xd65f03c0}, []uint64{4}}, // ldr x0, [x0]; subs; b.ne; ret
		{[]uint32{0xf94007e0, 0xd503201f}, nil},                                 // ldr x0, [sp, 8]
		{[]uint32{0x58000040, 0xd503201f}, nil},                                 // ldr x0, beside the code
		{[]uint32{0xf9800000, 0xd503201f}, nil},                                 // prfm
		{[]uint32{0x3dc00000, 0x4e61d400}, []uint64{4}},                         // ldr q0, [x0]; fadd
		{[]uint32{0xa9400400, 0x14000001, 0xd503201f}, []uint64{4}},             // ldp; b
	} {
		var code []byte
		for _, w := range c.words {
			code = binary.LittleEndian.AppendUint32(code, w)
		}
		got := behind(NewAccesses(code, 0x1000, true))
		if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%#x: behind %d, want %d", c.words, got, c.want)
		}
	}
	a := NewAccesses([]byte{0, 0, 0x40, 0xf9, 0x21, 4, 0, 0xf1, 0xc1, 0xff, 0xff, 0x54, 1}, 0x1000, true)
	if _, share, ok := a.At(0x1004); !ok || share != 1./3 {
		t.Errorf("a loop has %v, %v", share, ok)
	}
}

func FuzzAccesses(f *testing.F) {
	f.Add([]byte{0x48, 0x8b, 0, 0xff, 0xc9, 0x75, 0xf9, 0xc3}, false)
	f.Add([]byte{0x62, 0xf1, 0xfd, 0x48, 0x10, 4, 0xc4, 0xc1}, false)
	f.Add([]byte{0, 0, 0x40, 0xf9, 1, 0, 0, 0x54, 9}, true)
	f.Fuzz(func(t *testing.T, code []byte, arm64 bool) {
		a := NewAccesses(code, 1<<40, arm64)
		for i := range code {
			if _, share, _ := a.At(1<<40 + uint64(i)); share < 0 || share > 1 {
				t.Errorf("the share at %d is %v", i, share)
			}
		}
	})
}
