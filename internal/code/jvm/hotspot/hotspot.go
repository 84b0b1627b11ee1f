// Package hotspot reads from outside what a HotSpot VM knows of a method that it interprets: its names, its bytecodes'
// addresses, and their lines. It is pure: memory is a function.
//
// The VM says itself where in its structures that is, in tables that libjvm.so exports for debuggers, such as
// gHotSpotVMStructs. What is not in these tables is as in Java 11 to 25. Everything comes from a profiled process,
// which can have anything in its memory, so all sizes are bounded.
//
// The normal sequence: [ReadLayout] once for a VM, then [Layout.Method] for each method.
package hotspot

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Memory reads a VM's memory from an address on; an error unless all of it can be read.
type Memory func(address uint64, into []byte) error

// Layout says where in a VM's structures is what a Method has.
type Layout struct {
	memory Memory

	constMethod, constants, codeSize, name, signature, flags uint64
	constMethodSize, poolSize                                uint64
	poolHolder, klassName, symbolLength, symbolBody          uint64
	sourceFile                                               uint64
	sourceInPool                                             bool // the source file's name is in the pool of constants
	withoutZero                                              bool // no byte of a packed number is 0
}

// Method is what is known of a method. Class and Signature are in the VM's own form: com/shop/Cart and (I)J.
type Method struct {
	Class, Name, Signature, File string
	Start, Size                  uint64 // of its bytecodes
	Lines                        []Line
}

// Line is the line from a bytecode on.
type Line struct{ Bytecode, Line int }

const (
	mostEntries = 1 << 13 // of a table of the VM
	longestName = 2 << 10
	mostLines   = 1 << 16 // bytes of a packed table of lines
)

// ErrLayout is returned for VMs of which not all is known that is needed.
var ErrLayout = errors.New("this Java VM does not tell where its methods are described")

// ReadLayout reads a VM's tables. address gives the address of a variable of libjvm.so in the VM.
func ReadLayout(memory Memory, address func(symbol string) (uint64, bool)) (*Layout, error) {
	l := &Layout{memory: memory}
	fields, err := l.fields(address)
	if err != nil {
		return nil, err
	}
	sizes, err := l.sizes(address)
	if err != nil {
		return nil, err
	}
	known := true
	get := func(from map[string]entry, names ...string) uint64 {
		for _, n := range names {
			if e, ok := from[n]; ok {
				return e.offset
			}
		}
		known = false
		return 0
	}
	l.constMethod = get(fields, "Method._constMethod")
	l.constants = get(fields, "ConstMethod._constants")
	l.codeSize = get(fields, "ConstMethod._code_size")
	l.name = get(fields, "ConstMethod._name_index")
	l.signature = get(fields, "ConstMethod._signature_index")
	l.flags = get(fields, "ConstMethod._flags", "ConstMethod._flags._flags")
	l.poolHolder = get(fields, "ConstantPool._pool_holder")
	l.klassName = get(fields, "Klass._name")
	l.symbolLength = get(fields, "Symbol._length")
	l.symbolBody = get(fields, "Symbol._body", "Symbol._body[0]")
	l.constMethodSize = get(sizes, "ConstMethod")
	l.poolSize = get(sizes, "ConstantPool")
	if _, inPool := fields["ConstantPool._source_file_name_index"]; inPool {
		l.sourceInPool = true
	}
	l.sourceFile = get(fields, "ConstantPool._source_file_name_index", "InstanceKlass._source_file_name_index")
	version := fields["Abstract_VM_Version._vm_major_version"].address
	if !known || version == 0 {
		return nil, ErrLayout
	}
	major, err := l.number(version, 4)
	l.withoutZero = major >= 19
	return l, err
}

// entry is one of a table: of a field its offset, or its address if it is static; of a type its size.
type entry struct{ offset, address uint64 }

// table reads one of the VM's tables. name is that of its variable, parts are those of an entry that are needed.
func (l *Layout) table(address func(string) (uint64, bool), name, stride string, parts ...string) ([]uint64, error) {
	var values []uint64
	for _, symbol := range append([]string{name, stride}, parts...) {
		at, ok := address(symbol)
		if !ok {
			return nil, ErrLayout
		}
		value, err := l.number(at, 8)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	if size := values[1]; size == 0 || size > 256 {
		return nil, ErrLayout
	}
	for _, offset := range values[2:] {
		if offset > values[1]-4 {
			return nil, ErrLayout
		}
	}
	return values, nil
}

func (l *Layout) fields(address func(string) (uint64, bool)) (map[string]entry, error) {
	const begin = "gHotSpotVMStructEntry"
	t, err := l.table(address, "gHotSpotVMStructs", begin+"ArrayStride", begin+"TypeNameOffset", begin+"FieldNameOffset",
		begin+"OffsetOffset", begin+"AddressOffset")
	if err != nil {
		return nil, err
	}
	found := make(map[string]entry)
	return found, l.each(t[0], t[1], t[2], func(at uint64, class string) error {
		switch class {
		case "Method", "ConstMethod", "ConstantPool", "InstanceKlass", "Klass", "Symbol", "Abstract_VM_Version":
		default:
			return nil
		}
		name, err := l.stringAt(at + t[3])
		if err != nil {
			return err
		}
		offset, err := l.number(at+t[4], 8)
		if err != nil {
			return err
		}
		static, err := l.number(at+t[5], 8)
		found[class+"."+name] = entry{offset, static}
		return err
	})
}

func (l *Layout) sizes(address func(string) (uint64, bool)) (map[string]entry, error) {
	const begin = "gHotSpotVMTypeEntry"
	t, err := l.table(address, "gHotSpotVMTypes", begin+"ArrayStride", begin+"TypeNameOffset", begin+"SizeOffset")
	if err != nil {
		return nil, err
	}
	found := make(map[string]entry)
	return found, l.each(t[0], t[1], t[2], func(at uint64, class string) error {
		size, err := l.number(at+t[3], 8)
		found[class] = entry{offset: size}
		return err
	})
}

// each calls visit for each entry of a table, up to the first without a name.
func (l *Layout) each(first, stride, name uint64, visit func(at uint64, class string) error) error {
	for i := range uint64(mostEntries) {
		at := first + i*stride
		class, err := l.stringAt(at + name)
		if err != nil || class == "" {
			return err
		}
		if err := visit(at, class); err != nil {
			return err
		}
	}
	return nil
}

// number reads a number of up to 8 bytes.
func (l *Layout) number(at uint64, size int) (uint64, error) {
	var bytes [8]byte
	if err := l.memory(at, bytes[:size]); err != nil {
		return 0, fmt.Errorf("reading a Java VM's memory: %w", err)
	}
	return binary.LittleEndian.Uint64(bytes[:]), nil
}

// stringAt reads the string that a word points to; "": it points to none.
func (l *Layout) stringAt(at uint64) (string, error) {
	from, err := l.number(at, 8)
	if err != nil || from == 0 {
		return "", err
	}
	var text []byte
	for len(text) < longestName {
		piece := make([]byte, 64-from%64) // does not reach into the next page
		if err := l.memory(from, piece); err != nil {
			return "", fmt.Errorf("reading a Java VM's memory: %w", err)
		}
		for i, b := range piece {
			if b == 0 {
				return string(append(text, piece[:i]...)), nil
			}
		}
		text = append(text, piece...)
		from += uint64(len(piece))
	}
	return "", ErrLayout
}
