package recorder

import (
	"reflect"
	"testing"

	"whatif/bpf"
	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/scope"
	"whatif/internal/ledger"
	"whatif/internal/recording"
)

// oneMethod knows the code at one place.
type oneMethod struct{ at ledger.Place }

func (oneMethod) Met(int, ledger.Place, uint64) error { return nil }

func (m oneMethod) Frames(at ledger.Place) (symbol.Origin, string, []symbol.Frame) {
	if at != m.at {
		return symbol.Origin{}, "", nil
	}
	return symbol.Origin{Path: "/usr/bin/java", Generated: true, Java: true}, "/usr/bin/java", []symbol.Frame{
		{Func: "java.util.Map.get(Object)", Short: "java.util.Map.get", File: "Map.java", Line: 3},
		{Func: "com.shop.Cart.total()", Short: "com.shop.Cart.total", File: "Cart.java", Line: 118},
	}
}

// TestMadeFrames: the frames of code that a process has made are those of its address space only, and what is inlined
// there has its own scope. What is not known is one frame without a name.
func TestMadeFrames(t *testing.T) {
	made := uint32(bpf.RecordRecordLimitRECORD_GENERATED)
	at := ledger.Place{Dev: made, Inode: 5, Offset: 0x7f0000001234}
	c := &code{
		made: oneMethod{at}, scope: &scope.Scope{},
		files: map[uint16]ledger.File{1: {Dev: made, Inode: 5}, 2: {Dev: made, Inode: 6}},
	}
	want := []recording.Frame{
		{Function: "java.util.Map.get(Object)", Short: "java.util.Map.get", File: "Map.java", Line: 3,
			Binary: "/usr/bin/java", Inlined: true},
		{Function: "com.shop.Cart.total()", Short: "com.shop.Cart.total", File: "Cart.java", Line: 118,
			Binary: "/usr/bin/java", InScope: true},
	}
	if got := c.frames(1, at.Offset, true); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for number, offset := range map[uint16]uint64{1: at.Offset + 1, 2: at.Offset, 3: at.Offset, 0: at.Offset} {
		if got := c.frames(number, offset, true); !reflect.DeepEqual(got, []recording.Frame{{}}) {
			t.Errorf("file %d, %#x: %+v", number, offset, got)
		}
	}
}
