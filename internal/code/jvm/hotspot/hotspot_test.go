package hotspot

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"
)

// fakeVM is memory in which a VM describes a method.
type fakeVM struct {
	bytes     []byte
	variables map[string]uint64
}

const base = 0x10000

func (f *fakeVM) read(address uint64, into []byte) error {
	if address < base || address-base > uint64(len(f.bytes)) || uint64(len(f.bytes))-(address-base) < uint64(len(into)) {
		return errors.New("not mapped")
	}
	copy(into, f.bytes[address-base:])
	return nil
}

func (f *fakeVM) address(name string) (uint64, bool) {
	a, ok := f.variables[name]
	return a, ok
}

// put appends bytes, and gives their address.
func (f *fakeVM) put(bytes ...byte) uint64 {
	for len(f.bytes)%8 != 0 {
		f.bytes = append(f.bytes, 0)
	}
	at := base + uint64(len(f.bytes))
	f.bytes = append(f.bytes, bytes...)
	return at
}

func (f *fakeVM) word(value uint64) uint64 {
	return f.put(binary.LittleEndian.AppendUint64(nil, value)...)
}

func (f *fakeVM) set(at, value uint64, size int) {
	for i := range size {
		f.bytes[at-base+uint64(i)] = byte(value >> (8 * i))
	}
}

func (f *fakeVM) text(s string) uint64 { return f.put(append([]byte(s), 0)...) }

// symbol is a text as the VM keeps it: its length at 4, and itself at 6.
func (f *fakeVM) symbol(s string) uint64 {
	at := f.put(append(make([]byte, 6), s...)...)
	f.set(at+4, uint64(len(s)), 2)
	return at
}

// newFakeVM has the structures of Java 17, or of 25.
func newFakeVM(t *testing.T, major uint64, leaveOut string) *fakeVM {
	t.Helper()
	f := &fakeVM{variables: make(map[string]uint64)}
	f.put(make([]byte, 8)...)
	for name, value := range map[string]uint64{"TypeName": 0, "FieldName": 8, "Offset": 32, "Address": 40} {
		f.variables["gHotSpotVMStructEntry"+name+"Offset"] = f.word(value)
	}
	f.variables["gHotSpotVMStructEntryArrayStride"] = f.word(48)
	for name, value := range map[string]uint64{"ArrayStride": 16, "TypeNameOffset": 0, "SizeOffset": 8} {
		f.variables["gHotSpotVMTypeEntry"+name] = f.word(value)
	}
	flags, later := "_flags", uint64(0)
	if major > 17 {
		flags, later = "_flags._flags", 2
	}
	var structs []uint64
	add := func(class, field string, offset, address uint64) {
		if class+"."+field != leaveOut {
			structs = append(structs, f.text(class), f.text(field), 0, 0, offset, address)
		}
	}
	add("Method", "_constMethod", 8, 0)
	add("ConstMethod", "_constants", 8, 0)
	add("ConstMethod", flags, 28, 0)
	add("ConstMethod", "_code_size", 32+later, 0)
	add("ConstMethod", "_name_index", 34+later, 0)
	add("ConstMethod", "_signature_index", 36+later, 0)
	add("ConstantPool", "_pool_holder", 24, 0)
	add("ConstantPool", "_source_file_name_index", 54, 0)
	add("Klass", "_name", 24, 0)
	add("Symbol", "_length", 4, 0)
	add("Symbol", "_body", 6, 0)
	add("Abstract_VM_Version", "_vm_major_version", 0, f.word(major))
	types := []uint64{f.text("Thread"), 900, f.text("ConstMethod"), 48, f.text("ConstantPool"), 72}
	f.variables["gHotSpotVMStructs"] = f.word(f.table(append(structs, 0, 0, 0, 0, 0, 0)))
	f.variables["gHotSpotVMTypes"] = f.word(f.table(append(types, 0, 0)))
	return f
}

func (f *fakeVM) table(words []uint64) uint64 {
	var bytes []byte
	for _, w := range words {
		bytes = binary.LittleEndian.AppendUint64(bytes, w)
	}
	return f.put(bytes...)
}

// method describes a method with eleven bytecodes and packed lines.
func (f *fakeVM) method(later uint64, lines []byte) (method, bytecodes uint64) {
	pool := f.put(make([]byte, 72+8*4)...)
	class := f.put(make([]byte, 32)...)
	f.set(class+24, f.symbol("com/shop/Cart"), 8)
	f.set(pool+24, class, 8)
	f.set(pool+54, 3, 2)
	for i, s := range []string{"total", "(I)J", "Cart.java"} {
		f.set(pool+72+8*uint64(i+1), f.symbol(s), 8)
	}
	constant := f.put(append(make([]byte, 48+11), lines...)...)
	f.put(make([]byte, 512)...) // what follows is mapped
	f.set(constant+8, pool, 8)
	f.set(constant+28, 1, 2)
	f.set(constant+32+later, 11, 2)
	f.set(constant+34+later, 1, 2)
	f.set(constant+36+later, 2, 2)
	method = f.put(make([]byte, 88)...)
	f.set(method+8, constant, 8)
	return method, constant + 48
}

func TestMethod(t *testing.T) {
	for _, c := range []struct {
		major, later uint64
		lines        []byte
	}{
		// 0: 7; 4: 8; 6: 300, as 2 and 292; 9: 7, as 3 and -293
		{17, 0, []byte{7, 4<<3 | 1, 0xff, 4, 200, 6, 0xff, 6, 201, 6, 0}},
		{25, 2, []byte{7, 4<<3 | 1, 0xff, 5, 201, 7, 0xff, 7, 202, 7, 0}},
	} {
		f := newFakeVM(t, c.major, "")
		method, bytecodes := f.method(c.later, c.lines)
		l, err := ReadLayout(f.read, f.address)
		if err != nil {
			t.Fatal(err)
		}
		want := &Method{Class: "com/shop/Cart", Name: "total", Signature: "(I)J", File: "Cart.java", Start: bytecodes,
			Size: 11, Lines: []Line{{0, 7}, {4, 8}, {6, 300}, {9, 7}}}
		if got, err := l.Method(method, bytecodes+10); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Java %d: %+v, %v", c.major, got, err)
		}
		for _, other := range []uint64{0, bytecodes - 1, bytecodes + 11} {
			if _, err := l.Method(method, other); !errors.Is(err, ErrNoMethod) {
				t.Errorf("Java %d: bytecode %#x: %v", c.major, other, err)
			}
		}
		for _, other := range []uint64{0, 1, bytecodes, ^uint64(0)} {
			if _, err := l.Method(other, bytecodes); !errors.Is(err, ErrNoMethod) {
				t.Errorf("Java %d: method %#x: %v", c.major, other, err)
			}
		}
	}
}

// TestLayoutMissing: what is not there is said.
func TestLayoutMissing(t *testing.T) {
	for _, field := range []string{"Method._constMethod", "Symbol._body", "Abstract_VM_Version._vm_major_version"} {
		f := newFakeVM(t, 17, field)
		if _, err := ReadLayout(f.read, f.address); !errors.Is(err, ErrLayout) {
			t.Errorf("without %s: %v", field, err)
		}
	}
	f := newFakeVM(t, 17, "")
	delete(f.variables, "gHotSpotVMTypes")
	if _, err := ReadLayout(f.read, f.address); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
	f.set(f.variables["gHotSpotVMStructEntryArrayStride"], 0, 8)
	if _, err := ReadLayout(f.read, f.address); !errors.Is(err, ErrLayout) {
		t.Error(err)
	}
}

// FuzzMethod: whatever is in a process's memory, reading it ends, and what comes of it is bounded.
func FuzzMethod(f *testing.F) {
	f.Add(uint16(3), byte(0xff), uint16(700), byte(1))
	f.Fuzz(func(t *testing.T, at uint16, value byte, at2 uint16, value2 byte) {
		vm := newFakeVM(t, 25, "")
		method, bytecodes := vm.method(2, []byte{7, 0xff, 5, 201, 7, 0})
		vm.bytes[int(at)%len(vm.bytes)] = value
		vm.bytes[int(at2)%len(vm.bytes)] = value2
		l, err := ReadLayout(vm.read, vm.address)
		if err != nil {
			return
		}
		m, err := l.Method(method, bytecodes)
		if err == nil && (len(m.Class) > 3*longestName || len(m.Lines) > mostLines) {
			t.Errorf("%d bytes, %d lines", len(m.Class), len(m.Lines))
		}
	})
}
