package classfile

import "errors"

var errPlace = errors.New("a place in it is not in the code")

// moveLines moves a LineNumberTable. A call before a line belongs to it.
func (b *body) moveLines(content []byte, m moved) ([]byte, error) {
	r := &reader{data: content}
	n := r.u2()
	out := append2(nil, n)
	for i := 0; i < n && r.err == nil; i++ {
		at, line := r.u2(), r.u2()
		if at >= len(b.code) {
			return nil, errPlace
		}
		out = append2(append2(out, m.before(at)), line)
	}
	return out, r.err
}

// moveVariables moves a table of variables, each of which is there for a part of the code.
func (b *body) moveVariables(content []byte, m moved) ([]byte, error) {
	r := &reader{data: content}
	n := r.u2()
	out := append2(nil, n)
	for i := 0; i < n && r.err == nil; i++ {
		from, size := r.u2(), r.u2()
		if from+size > len(b.code) {
			return nil, errPlace
		}
		out = append2(out, m.before(from))
		out = append2(out, m.before(from+size)-m.before(from))
		out = append(out, r.take(6)...) // name, type, number
	}
	return out, r.err
}

// Types of frames, by their first byte: up to these numbers.
const (
	frameSame      = 63
	frameOne       = 127
	frameReserved  = 246
	frameOneFar    = 247
	frameChop      = 250
	frameSameFar   = 251
	frameAppend    = 254
	typeObject     = 7
	typeNew        = 8 // a new object that has not been constructed, by the place of its new
	typesUnknownTo = 9
)

// moveFrames moves a StackMapTable: the types of variables and of the stack at each place to which a jump leads. Each
// frame says how far it is from the one before.
func (b *body) moveFrames(content []byte, m moved) ([]byte, error) {
	r := &reader{data: content}
	n := r.u2()
	out := append2(nil, n)
	at, last := -1, -1
	for i := 0; i < n && r.err == nil; i++ {
		kind := r.u1()
		step := kind
		switch {
		case kind <= frameSame:
		case kind <= frameOne:
			step = kind - frameSame - 1
		case kind <= frameReserved:
			return nil, errors.New("it has a frame of an unknown type")
		default:
			step = r.u2()
		}
		if at += step + 1; !b.isStart(at) {
			return nil, errPlace
		}
		now := m.target(at)
		out = appendFrame(out, kind, now-last-1)
		last = now
		var err error
		if out, err = b.moveTypes(out, r, kind, m); err != nil {
			return nil, err
		}
	}
	if r.at != len(content) && r.err == nil {
		return nil, errors.New("something follows its end")
	}
	return out, r.err
}

// appendFrame adds a frame's type and distance, in the form that is large enough.
func appendFrame(out []byte, kind, step int) []byte {
	switch {
	case kind <= frameSame && step <= frameSame:
		return append(out, byte(step))
	case kind <= frameSame:
		kind = frameSameFar
	case kind <= frameOne && step <= frameSame:
		return append(out, byte(frameSame+1+step))
	case kind <= frameOne:
		kind = frameOneFar
	}
	return append2(append(out, byte(kind)), step)
}

// moveTypes adds the types of a frame.
func (b *body) moveTypes(out []byte, r *reader, kind int, m moved) ([]byte, error) {
	types := func(n int) error {
		for i := 0; i < n && r.err == nil; i++ {
			tag := r.u1()
			out = append(out, byte(tag))
			switch {
			case tag >= typesUnknownTo:
				return errors.New("it has an unknown type")
			case tag == typeObject:
				out = append2(out, r.u2())
			case tag == typeNew:
				at := r.u2()
				if !b.isStart(at) || b.code[at] != opNEW {
					return errPlace
				}
				out = append2(out, m.instruction(at))
			}
		}
		return nil
	}
	counted := func() error {
		n := r.u2()
		out = append2(out, n)
		return types(n)
	}
	switch {
	case kind > frameSame && kind <= frameOne, kind == frameOneFar:
		err := types(1)
		return out, err
	case kind > frameSameFar && kind <= frameAppend:
		err := types(kind - frameSameFar)
		return out, err
	case kind > frameAppend:
		err := counted()
		if err == nil {
			err = counted()
		}
		return out, err
	}
	return out, nil
}
