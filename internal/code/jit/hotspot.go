package jit

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sort"
	"strings"

	"whatif/internal/code/jvm/classfile"
	"whatif/internal/code/symbol"
)

// HotSpot takes in what the agent in a Java VM tells of its code, packet by packet, and puts it into a table. The
// packets are described in internal/code/jvm/agent/agent.c. Like the files of other runtimes they come from a profiled
// process, which can send anything.
type HotSpot struct {
	table   *Table
	methods map[uint64]*javaMethod
	codes   map[uint64]*javaCode // of which places are still to come
	growing *javaMethod          // its lines are being told; nil: none's
	grows   uint64               // its number
	flushed bool                 // see Body.Blunt
}

// NewHotSpot makes a HotSpot that fills a table.
func NewHotSpot(t *Table) *HotSpot {
	return &HotSpot{table: t, methods: make(map[uint64]*javaMethod), codes: make(map[uint64]*javaCode)}
}

// Close gives back the memory of the methods. What was told of code stays in the table.
func (h *HotSpot) Close() {
	h.endMethod()
	for id, m := range h.methods {
		h.table.budget.Left += m.cost()
		delete(h.methods, id)
	}
	for start := range h.codes {
		h.drop(start)
	}
}

// javaMethod is a method, compiled or inlined. Its lines and bytecodes may grow until another one is told; all else
// does not change. Code keeps the function, and not the lines.
type javaMethod struct {
	*Function
	lines     []bytecodeLine
	bytecodes []byte            // while they are told
	loops     []classfile.Range // where its bytecodes are in loops
}

// cost is what a method takes of a Budget until it is told again.
func (m *javaMethod) cost() int64 { return int64(100 + 4*len(m.lines) + 16*len(m.loops)) }

// bytecodeLine is the line from a bytecode on.
type bytecodeLine struct{ bytecode, line uint16 }

// javaCode is code of which places are still to come.
type javaCode struct {
	start, size uint64
	method      *javaMethod
	inlined     []*javaMethod // by number; nil: not known
	places      uint32        // to come
	body        *Body
	begins      uint64 // the offset at which the next place begins
	sites       map[site]*site
	calls       map[bytecodeAt]bool // that are inlined
	bytecodes   []uint16            // of the body's lines
	cost        int64               // what it has taken of the budget so far
	frames      [mostDepth]inlined  // of the place that is being read
}

// inlined is a frame of a place.
type inlined struct {
	site
	bytecode uint16
}

// bytecodeAt is a bytecode in a line of a method, inlined at a place.
type bytecodeAt struct {
	at       *site
	bytecode uint16
}

// site is a line of a method, inlined at a place, in a loop of the method's bytecodes or outside of them. The zero
// caller is that of the method that was compiled.
type site struct {
	function *Function
	line     int
	loop     int32 // its number in the method; 0: it is in none
	caller   *site
}

const (
	mostCodes  = 4 // that are incomplete at a time: the agent has two threads that tell
	mostPlaces = 1 << 17
	mostDepth  = 256
)

// Heard is what else a packet says.
type Heard struct {
	Changed bool // the table may have changed
	Lost    bool // records were lost: all code is to be told again
	Done    byte // a command is done; 0: none
	Failed  bool // and it has failed
}

var errPacket = errors.New("the agent in the Java VM sends what makes no sense")

// protocolVersion is the agent's.
const protocolVersion = 2

// Take takes in a packet. After an error nothing more is to be read.
func (h *HotSpot) Take(bytes []byte) (heard Heard, err error) {
	p := &packet{rest: bytes}
	kind := p.u8()
	if kind != 'N' && kind != 'B' {
		h.endMethod()
	}
	switch kind {
	case 'V':
		if p.u32() != protocolVersion {
			return heard, errPacket
		}
	case 'M':
		h.addMethod(p)
	case 'N':
		if h.isGrowing(p.u64()) {
			h.addLines(p)
		}
	case 'B':
		if m := h.growing; h.isGrowing(p.u64()) && len(m.bytecodes)+len(p.rest) <= mostBytecodes {
			m.bytecodes = append(m.bytecodes, p.rest...)
		}
	case 'C':
		heard.Changed = h.addCode(p)
	case 'P':
		heard.Changed = h.addPlaces(p)
	case 'U':
		start := p.u64()
		if b := h.table.Find(start); b != nil && b.base == start {
			h.table.cut(start, start+b.size)
			heard.Changed = true
		}
	case 'D':
		start, size, name := p.u64(), uint64(p.u32()), p.text()
		if !p.short && plausible(start, size) {
			h.table.add(start, size, &Body{Function: Function{Name: name, Full: name, Outside: hotSpotOutside}, size: size})
			heard.Changed = true
		}
	case 'X':
		heard.Lost = true
	case 'R':
		heard.Done = p.u8()
		heard.Failed = p.u32() != 0
		h.flushed = h.flushed || heard.Done == 'F'
	default:
		return heard, errPacket
	}
	if p.short {
		return heard, errPacket
	}
	return heard, nil
}

// addMethod takes in a method, which may be one that has changed.
func (h *HotSpot) addMethod(p *packet) {
	id := p.u64()
	class, name, signature, file := p.text(), p.text(), p.text(), p.text()
	if p.short {
		return
	}
	f := ofMethod(class, name, signature, file)
	m := &javaMethod{Function: &f}
	// The names are kept as long as the table: code that is in it may have them.
	names := int64(200 + 2*len(f.Name) + 2*len(f.Full) + len(f.File))
	if was := h.methods[id]; was != nil {
		h.table.budget.Left += was.cost()
		delete(h.methods, id)
		if *was.Function == f {
			m.Function, names = was.Function, 0
		}
	}
	if h.table.budget.Left < names+m.cost() {
		h.table.full = true
		return
	}
	h.table.budget.Left -= names + m.cost()
	h.table.names += names
	h.methods[id] = m
	h.growing, h.grows = m, id
	h.addLines(p)
}

// isGrowing tells whether a method is the one that is being told.
func (h *HotSpot) isGrowing(id uint64) bool { return h.growing != nil && id == h.grows }

// mostBytecodes bounds the bytecodes of a method, which has at most 65535, and its lines.
const mostBytecodes = 1 << 16

func (h *HotSpot) addLines(p *packet) {
	m := h.growing
	for len(p.rest) > 0 && len(m.lines) < mostBytecodes {
		m.lines = append(m.lines, bytecodeLine{p.u16(), p.u16()})
	}
}

// endMethod is called when all of a method was told.
func (h *HotSpot) endMethod() {
	m := h.growing
	if m == nil {
		return
	}
	h.growing = nil
	m.loops = allBytecodes
	if len(m.bytecodes) > 0 {
		m.loops = classfile.Loops(m.bytecodes)
	}
	m.bytecodes = nil
	m.lines = slices.Clip(m.lines)
	slices.SortStableFunc(m.lines, func(a, b bytecodeLine) int { return int(a.bytecode) - int(b.bytecode) })
	h.table.budget.Left -= m.cost() - (&javaMethod{}).cost()
}

// allBytecodes are the loops of a method of which the VM does not tell the bytecodes: they may be anywhere.
var allBytecodes = []classfile.Range{{From: 0, To: math.MaxUint16 - 1}}

// loopOf is the number of the loop that a bytecode is in, from 1 on; 0: it is in none.
func (m *javaMethod) loopOf(bytecode uint16) int32 {
	i := sort.Search(len(m.loops), func(i int) bool { return m.loops[i].To >= int(bytecode) })
	if i < len(m.loops) && m.loops[i].From <= int(bytecode) {
		return int32(i) + 1
	}
	return 0
}

// lineOf is the line of a bytecode; 0: it is not known.
func (m *javaMethod) lineOf(bytecode uint16) int {
	i := sort.Search(len(m.lines), func(i int) bool { return m.lines[i].bytecode > bytecode })
	switch {
	case len(m.lines) == 0:
		return 0
	case i == 0 || bytecode == math.MaxUint16: // the method's entry
		return int(m.lines[0].line)
	}
	return int(m.lines[i-1].line)
}

// addCode takes in where code is. changed reports whether that is all of it.
func (h *HotSpot) addCode(p *packet) (changed bool) {
	c := &javaCode{start: p.u64(), size: uint64(p.u32())}
	id := p.u64()
	c.method, c.places = h.methods[id], p.u32()
	for n := p.u16(); n > 0 && !p.short; n-- {
		c.inlined = append(c.inlined, h.methods[p.u64()])
	}
	if p.short || c.method == nil || !plausible(c.start, c.size) || c.places > mostPlaces {
		return false
	}
	c.body = &Body{Function: *c.method.Function, size: c.size, java: true}
	if !h.flushed {
		c.body.blunt = id
	}
	if c.places == 0 {
		return h.finish(c)
	}
	h.drop(c.start)
	if len(h.codes) >= mostCodes { // what comes no more; which one does not matter
		for start := range h.codes {
			h.drop(start)
			break
		}
	}
	c.sites, c.calls = make(map[site]*site), make(map[bytecodeAt]bool)
	h.codes[c.start] = c
	return false
}

// addPlaces takes in places of code. changed reports whether they were the last.
func (h *HotSpot) addPlaces(p *packet) (changed bool) {
	c := h.codes[p.u64()]
	if c == nil {
		return false
	}
	for n := p.u16(); n > 0 && c.places > 0 && !p.short; n-- {
		c.places--
		c.addPlace(p)
	}
	if p.short {
		return false
	}
	if c.places == 0 {
		h.drop(c.start)
		return h.finish(c)
	}
	// Places have a few bytes in a packet, and many more here: they do not wait for the last one to be counted.
	more := costOfLine*int64(len(c.body.lines)) + costOfSite*int64(len(c.sites)) - c.cost
	h.table.budget.Left -= more
	c.cost += more
	if h.table.budget.Left < 0 {
		h.table.full = true
		h.drop(c.start)
	}
	return false
}

// drop forgets code of which places are still to come, if there is such code.
func (h *HotSpot) drop(start uint64) {
	if c := h.codes[start]; c != nil {
		h.table.budget.Left += c.cost
		delete(h.codes, start)
	}
}

// addPlace takes in a place. HotSpot describes the code before an offset: from the end of the place before on.
func (c *javaCode) addPlace(p *packet) {
	ends, depth := uint64(p.u32()), int(p.u16())
	if depth > mostDepth {
		p.short = true
		return
	}
	frames := c.frames[:depth]
	clear(frames)
	for i := range depth {
		number, bytecode := p.u16(), p.u16()
		if int(number) < len(c.inlined) && c.inlined[number] != nil {
			m := c.inlined[number]
			frames[i] = inlined{site{function: m.Function, line: m.lineOf(bytecode), loop: m.loopOf(bytecode)}, bytecode}
		}
	}
	if p.short || ends < c.begins || ends > c.size {
		return
	}
	var in bytecodeAt
	for i := depth - 1; i >= 0; i-- { // from the outermost on
		if frames[i].function == nil {
			continue // a method that is not known: as if it were its caller
		}
		if in.at != nil {
			c.calls[in] = true
		}
		frames[i].caller = in.at
		in = bytecodeAt{c.same(frames[i].site), frames[i].bytecode}
	}
	if in.at != nil && (len(c.bytecodes) == 0 || c.last() != in) {
		c.body.lines = append(c.body.lines, line{offset: c.begins, at: in.at})
		c.bytecodes = append(c.bytecodes, in.bytecode)
	}
	c.begins = ends + 1
}

// last is what the last line is noted for.
func (c *javaCode) last() bytecodeAt {
	n := len(c.bytecodes) - 1
	return bytecodeAt{c.body.lines[n].at, c.bytecodes[n]}
}

// same is the one site of code for equal ones.
func (c *javaCode) same(s site) *site {
	if is := c.sites[s]; is != nil {
		return is
	}
	c.sites[s] = &s
	return &s
}

// finish puts code into the table. Behind the last place there is code for rare cases, without lines.
func (h *HotSpot) finish(c *javaCode) bool {
	c.body.sites = len(c.sites)
	lines := c.body.lines[:0]
	for i, l := range c.body.lines {
		l.call = c.calls[bytecodeAt{l.at, c.bytecodes[i]}]
		if n := len(lines); n == 0 || lines[n-1].at != l.at || lines[n-1].call != l.call {
			lines = append(lines, l)
		}
	}
	c.body.lines = lines
	if c.begins < c.size && len(c.body.lines) > 0 {
		c.body.lines = append(c.body.lines, line{offset: c.begins, at: &site{function: c.method.Function}})
	}
	c.body.lines = slices.Clip(c.body.lines)
	h.table.add(c.start, c.size, c.body)
	return true
}

// Interpreter is what HotSpot calls the code of its interpreter.
const Interpreter = "Interpreter"

// Bytecodes are those of a method that HotSpot interprets, from their address on.
type Bytecodes struct {
	Class, Name, Signature, File string // class and signature in the VM's own form: com/shop/Cart and (I)J
	Start, Size                  uint64
	Lines                        []BytecodeLine
}

// BytecodeLine is the line from a bytecode on.
type BytecodeLine struct{ Bytecode, Line int }

// AddBytecodes puts a method that is interpreted into the table, by the addresses of its bytecodes. replaced reports
// whether something else was there.
func (t *Table) AddBytecodes(m *Bytecodes) (replaced bool) {
	if !plausible(m.Start, m.Size) {
		return false
	}
	f := ofMethod(m.Class, m.Name, m.Signature, m.File)
	b := &Body{Function: f, size: m.Size, java: true}
	for _, l := range m.Lines {
		b.lines = append(b.lines, line{offset: uint64(l.Bytecode), line: int32(l.Line)})
	}
	slices.SortStableFunc(b.lines, func(x, y line) int { return cmp.Compare(x.offset, y.offset) })
	if was := t.Find(m.Start); was != nil && was.base == m.Start && was.size == b.size && was.Function == f &&
		slices.Equal(was.lines, b.lines) {
		return false
	}
	replaced = t.overlaps(m.Start, m.Start+m.Size)
	t.add(m.Start, m.Size, b)
	return replaced
}

// Blunt gives the number of the method of code that may have been compiled before the agent was there: then it has
// lines for safepoints only. Class is the method's. 0: the code has all its lines.
func (b *Body) Blunt() (method uint64, class string) {
	return b.blunt, b.Name[:max(0, strings.LastIndexByte(b.Name, '.'))]
}

// frames are the frames at a site, the innermost first.
func (s *site) frames() (chain []symbol.Frame) {
	for ; s != nil; s = s.caller {
		f := s.function
		chain = append(chain, symbol.Frame{Func: f.Full, Short: f.Name, File: f.File, Line: s.line})
	}
	return chain
}

// ofMethod makes the names of a method, in the VM's own form: Lcom/shop/Cart;, total, (I)J and Cart.java.
func ofMethod(class, name, signature, file string) (f Function) {
	class = strings.TrimSuffix(strings.TrimPrefix(class, "L"), ";")
	if file != "" && !strings.Contains(file, "/") {
		if i := strings.LastIndexByte(class, '/'); i >= 0 {
			file = class[:i+1] + file
		}
		f.File = file
	}
	class = madeClass.ReplaceAllString(strings.ReplaceAll(class, "/", "."), "$1")
	f.Name = class + "." + name
	f.Full = f.Name + "(" + strings.Join(parameters(signature), ", ") + ")"
	return f
}

var javaTypes = map[byte]string{'B': "byte", 'C': "char", 'D': "double", 'F': "float", 'I': "int", 'J': "long",
	'S': "short", 'Z': "boolean"}

// parameters are the types in a signature: int and java.lang.String[] of (I[Ljava/lang/String;)V.
func parameters(signature string) (types []string) {
	s, _, ok := strings.Cut(strings.TrimPrefix(signature, "("), ")")
	for ok && s != "" {
		dimensions := len(s) - len(strings.TrimLeft(s, "["))
		s = s[dimensions:]
		name := ""
		switch {
		case s == "":
			return types
		case s[0] == 'L':
			name, s, _ = strings.Cut(s[1:], ";")
			name = strings.ReplaceAll(name, "/", ".")
		default:
			name, s = javaTypes[s[0]], s[1:]
		}
		types = append(types, name+strings.Repeat("[]", dimensions))
	}
	return types
}

// packet reads a packet from its beginning on.
type packet struct {
	rest  []byte
	short bool // it has ended too soon, or makes no sense
}

func (p *packet) take(n int) []byte {
	if len(p.rest) < n {
		p.short, p.rest = true, nil
		return make([]byte, 8)
	}
	taken := p.rest[:n]
	p.rest = p.rest[n:]
	return taken
}

func (p *packet) u8() byte    { return p.take(1)[0] }
func (p *packet) u16() uint16 { return binary.LittleEndian.Uint16(p.take(2)) }
func (p *packet) u32() uint32 { return binary.LittleEndian.Uint32(p.take(4)) }
func (p *packet) u64() uint64 { return binary.LittleEndian.Uint64(p.take(8)) }

func (p *packet) text() string {
	n := int(p.u16())
	if p.short || len(p.rest) < n {
		p.short = true
		return ""
	}
	return strings.ToValidUTF8(string(p.take(n)), "?")
}
