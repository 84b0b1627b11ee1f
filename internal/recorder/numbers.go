package recorder

import (
	"cmp"
	"slices"

	"golang.org/x/sys/unix"

	"whatif/bpf"
	"whatif/internal/recording"
	"whatif/internal/target"
)

// numbers gives threads, places, stacks and objects the numbers that they have in the recording.
type numbers struct {
	threads  []recording.Thread
	byID     map[uint32]int32 // the last thread that has had an ID
	programs map[int32]string
	unborn   map[uint32]recording.Thread // name and program, by ID, of those that have no number yet
	cores    []int                       // that are on line
	places   map[uint64]int32
	placeIDs []uint64
	stacks   map[uint64]int32
	stackIDs []uint64
	objects  map[recording.Object]int32
	list     []recording.Object

	goroutines map[goroutineKey]int32
	partners   map[int32]int32 // by goroutine: the one that it asks or answers
	made       int32           // goroutines so far
	ofRuntime  map[int32]bool  // places that begin in Go's runtime
}

// goroutineKey is what tells goroutines apart while they exist.
type goroutineKey struct {
	process uint32
	address uint64
}

func newNumbers(cores []int) *numbers {
	return &numbers{
		cores: cores,
		byID:  make(map[uint32]int32), programs: make(map[int32]string),
		unborn: make(map[uint32]recording.Thread), places: make(map[uint64]int32),
		stacks: make(map[uint64]int32), objects: make(map[recording.Object]int32),
		goroutines: make(map[goroutineKey]int32), partners: make(map[int32]int32), ofRuntime: make(map[int32]bool),
	}
}

// thread is the number of a thread by its ID. process may be 0: unknown.
func (n *numbers) thread(id, process uint32) int32 {
	i, known := n.byID[id]
	if !known {
		return n.born(id, process)
	}
	n.of(i, process)
	return i
}

// born gives a thread a number that has just been made. Another one may have had the ID before.
func (n *numbers) born(id, process uint32) int32 {
	i := int32(len(n.threads))
	t := n.unborn[id]
	delete(n.unborn, id)
	t.ID = int32(id)
	n.threads = append(n.threads, t)
	n.byID[id] = i
	n.of(i, process)
	return i
}

// forked notes the name and the program of a thread that another one has made. It gets its number when the window is
// arranged, and may be over by then. If it runs another program by now, another core's ring has said so before.
func (n *numbers) forked(parent, id uint32, name string) {
	if _, known := n.unborn[id]; known {
		return
	}
	program := n.unborn[parent].Program
	if i, known := n.byID[parent]; known && program == "" {
		program = n.threads[i].Program
	}
	n.unborn[id] = recording.Thread{Name: name, Program: program}
}

// of notes which process a thread belongs to, and what is known of both while they run.
func (n *numbers) of(i int32, process uint32) {
	if i < 0 || process == 0 || n.threads[i].Process != 0 {
		return
	}
	t := &n.threads[i]
	t.Process = int32(process)
	t.Program = cmp.Or(n.program(t.Process), t.Program)
	if nice, err := unix.Getpriority(unix.PRIO_PROCESS, int(t.ID)); err == nil {
		t.Nice = int8(20 - nice) // the system call gives 20 less the value
	}
	t.Allowed = allowed(int(t.ID), n.cores)
}

// allowed are those of some cores that a thread may run on; nil: all.
func allowed(thread int, cores []int) []int16 {
	var set unix.CPUSet
	if unix.SchedGetaffinity(thread, &set) != nil {
		return nil
	}
	var cpus []int16
	for _, cpu := range cores {
		if set.IsSet(cpu) {
			cpus = append(cpus, int16(cpu))
		}
	}
	if len(cpus) == len(cores) {
		return nil
	}
	return cpus
}

// goroutine is the number of a goroutine by its address.
func (n *numbers) goroutine(process uint32, address uint64) int32 {
	key := goroutineKey{process, address}
	i, known := n.goroutines[key]
	if !known {
		i = int32(len(n.threads))
		n.made++
		n.threads = append(n.threads, recording.Thread{
			ID: n.made, Process: int32(process), Name: "goroutine", Program: n.program(int32(process)), Goroutine: true,
		})
		n.goroutines[key] = i
	}
	return i
}

// knownGoroutine is the same of one that was met before.
func (n *numbers) knownGoroutine(process uint32, address uint64) (int32, bool) {
	i, known := n.goroutines[goroutineKey{process, address}]
	return i, known
}

// forget forgets a goroutine that has ended: its address may be another's soon.
func (n *numbers) forget(process uint32, address uint64) {
	delete(n.goroutines, goroutineKey{process, address})
}

// program is the file that a process runs.
func (n *numbers) program(process int32) string {
	path, known := n.programs[process]
	if !known {
		if exe, err := target.Executable(int(process)); err == nil {
			path = exe.Path
		}
		n.programs[process] = path
	}
	return path
}

// named notes a thread's name.
func (n *numbers) named(id, process uint32, name string) {
	n.threads[n.thread(id, process)].Name = name
}

// execed notes that a process runs another program. Its first thread has this ID now.
func (n *numbers) execed(id, process uint32, name string) {
	delete(n.programs, int32(process))
	t := recording.Thread{Name: name, Program: n.program(int32(process))}
	n.unborn[id] = t
	if i, known := n.byID[id]; known {
		n.threads[i].Name, n.threads[i].Program = t.Name, t.Program
	}
}

// place is the number of a place by that of the kernel side; 0: unknown.
func (n *numbers) place(id uint64) int32 { return numberOf(id, n.places, &n.placeIDs) }

// placeOfGoroutine is the same, of a place that begins in Go's runtime.
func (n *numbers) placeOfGoroutine(id uint64) int32 {
	i := n.place(id)
	if i >= 0 {
		n.ofRuntime[i] = true
	}
	return i
}

// stack is the number of a sample's stack.
func (n *numbers) stack(id uint64) int32 { return numberOf(id, n.stacks, &n.stackIDs) }

func numberOf(id uint64, known map[uint64]int32, all *[]uint64) int32 {
	if id == 0 {
		return recording.No
	}
	i, have := known[id]
	if !have {
		i = int32(len(*all))
		known[id] = i
		*all = append(*all, id)
	}
	return i
}

// object is the number of what a record is about.
func (n *numbers) object(r *record) int32 {
	o := recording.Object{Process: recording.No, Address: r.Object}
	switch bpf.RecordRecordObject(r.ObjectKind) {
	case bpf.RecordRecordObjectOBJECT_UNKNOWN:
		return recording.No
	case bpf.RecordRecordObjectOBJECT_FUTEX:
		o.Kind, o.Process = recording.Futex, int32(r.Process)
	case bpf.RecordRecordObjectOBJECT_SHARED_FUTEX:
		o.Kind = recording.Futex
	case bpf.RecordRecordObjectOBJECT_POLL_CALL:
		o.Kind, o.Process = recording.Poll, int32(r.Process)
	case bpf.RecordRecordObjectOBJECT_OF_RUNTIME:
		o.Kind, o.Process = recording.Channel, int32(r.Process)
	default:
		o.Kind = recording.ObjectKind(r.ObjectKind)
	}
	i, known := n.objects[o]
	if !known {
		i = int32(len(n.list))
		n.objects[o] = i
		n.list = append(n.list, o)
	}
	return i
}

// nameOf is the text that a record has behind it.
func nameOf(text []byte) string {
	if i := slices.Index(text, 0); i >= 0 {
		text = text[:i]
	}
	return string(text)
}
