package classfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A key tells which end of something belongs to which begin, by an argument of a method. Of numbers it is the value.
// Of texts, ids and boxed numbers it is the hash code of the value, as there may be several objects with the same
// value; of all other objects it is the identity hash code, which no code of the program makes.

// valued are classes whose hash code is that of a value, and cannot be overridden.
var valued = []string{"java/lang/String", "java/lang/Long", "java/lang/Integer", "java/util/UUID"}

// Errors of arguments that are no keys.
var (
	ErrNoArgument = errors.New("it has no such argument")
	errNoKey      = errors.New("an argument with a floating point number is no key")
	errUnmade     = errors.New("a constructor's object is no key, as it is not made yet")
	errNotEntry   = errors.New("arguments are known only where a method begins")
	errDescriptor = errors.New("its descriptor is wrong")
)

// call gives the code of a call in a method.
func (m *Method) call(c Call, w *writer) ([]byte, error) {
	if !c.Long {
		return invoke(nil, w.method(c.Class, c.Name, "()V")), nil
	}
	code := []byte{opLCONST0}
	if c.Argument > 0 {
		if !c.once {
			return nil, errNotEntry
		}
		var err error
		if code, err = m.key(c.Argument, w); err != nil {
			return nil, fmt.Errorf("argument %d: %w", c.Argument, err)
		}
	}
	return invoke(code, w.method(c.Class, c.Name, "(J)V")), nil
}

// invoke adds a call of a static method, and fills it up.
func invoke(code []byte, method int) []byte {
	code = append(code, opINVOKESTATIC, byte(method>>8), byte(method))
	for len(code)%callSize != 0 {
		code = append(code, opNOP)
	}
	return code
}

// key gives the code that puts the key in an argument onto the stack, as a long. The arguments of a method that is not
// static begin with its object.
func (m *Method) key(argument int, w *writer) ([]byte, error) {
	slot, kind, err := m.argument(argument)
	if err != nil {
		return nil, err
	}
	switch kind[0] {
	case 'J':
		return load(opLLOAD, slot), nil
	case 'F', 'D':
		return nil, errNoKey
	case 'L', '[':
		class, name := "java/lang/System", "identityHashCode"
		if slices.Contains(valued, strings.TrimSuffix(kind[1:], ";")) {
			class, name = "java/util/Objects", "hashCode"
		}
		n := w.method(class, name, "(Ljava/lang/Object;)I")
		return append(load(opALOAD, slot), opINVOKESTATIC, byte(n>>8), byte(n), opI2L), nil
	}
	return append(load(opILOAD, slot), opI2L), nil
}

func load(op byte, slot int) []byte {
	if slot < 256 {
		return []byte{op, byte(slot)}
	}
	return []byte{opWIDE, op, byte(slot >> 8), byte(slot)}
}

// argument gives the local variable that has an argument, and the argument's type.
func (m *Method) argument(number int) (slot int, kind string, err error) {
	if !m.Static {
		if number == 1 && m.Name == "<init>" {
			return 0, "", errUnmade
		}
		if number == 1 {
			return 0, "Ljava/lang/Object;", nil
		}
		slot, number = 1, number-1
	}
	rest, ok := strings.CutPrefix(m.Descriptor, "(")
	for ok && rest != "" && rest[0] != ')' {
		n := typeSize(rest)
		if n == 0 {
			break
		}
		kind, rest = rest[:n], rest[n:]
		if number--; number == 0 {
			return slot, kind, nil
		}
		if slot++; kind == "J" || kind == "D" {
			slot++
		}
	}
	if !ok || rest == "" || rest[0] != ')' {
		return 0, "", errDescriptor
	}
	return 0, "", ErrNoArgument
}

// typeSize is the length of the first type in a descriptor; 0: it is wrong.
func typeSize(s string) int {
	n := 0
	for n < len(s) && s[n] == '[' {
		n++
	}
	if n < len(s) && s[n] == 'L' {
		if end := strings.IndexByte(s[n:], ';'); end > 0 {
			return n + end + 1
		}
		return 0
	}
	if n == len(s) || strings.IndexByte("BCDFIJSZ", s[n]) < 0 {
		return 0
	}
	return n + 1
}
