// Package recording is what a target did during some seconds in which nothing was delayed: which thread ran where and
// when, what let a waiting thread go on, in which code samples fell, and when points were visited. Package simulate
// runs it again. A recording is complete in itself: it can be read on another machine, without the target's files.
package recording

// Recording is one recording. Threads, points, objects, places and stacks are named by their number in its lists.
type Recording struct {
	Cores   int   // that the target could use
	Period  int64 // ns of running between two samples, on average
	Began   int64 // ns since 1970
	Length  int64 // ns from its begin to its end, whatever share of it the windows cover
	Cache   int64 // bytes that a core's own caches have; 0: not known
	Windows []Window
	Threads []Thread
	Points  []Point
	Objects []Object
	Places  []Place
	Stacks  []Stack
	Frames  []Frame
	Losses  Losses
	Costs   Costs
}

// Window is a stretch of time in which everything was recorded. There are several where events came too often to record
// all of them. Times are ns since the recording's begin.
type Window struct {
	Begin, End int64
	Events     []Event // by time. The first ones are State, one for each thread that exists at the begin.
}

// No is the number of no thread, point, object, place or stack.
const No = -1

// Numbers of what a core runs besides the target's threads.
const (
	Idle     = -1 // nothing
	Stranger = -2 // a thread that is not of the target
)

// Kind is what happened in an event.
type Kind uint8

// The fields that a kind uses are named behind it. All have Time, and CPU where it is known.
const (
	State  Kind = iota // Thread is, as the window begins, in Condition. Waiting: Place, Object.
	Switch             // Thread leaves the core, and Other comes. Thread is then in Condition. Waiting: Place, Object.
	Wake               // Other need not wait any more. Cause and Class; ByThread: Thread, Place, Object.
	Sample             // Thread ran at Stack. Key: see Reading
	Visit              // Thread visits Point. Role and Key for a latency.
	Fork               // Thread makes Other. Place, of a goroutine.
	Run                // Thread, a thread of the kernel, begins to run Other, a goroutine, or No; the last is in Condition
	Park               // Thread, a goroutine, waits from now on, for another goroutine or for outside. Place, Object.
	Ready              // Other, a goroutine, need not wait any more. Cause, Class; ByThread: a goroutine or No, Place
)

// Condition is what a thread does that is on no core, or comes from one.
type Condition uint8

// The conditions.
const (
	Running  Condition = iota // on the core CPU
	Runnable                  // it has been preempted, or has given up its core, and can go on
	Waiting                   // until a Wake
	Ended
)

// Cause is who or what ended a wait.
type Cause uint8

// The causes.
const (
	ByThread   Cause = iota // of the target, itself or by what it sent
	ByStranger              // a thread that is not of the target
	ByTimer
	ByDevice
)

// Class is what a thread waited for. The numbers are those of the kernel side.
type Class uint8

// The classes of waiting.
const (
	Other Class = iota
	Disk
	Net // a network, or a process outside the target
	Sleep
	Lock // another thread of the target, whatever it was asked for
	Child
	CPU // a core
	Classes
)

// Role is what a visit is to a point whose latency is asked for.
type Role uint8

// The roles.
const (
	Whole Role = iota // visits are counted, and that is all
	Begin
	End
)

// Event is something that happened at one moment.
type Event struct {
	Time      int64
	Key       uint64 // of a request that begins or ends, where the program says which; of a sample: see Reading
	Thread    int32
	Other     int32
	Place     int32
	Object    int32
	Stack     int32
	Point     int32
	CPU       int16
	Kind      Kind
	Condition Condition
	Cause     Cause
	Class     Class
	Role      Role
}

// Thread is a thread of the kernel, or a goroutine.
type Thread struct {
	ID, Process int32 // as the kernel numbers them; a goroutine's by its runtime
	Name        string
	Program     string // the file that its process runs
	Goroutine   bool
	Nice        int8
	Allowed     []int16 // the cores that it may run on; empty: all
}

// Point is a progress point.
type Point struct {
	Name    string
	Latency bool // visits have roles
}

// ObjectKind is what kind of object threads wait at.
type ObjectKind uint8

// The kinds, as far as the system call tells.
const (
	Unknown ObjectKind = iota
	Futex
	Pipe
	Socket
	Poll
	File
	Process
	Channel // of a language's runtime
)

// Object is something that threads wait at. Address tells objects of one kind apart, within Process or, if that is No,
// on the whole machine.
type Object struct {
	Kind    ObjectKind
	Process int32
	Address uint64
}

// Place is where a thread waits, or wakes another: its stack, and where in the program it was.
type Place struct {
	Stack   int32 // No: unknown
	Address uint64
	Pointer uint64 // the stack pointer, which tells apart calls at other depths
}

// Stack is the frames of one sample or place, the innermost first. Inlined functions have frames of their own.
type Stack []int32

// Frame is one function in a stack.
type Frame struct {
	Function string // as its language prints it, with parameters
	Short    string // Function as users write it, without parameters; "": the same
	File     string // the full path that a report shows; "": not known
	Line     int32  // 0: not known
	Binary   string
	Kernel   bool
	Inlined  bool // the next frame of the stack is the code that this one was inlined into
	InScope  bool // this code can be sped up; time elsewhere belongs to the frame that called it
	Spins    bool // the instruction is in a loop that waits busily for something

	// Of the innermost frame of a sample; 0: not known.
	Access Access
	Nearby uint8 // percent of the instructions of its loop, 1 to 101: that of which Access is BehindAccess, and 1
}

// Access says whether the program accesses memory where a sample met it. A core that waits for memory is met at the
// instruction behind the access.
type Access uint8

// The kinds.
const (
	UnknownAccess Access = iota
	NoAccess
	BehindAccess
)

// Reading says how long a core took at a sample to read some cache lines that it had read 1, 4 and 16 samples before,
// in ns; 0: something else ran meanwhile, or nothing is known. If the program has replaced what the core's own caches
// had, they come from elsewhere, which takes several times as long. again is what it took to read lines that had just
// been read.
func (e *Event) Reading() (ns [3]int, again int) {
	for i := range ns {
		ns[i] = int(e.Key >> (16 * i) & 0xffff)
	}
	return ns, int(e.Key >> 48)
}

// ReadAfter is after how many samples the lines of each number of Reading are read again.
var ReadAfter = [3]int{1, 4, 16}

// Costs are for how many ns, on average, it kept a core busy to record an event of a kind, from about the event's time
// on: without whatif the program would have gone on meanwhile. 0: not known.
type Costs struct {
	Switch    int64
	Wake      int64
	Sample    int64
	Visit     int64
	Goroutine int64 // Run, Park and Ready
}

// Losses are how much a recording does not have.
type Losses struct {
	Events   int64 // that found no room
	Repaired int64 // that were missing, and follow from others
	LeftOut  int64 // ns of windows that could not be repaired
	Outside  int64 // ns between windows
	Stops    int64 // of cores, made by whatif meanwhile: always 0
}
