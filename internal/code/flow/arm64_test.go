package flow

import (
	"encoding/binary"
	"slices"
	"testing"
)

func TestReturnsARM64(t *testing.T) {
	const ret, retX1, nop = 0xd65f03c0, 0xd65f0020, 0xd503201f
	var code []byte
	for _, i := range []uint32{nop, ret, retX1, nop, ret} {
		code = binary.LittleEndian.AppendUint32(code, i)
	}
	code = append(code, 0xc0, 0x03) // cut off
	if got, want := ReturnsARM64(0x1000, code), []uint64{0x1004, 0x1010}; !slices.Equal(got, want) {
		t.Errorf("%#x, want %#x", got, want)
	}
}
