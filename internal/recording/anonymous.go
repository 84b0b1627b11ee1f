package recording

import (
	"slices"
	"strconv"
	"strings"
)

// Anonymous gives a copy of a recording without what says which program it is of: addresses, names, process ids,
// lines, the time of day and the keys of requests. Each is replaced by a number in order of first appearance. So what
// was equal is equal still, and a simulation of the copy is one of the recording. The times of events stay, and of the
// names of functions the words in Primitives.
func Anonymous(r *Recording) *Recording {
	a := anonymizer{
		strings: make(map[stringKey]string), numbers: make(map[numberKey]uint64), next: make(map[kindOfNumber]uint64),
		counts: make(map[string]int),
	}
	c := *r
	c.Began = 0
	c.Threads = slices.Clone(r.Threads)
	for i := range c.Threads {
		t := &c.Threads[i]
		t.ID = int32(i + 1)
		t.Process = a.process(t.Process)
		t.Name = a.name("thread ", t.Name)
		t.Program = a.name("program ", t.Program)
		t.Allowed = slices.Clone(t.Allowed)
	}
	c.Points = slices.Clone(r.Points)
	for i := range c.Points {
		c.Points[i].Name = a.name("point ", c.Points[i].Name)
	}
	c.Objects = slices.Clone(r.Objects)
	for i := range c.Objects {
		o := &c.Objects[i]
		o.Process = a.process(o.Process)
		o.Address = a.number(addresses, o.Address)
	}
	c.Places = slices.Clone(r.Places)
	for i := range c.Places {
		p := &c.Places[i]
		p.Address, p.Pointer = a.number(addresses, p.Address), a.number(pointers, p.Pointer)
	}
	c.Frames = a.frames(r.Frames)
	c.Stacks = slices.Clone(r.Stacks)
	for i, s := range c.Stacks {
		c.Stacks[i] = slices.Clone(s)
	}
	c.Windows = slices.Clone(r.Windows)
	for i, w := range c.Windows {
		c.Windows[i].Events = slices.Clone(w.Events)
		for j := range c.Windows[i].Events {
			e := &c.Windows[i].Events[j]
			if e.Kind != Sample { // of which it is a time
				e.Key = a.number(keys, e.Key)
			}
		}
	}
	return &c
}

// Primitives are words in the names of functions by which a simulation recognises how threads wait for each other.
var Primitives = []string{"barrier", "mutex", "lll_lock", "rwlock", "spin_lock", "cond_", "sem_"}

// primitives gives those words that a name has.
func primitives(function string) (words string) {
	for _, word := range Primitives {
		if strings.Contains(function, word) {
			words += " " + word
		}
	}
	return words
}

type kindOfNumber int

const (
	addresses kindOfNumber = iota
	pointers
	keys
	processes
)

type (
	stringKey struct{ kind, name string }
	numberKey struct {
		kind   kindOfNumber
		number uint64
	}
)

// anonymizer remembers what stands for what.
type anonymizer struct {
	strings map[stringKey]string
	counts  map[string]int
	numbers map[numberKey]uint64
	next    map[kindOfNumber]uint64
}

// name gives the name for a name. An empty one stays.
func (a *anonymizer) name(kind, name string) string {
	if name == "" {
		return ""
	}
	k := stringKey{kind, name}
	if _, ok := a.strings[k]; !ok {
		a.counts[kind]++
		a.strings[k] = kind + strconv.Itoa(a.counts[kind])
	}
	return a.strings[k]
}

// number gives the number for a number. 0 means that it is not known, and stays.
func (a *anonymizer) number(kind kindOfNumber, n uint64) uint64 {
	if n == 0 {
		return 0
	}
	k := numberKey{kind, n}
	if _, ok := a.numbers[k]; !ok {
		a.next[kind]++
		a.numbers[k] = a.next[kind]
	}
	return a.numbers[k]
}

func (a *anonymizer) process(n int32) int32 {
	if n == No {
		return No
	}
	return int32(a.number(processes, uint64(uint32(n))))
}

// frames replaces lines by numbers, too: they are 1, 2, … in each file.
func (a *anonymizer) frames(frames []Frame) []Frame {
	type place struct {
		binary, file string
		line         int32
	}
	lines := make(map[place]int32)
	counts := make(map[place]int32)
	all := slices.Clone(frames)
	for i := range all {
		f := &all[i]
		at, file := place{f.Binary, f.File, f.Line}, place{f.Binary, f.File, 0}
		if f.Line > 0 && lines[at] == 0 {
			counts[file]++
			lines[at] = counts[file]
		}
		f.Line = lines[at]
		f.Function = a.name("function ", f.Function) + primitives(f.Function)
		f.Short = "" // the same
		f.File = a.name("file ", f.File)
		f.Binary = a.name("binary ", f.Binary)
	}
	return all
}
