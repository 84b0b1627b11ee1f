package classfile

import "strconv"

// HelperMethod is the name of the method that counts at the i-th address.
func HelperMethod(i int) string { return "h" + strconv.Itoa(i) }

// Helper makes the class that counts, for JDK 9 and later. Its method of each number adds one to the 64 bits at the
// address with this number, atomically. The name has to be one of java.lang (java/lang/X): the class uses the Unsafe of
// the JVM's own library, and all other classes can see it, whatever loaded them.
func Helper(name string, addresses []uint64) []byte {
	const (
		unsafe     = "jdk/internal/misc/Unsafe"
		field      = "U"
		descriptor = "L" + unsafe + ";"
		java8      = 52
	)
	w := newWriter(1)
	this, object := w.class(name), w.class("java/lang/Object")
	code := w.text("Code")
	ref := w.pair(tagFieldref, this, w.pair(tagNameAndType, w.text(field), w.text(descriptor)))
	get := w.method(unsafe, "getUnsafe", "()"+descriptor)
	add := w.method(unsafe, "getAndAddLong", "(Ljava/lang/Object;JJ)J")

	var methods []byte
	method := func(name string, stack int, body []byte) {
		methods = append2(methods, accPublic|accStatic)
		methods = append2(methods, w.text(name))
		methods = append2(methods, w.text("()V"))
		methods = append2(methods, 1)
		methods = append2(methods, code)
		methods = append4(methods, 12+len(body))
		methods = append2(methods, stack)
		methods = append2(methods, 0)
		methods = append4(methods, len(body))
		methods = append(methods, body...)
		methods = append4(methods, 0) // no exceptions, no attributes
	}
	two := func(n int) (byte, byte) { return byte(n >> 8), byte(n) }
	getHigh, getLow := two(get)
	refHigh, refLow := two(ref)
	method("<clinit>", 1, []byte{opINVOKESTATIC, getHigh, getLow, opPUTSTATIC, refHigh, refLow, opRETURN})
	addHigh, addLow := two(add)
	for i, address := range addresses {
		long := append4(append4([]byte{tagLong}, int(address>>32)), int(address&0xffffffff))
		high, low := two(w.add(long))
		method(HelperMethod(i), 5, []byte{
			opGETSTATIC, refHigh, refLow, opACONSTNULL, opLDC2W, high, low, opLCONST1,
			opINVOKEVIRTUAL, addHigh, addLow, opPOP2, opRETURN,
		})
	}

	out := append4(nil, magic)
	out = append2(append2(out, 0), java8)
	fieldName, fieldType := w.text(field), w.text(descriptor)
	out = append2(out, w.next)
	out = append(out, w.bytes...)
	for _, n := range []int{accPublic | accFinal | accSuper, this, object, 0} {
		out = append2(out, n)
	}
	for _, n := range []int{1, accStatic | accFinal, fieldName, fieldType, 0} {
		out = append2(out, n)
	}
	out = append2(out, 1+len(addresses))
	out = append(out, methods...)
	return append2(out, 0)
}
