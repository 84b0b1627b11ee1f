package classfile

import "strconv"

const java8 = 52

// HelperMethod is the name of the method that counts at the i-th address.
func HelperMethod(i int) string { return "h" + strconv.Itoa(i) }

// TimedMethod is the name of the native method for the i-th place that is timed. It takes a long.
func TimedMethod(i int) string { return "t" + strconv.Itoa(i) }

// Binder makes a class with a native method bind, and a method run that calls it.
func Binder(name string) []byte {
	w := newWriter(1)
	this, object := w.class(name), w.class("java/lang/Object")
	code, none := w.text("Code"), w.text("()V")
	n := w.method(name, "bind", "()V")
	var methods []byte
	for _, n := range []int{accPublic | accStatic | accNative, w.text("bind"), none, 0} {
		methods = append2(methods, n)
	}
	for _, n := range []int{accPublic | accStatic, w.text("run"), none, 1, code} {
		methods = append2(methods, n)
	}
	body := []byte{opINVOKESTATIC, byte(n >> 8), byte(n), opRETURN}
	methods = append4(methods, 12+len(body))
	methods = append4(methods, 0) // neither stack nor locals
	methods = append(append4(methods, len(body)), body...)
	methods = append4(methods, 0)

	out := append2(append2(append4(nil, magic), 0), java8)
	out = append(append2(out, w.next), w.bytes...)
	for _, n := range []int{accPublic | accFinal | accSuper, this, object, 0, 0, 2} {
		out = append2(out, n)
	}
	return append2(append(out, methods...), 0)
}

// Helper makes the class that counts, for JDK 9 and later. Its method of each number adds one to the 64 bits at the
// address with this number, atomically; and there are as many native methods, which the agent provides. While the next
// 32 bits are not zero, the method that counts calls the native one, too, with the number 0. The name has to be one of
// java.lang (java/lang/X): the class uses the Unsafe of the JVM's own library, and all other classes can see it,
// whatever loaded them.
func Helper(name string, addresses []uint64) []byte {
	const (
		unsafe     = "jdk/internal/misc/Unsafe"
		field      = "U"
		descriptor = "L" + unsafe + ";"
	)
	h := &helper{writer: newWriter(1)}
	this, object := h.class(name), h.class("java/lang/Object")
	h.code, h.frames = h.text("Code"), h.text("StackMapTable")
	ref := h.pair(tagFieldref, this, h.pair(tagNameAndType, h.text(field), h.text(descriptor)))
	get := h.method(unsafe, "getUnsafe", "()"+descriptor)
	add := h.method(unsafe, "getAndAddLong", "(Ljava/lang/Object;JJ)J")
	read := h.method(unsafe, "getInt", "(Ljava/lang/Object;J)I")

	getHigh, getLow := two(get)
	refHigh, refLow := two(ref)
	h.write("<clinit>", 1, []byte{opINVOKESTATIC, getHigh, getLow, opPUTSTATIC, refHigh, refLow, opRETURN}, 0)
	addHigh, addLow := two(add)
	readHigh, readLow := two(read)
	for i, address := range addresses {
		high, low := h.long(address)
		nextHigh, nextLow := h.long(address + 8)
		timedHigh, timedLow := two(h.method(name, TimedMethod(i), "(J)V"))
		body := []byte{
			opGETSTATIC, refHigh, refLow, opACONSTNULL, opLDC2W, high, low, opLCONST1,
			opINVOKEVIRTUAL, addHigh, addLow, opPOP2,
			opGETSTATIC, refHigh, refLow, opACONSTNULL, opLDC2W, nextHigh, nextLow, opINVOKEVIRTUAL, readHigh, readLow,
			opIFEQ, 0, 7, opLCONST0, opINVOKESTATIC, timedHigh, timedLow, opRETURN,
		}
		h.write(HelperMethod(i), 5, body, len(body)-1)
		h.writeNative(TimedMethod(i))
	}

	out := append4(nil, magic)
	out = append2(append2(out, 0), java8)
	fieldName, fieldType := h.text(field), h.text(descriptor)
	out = append2(out, h.next)
	out = append(out, h.bytes...)
	for _, n := range []int{accPublic | accFinal | accSuper, this, object, 0} {
		out = append2(out, n)
	}
	for _, n := range []int{1, accStatic | accFinal, fieldName, fieldType, 0} {
		out = append2(out, n)
	}
	out = append2(out, 1+2*len(addresses))
	out = append(out, h.methods...)
	return append2(out, 0)
}

// helper is a class of which the methods are being written.
type helper struct {
	*writer
	methods      []byte
	code, frames int // the names of attributes
}

// write adds a static method without parameters. target is where it jumps to, at which it has nothing on its stack; 0:
// it does not jump.
func (h *helper) write(name string, stack int, body []byte, target int) {
	const table = 9 // bytes of the attribute for the verifier
	size := 12 + len(body)
	if target > 0 {
		size += table
	}
	for _, n := range []int{accPublic | accStatic, h.text(name), h.text("()V"), 1, h.code} {
		h.methods = append2(h.methods, n)
	}
	h.methods = append4(h.methods, size)
	h.methods = append2(append2(h.methods, stack), 0)
	h.methods = append(append4(h.methods, len(body)), body...)
	h.methods = append2(h.methods, 0) // no exceptions
	if target == 0 {
		h.methods = append2(h.methods, 0)
		return
	}
	h.methods = append2(append2(h.methods, 1), h.frames)
	h.methods = append2(append4(h.methods, table-6), 1)
	h.methods = append(h.methods, byte(target)) // same_frame
}

// writeNative adds a static native method that takes a long.
func (h *helper) writeNative(name string) {
	for _, n := range []int{accPublic | accStatic | accNative, h.text(name), h.text("(J)V"), 0} {
		h.methods = append2(h.methods, n)
	}
}

// long gives the place of a number among the constants.
func (h *helper) long(n uint64) (high, low byte) {
	return two(h.add(append4(append4([]byte{tagLong}, int(n>>32)), int(n&0xffffffff))))
}

func two(n int) (high, low byte) { return byte(n >> 8), byte(n) }
