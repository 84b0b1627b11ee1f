package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"whatif/internal/recording"
)

// meaning is what an object makes threads wait for.
type meaning uint8

const (
	signal  meaning = iota // the wake-up that ended the wait in the recording
	queue                  // a taker waits for a giver, a giver for room
	pool                   // a queue with several takers: any of them takes what was given
	barrier                // all wait for the last one
	mutex                  // one at a time holds it; the next one waits for the release
)

// fewOps is how many waits there must be at an object, so that what happened there says what it is.
const fewOps = 4

// mergeConditions makes one object of the two futexes of a condition variable. In glibc, each thread waits at one of
// two words next to each other: which of them changes from time to time.
func (m *Machine) mergeConditions() {
	numbers := map[recording.Object]int32{}
	for i, o := range m.rec.Objects {
		numbers[o] = int32(i)
	}
	into := map[int32]int32{}
	for n := range m.waits {
		w := &m.waits[n]
		if w.object < 0 || m.rec.Objects[w.object].Kind != recording.Futex {
			continue
		}
		first, seen := into[w.object]
		if !seen {
			first = w.object
			o := m.rec.Objects[first]
			if o.Address%8 == 4 && m.primitive(w.place) == namedCondition {
				o.Address -= 4
				if other, known := numbers[o]; known {
					first = other
				}
			}
			into[w.object] = first
		}
		w.object = first
	}
}

// inferObjects finds out what each object makes threads wait for, and writes it into waits and programs.
func (m *Machine) inferObjects(ops []int32) {
	lists := make([][]int32, len(m.rec.Objects))
	unknown := 0
	for _, n := range ops {
		if o := m.waits[n].object; o >= 0 {
			lists[o] = append(lists[o], n)
		} else {
			unknown++
		}
	}
	m.locks = make([]lock, len(lists))
	var unsure, others, queues []int32
	anyLock := false
	for o, list := range lists {
		what, sure := m.infer(int32(o), list)
		if what != barrier && what != mutex {
			others = append(others, int32(o))
		}
		switch what {
		case queue:
			m.gateQueue(list)
			queues = append(queues, int32(o))
		case pool:
			m.gatePool(list)
		case barrier:
			m.gateBarrier(list)
		case mutex:
			m.locks[o].is = true
			anyLock = true
			if !sure {
				unsure = append(unsure, int32(o))
			}
		}
	}
	served := m.tryServers(lists, queues)
	others = slices.DeleteFunc(others, func(o int32) bool { return slices.Contains(served, o) })
	m.findLatches(others)
	if anyLock {
		m.tryLocks(lists, unsure)
	}
	if 10*unknown > len(ops) {
		m.doubts = append(m.doubts, fmt.Sprintf("what threads waited for is unknown in %d of %d waits for others: "+
			"their order is taken to be as recorded", unknown, len(ops)))
	}
}

// infer finds out what one object makes threads wait for. Sure: nothing else would look the same.
func (m *Machine) infer(o int32, list []int32) (what meaning, sure bool) {
	if len(list) < fewOps {
		return signal, true
	}
	place := m.usualPlace(list, func(w *wait) int32 { return w.place })
	named := m.primitive(place)
	switch named {
	case namedBarrier:
		return barrier, true
	case namedLock:
		return mutex, true
	}
	f := m.rounds(list)
	kind := m.rec.Objects[o].Kind
	if kind == recording.Process {
		return signal, true
	}
	if f.both && (kind == recording.Unknown || kind == recording.Futex) {
		switch {
		case named != namedCondition && named != namedSemaphore:
			return m.barrierOrMutex(f, place, list)
		case f.always():
			return barrier, true // made of a condition
		}
	}
	if f.takers > 1 && !f.both && !f.bursts() && !m.asked(list) {
		if m.joins(list) {
			return signal, true
		}
		return pool, true
	}
	return queue, true
}

// joins reports whether threads mostly wait for the ends of those that they have made. Memory that is used again has
// one object for several joins, of several threads: that is no queue.
func (m *Machine) joins(list []int32) bool {
	joins := 0
	for _, n := range list {
		if m.waits[n].join {
			joins++
		}
	}
	return 2*joins > len(list)
}

// usualPlace returns one of the places at which most of some waits are, as far as their stacks tell: a few may be
// wrong, as those of threads that waited already when a window began.
func (m *Machine) usualPlace(list []int32, of func(*wait) int32) int32 {
	times, best, at := map[int32]int{}, 0, int32(recording.No)
	for _, n := range list {
		place := of(&m.waits[n])
		if place < 0 || m.rec.Places[place].Stack < 0 {
			continue
		}
		stack := m.rec.Places[place].Stack
		if times[stack]++; times[stack] > best {
			best, at = times[stack], place
		}
	}
	return at
}

// asked reports whether each thread that somebody lets go on at an object mostly meets the same one elsewhere, too,
// where the others do not: it has asked, and gets its own answer. So it matters which of them goes on.
func (m *Machine) asked(list []int32) bool {
	takers, givers := map[int32]bool{}, map[int32]bool{}
	for _, n := range list {
		takers[m.waits[n].thread], givers[m.waits[n].waker] = true, true
	}
	type answers struct {
		taker  int32
		n      int
		shared bool
	}
	at := map[int32]*answers{} // by object
	for i := range m.waits {
		w := &m.waits[i]
		if w.ends != byWake || w.object < 0 || w.object == m.waits[list[0]].object {
			continue
		}
		taker := w.thread
		if givers[w.thread] {
			taker = w.waker
		} else if !givers[w.waker] {
			continue
		}
		switch a := at[w.object]; {
		case !takers[taker]:
		case a == nil:
			at[w.object] = &answers{taker: taker, n: 1}
		default:
			a.shared = a.shared || a.taker != taker
			a.n++
		}
	}
	n := 0
	for _, a := range at {
		if !a.shared {
			n += a.n
		}
	}
	return 2*n > len(list)
}

// barrierOrMutex decides about an object at which the same threads wait, at a place, and wake others. At a barrier,
// each wakes all that wait, and the same threads meet each time. At a mutex, each wakes one, whichever waits.
func (m *Machine) barrierOrMutex(f rounds, place int32, list []int32) (what meaning, sure bool) {
	if m.mentions(place, "semop", "semtimedop") { // one function waits and wakes: it would look like a barrier
		return mutex, true
	}
	waitAt := m.function(place)
	wakeAt := m.function(m.usualPlace(list, func(w *wait) int32 { return w.wakeAt }))
	always := f.always()
	switch {
	case always && f.size > 2:
		return barrier, true
	case always && waitAt != "" && waitAt == wakeAt:
		return barrier, true
	case always && (waitAt == "" || wakeAt == ""):
		return mutex, false // of two threads: both look the same, until the recording is run again
	}
	return mutex, true
}

// rounds are facts about an object: a round is one thread that wakes others, all of which wait already.
type rounds struct {
	n       int
	ops     int
	partial int  // rounds in which another thread went on waiting
	same    int  // rounds of the threads that met most often
	size    int  // how many threads those are
	takers  int  // threads that waited
	both    bool // a thread woke others in one round, and waited in another
}

// always reports whether each round wakes all that wait, and the same threads meet in each. One round in ten may
// differ: windows cut some.
func (f *rounds) always() bool {
	return 20*f.partial <= f.n && 10*f.same >= 9*f.n
}

// bursts reports whether several threads are mostly woken at once.
func (f *rounds) bursts() bool {
	return 2*f.ops >= 3*f.n
}

// rounds counts the rounds at an object.
func (m *Machine) rounds(list []int32) rounds {
	f := rounds{ops: len(list)}
	waited, woke := map[int32]bool{}, map[int32]bool{}
	for _, n := range list {
		waited[m.waits[n].thread] = true
		woke[m.waits[n].waker] = true
	}
	for t := range woke {
		f.both = f.both || waited[t]
	}
	f.takers = len(waited)
	type set struct{ times, size int }
	sets := map[uint64]set{}
	for i := 0; i < len(list); {
		first := &m.waits[list[i]]
		members := mix(first.waker)
		members += mix(first.thread)
		j := i + 1 // a wait may be of no length: its own round is never empty
		for ; j < len(list); j++ {
			w, before := &m.waits[list[j]], &m.waits[list[j-1]]
			if w.window != first.window || w.waker != first.waker || w.began >= first.end || rested(before, w) {
				break
			}
			members += mix(w.thread)
		}
		for k := j; k < min(len(list), j+f.takers); k++ {
			if w := &m.waits[list[k]]; w.window == first.window && w.began < first.end {
				f.partial++
				break
			}
		}
		s := sets[members]
		s.times, s.size = s.times+1, j-i+1
		sets[members] = s
		if s.times > f.same {
			f.same, f.size = s.times, s.size
		}
		f.n++
		i = j
	}
	return f
}

// restTime is how long a thread may be off its core between two wake-ups that it makes at once, in ns.
const restTime = 1e5

// rested reports whether a thread that ended two waits waited itself in between: then it did not end them at once.
func rested(a, b *wait) bool {
	return b.end-a.end > b.made-a.made+restTime
}

// mix makes a number of a thread's, so that the sum of several names their set (the finalizer of splitmix64).
func mix(thread int32) uint64 {
	x := (uint64(thread) + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// function returns the function at a place: the innermost outside the kernel. "": unknown.
func (m *Machine) function(place int32) string {
	for f := range m.userFrames(place) {
		return f
	}
	return ""
}

// What a library's function is by its name.
type primitive int

const (
	namedNothing primitive = iota
	namedBarrier
	namedLock
	namedCondition
	namedSemaphore
)

// primitiveWords are parts of names of functions. A function of a condition that takes its lock again has words of both
// (__pthread_mutex_cond_lock): it waits for the lock.
var primitiveWords = []struct {
	is    primitive
	words []string
}{
	{namedBarrier, []string{"barrier"}},
	{namedLock, []string{"mutex", "lll_lock", "rwlock", "spin_lock", goMutex}},
	{namedCondition, []string{"_cond_", "condition_variable", "condvar", "Condvar"}},
	{namedSemaphore, []string{"sem_wait", "sem_timedwait", "sem_clockwait"}},
}

// primitive is what the innermost function is called that has a telling name: what is around it may be anything.
func (m *Machine) primitive(place int32) primitive {
	for f := range m.libraryFrames(place) {
		for _, p := range primitiveWords {
			if containsAny(f, p.words) {
				return p.is
			}
		}
	}
	return namedNothing
}

// mentions reports whether one of the innermost functions of a place has one of the words in its name.
func (m *Machine) mentions(place int32, words ...string) bool {
	for f := range m.libraryFrames(place) {
		if containsAny(f, words) {
			return true
		}
	}
	return false
}

func containsAny(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// depth is how many functions a library's primitive has, up to the name that programs call, and deepest how many with
// those that say nothing.
const depth, deepest = 3, 8

// plumbing begins the names of functions between a primitive and the system call. Without the library's debug file they
// have no name.
var plumbing = []string{"futex_", "__futex_", "__syscall_cancel", "__internal_syscall"}

// libraryFrames yields the functions of a place that may be a library's primitive, the innermost first.
func (m *Machine) libraryFrames(place int32) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		n, all := 0, 0
		for f := range m.userFrames(place) {
			if all++; all > deepest || !yield(f) {
				return
			}
			begins := func(prefix string) bool { return strings.HasPrefix(f, prefix) }
			if f == "" || slices.ContainsFunc(plumbing, begins) {
				continue
			}
			if n++; n == depth {
				return
			}
		}
	}
}

// userFrames yields the functions of a place, from the innermost one outside the kernel.
func (m *Machine) userFrames(place int32) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		if place < 0 || m.rec.Places[place].Stack < 0 {
			return
		}
		for _, f := range m.rec.Stacks[m.rec.Places[place].Stack] {
			if f < 0 || int(f) >= len(m.rec.Frames) || m.rec.Frames[f].Kernel {
				continue
			}
			if !yield(withoutTypes(&m.rec.Frames[f])) {
				return
			}
		}
	}
}

// withoutTypes is a function's name without parameters and types in angle brackets: a condition has a lock among its
// parameters.
func withoutTypes(f *recording.Frame) string {
	name := cmp.Or(f.Short, f.Function)
	if strings.HasPrefix(name, "<") || !strings.Contains(name, "<") { // Rust has methods of types that begin so
		return name
	}
	var b strings.Builder
	depth := 0
	for _, c := range name {
		switch c {
		case '<':
			depth++
		case '>':
			depth = max(0, depth-1)
		default:
			if depth == 0 {
				b.WriteRune(c)
			}
		}
	}
	return b.String()
}
