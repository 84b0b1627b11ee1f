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
	w := newWriter(1)
	this, object := w.class(name), w.class("java/lang/Object")
	code := w.text("Code")
	ref := w.pair(tagFieldref, this, w.pair(tagNameAndType, w.text(field), w.text(descriptor)))
	get := w.method(unsafe, "getUnsafe", "()"+descriptor)
	add := w.method(unsafe, "getAndAddLong", "(Ljava/lang/Object;JJ)J")
	read := w.method(unsafe, "getInt", "(Ljava/lang/Object;J)I")
	frames := w.text("StackMapTable")

	var methods []byte
	// target is where the method jumps to, at which it has nothing on its stack; 0: it does not jump.
	method := func(name string, stack int, body []byte, target int) {
		methods = append2(methods, accPublic|accStatic)
		methods = append2(methods, w.text(name))
		methods = append2(methods, w.text("()V"))
		methods = append2(methods, 1)
		methods = append2(methods, code)
		const table = 9 // bytes of the attribute for the verifier
		size := 12 + len(body)
		if target > 0 {
			size += table
		}
		methods = append4(methods, size)
		methods = append2(methods, stack)
		methods = append2(methods, 0)
		methods = append4(methods, len(body))
		methods = append(methods, body...)
		methods = append2(methods, 0) // no exceptions
		if target == 0 {
			methods = append2(methods, 0)
			return
		}
		methods = append2(append2(methods, 1), frames)
		methods = append2(append4(methods, table-6), 1)
		methods = append(methods, byte(target)) // same_frame
	}
	native := func(name string) {
		for _, n := range []int{accPublic | accStatic | accNative, w.text(name), w.text("(J)V"), 0} {
			methods = append2(methods, n)
		}
	}
	two := func(n int) (byte, byte) { return byte(n >> 8), byte(n) }
	getHigh, getLow := two(get)
	refHigh, refLow := two(ref)
	method("<clinit>", 1, []byte{opINVOKESTATIC, getHigh, getLow, opPUTSTATIC, refHigh, refLow, opRETURN}, 0)
	addHigh, addLow := two(add)
	readHigh, readLow := two(read)
	long := func(n uint64) (byte, byte) {
		return two(w.add(append4(append4([]byte{tagLong}, int(n>>32)), int(n&0xffffffff))))
	}
	for i, address := range addresses {
		high, low := long(address)
		nextHigh, nextLow := long(address + 8)
		timedHigh, timedLow := two(w.method(name, TimedMethod(i), "(J)V"))
		body := []byte{
			opGETSTATIC, refHigh, refLow, opACONSTNULL, opLDC2W, high, low, opLCONST1,
			opINVOKEVIRTUAL, addHigh, addLow, opPOP2,
			opGETSTATIC, refHigh, refLow, opACONSTNULL, opLDC2W, nextHigh, nextLow, opINVOKEVIRTUAL, readHigh, readLow,
			opIFEQ, 0, 7, opLCONST0, opINVOKESTATIC, timedHigh, timedLow, opRETURN,
		}
		method(HelperMethod(i), 5, body, len(body)-1)
		native(TimedMethod(i))
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
	out = append2(out, 1+2*len(addresses))
	out = append(out, methods...)
	return append2(out, 0)
}
