package classfile

import (
	"iter"
	"slices"
)

// Place is a place in a class's code at which a call can be inserted.
type Place struct {
	Method int // its number
	at     int
	// once is set at a method's entry: a loop may jump to the method's first instruction, but does not enter the method.
	once bool
}

// Entry is the start of a method.
func Entry(method int) Place { return Place{method, 0, true} }

// Returns are the places before a method's returns. That it ends with an exception is no return.
func (c *Class) Returns(method int) ([]Place, error) {
	b, err := c.body(&c.Methods[method])
	if err != nil {
		return nil, err
	}
	var places []Place
	for at, op := range b.code {
		if b.starts[at] && op >= opIRETURN && op <= opRETURN {
			places = append(places, Place{method, at, false})
		}
	}
	return places, nil
}

// Line gives the places at which the statement of a line begins, in all methods. As in machine code (package lineentry)
// these are, of each method, the starts of the line's code that the method's entry reaches without passing another
// start. The others are later pieces of the statement: what a for loop does after each turn, the call behind its
// arguments. A finally block, of which compilers make copies, has a start in each.
func (c *Class) Line(line int) ([]Place, error) {
	var places []Place
	for i := range c.Methods {
		m := &c.Methods[i]
		if !m.HasCode || !c.mayHave(m, line) {
			continue
		}
		b, err := c.body(m)
		if err != nil {
			return nil, err
		}
		for _, at := range b.entered(b.startsOf(line), &c.checks) {
			places = append(places, Place{i, at, false})
		}
	}
	return places, nil
}

// mayHave tells without taking the code apart whether a method may have code of a line.
func (c *Class) mayHave(m *Method, line int) bool {
	for l := range c.linesOf(m) {
		if l == line {
			return true
		}
	}
	return false
}

// Lines are the lines that have code, in order.
func (c *Class) Lines() []int {
	var all []int
	for i := range c.Methods {
		all = append(all, c.MethodLines(i)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// MethodLines are the lines that have code of a method, in order.
func (c *Class) MethodLines(method int) []int {
	m := &c.Methods[method]
	if !m.HasCode {
		return nil
	}
	all := slices.Sorted(c.linesOf(m))
	return slices.Compact(all)
}

// linesOf gives the lines of a method as they stand in the class, and leaves out what is cut short.
func (c *Class) linesOf(m *Method) iter.Seq[int] {
	return func(yield func(int) bool) {
		r := &reader{data: c.data[:m.code.to], at: m.code.from}
		r.take(4)
		r.take(r.u4())
		r.take(8 * r.u2())
		n := r.u2()
		for i := 0; i < n && r.err == nil; i++ {
			name, _ := c.pool.text(r.u2())
			content := r.take(r.u4())
			if name != "LineNumberTable" || len(content) < 2 {
				continue
			}
			for content = content[2:]; len(content) >= 4; content = content[4:] {
				if !yield(number2(content[2:])) {
					return
				}
			}
		}
	}
}

// startsOf gives where code of a line begins, in order.
func (b *body) startsOf(line int) []int {
	slices.SortStableFunc(b.lines, func(x, y lineStart) int { return x.at - y.at })
	var starts []int
	before := 0
	for _, l := range b.lines {
		if l.line == line && before != line {
			starts = append(starts, l.at)
		}
		before = l.line
	}
	return slices.Compact(starts)
}

// mostChecks bounds the search through exception tables of one class: a hostile one may have many long ones.
const mostChecks = 1 << 24

// entered gives those of the starts that the method's entry reaches without passing another one. If none is reached, or
// that would take too long to find out, it is the first one. checks is what was done so far, in all methods.
func (b *body) entered(starts []int, checks *int) (first []int) {
	if len(starts) < 2 {
		return starts
	}
	met := make([]bool, len(b.code))
	catches := slices.Clone(b.catches)
	next := []int{0}
	reach := func(at int) {
		if b.isStart(at) && !met[at] {
			met[at] = true
			next = append(next, at)
		}
	}
	met[0] = true
	for len(next) > 0 {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		if _, ok := slices.BinarySearch(starts, at); ok {
			first = append(first, at)
			continue
		}
		eachJump(b.code, at, func(j jump) { reach(j.to) })
		if goesOn(b.code[at]) {
			reach(at + sizeAt(b.code, at))
		}
		if *checks += len(catches); *checks > mostChecks {
			return starts[:1]
		}
		catches = slices.DeleteFunc(catches, func(c catch) bool {
			if at < c.from || at >= c.to {
				return false
			}
			reach(c.handler)
			return true
		})
	}
	if len(first) == 0 {
		return starts[:1]
	}
	slices.Sort(first)
	return first
}
