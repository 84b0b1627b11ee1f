package simulate

import (
	"testing"

	"whatif/internal/recording"
)

// What a thread waits for is told by the innermost function with a telling name, also where the C library has no debug
// information, and where the system call is deep within it.
func TestPrimitive(t *testing.T) {
	for _, c := range []struct {
		frames []string // the innermost first
		want   primitive
	}{
		{[]string{"__lll_lock_wait", "pthread_mutex_lock", "work"}, namedLock},
		{[]string{"", "pthread_cond_wait", "std::condition_variable::wait(std::unique_lock<std::mutex>&)"}, namedCondition},
		{[]string{"", "", "std::condition_variable::wait(std::unique_lock<std::mutex>&)", "pool"}, namedCondition},
		{[]string{"", "std::__condvar::wait_until(std::mutex&, timespec&)", "work"}, namedCondition},
		{[]string{"", "std::_V2::condition_variable_any::wait<std::unique_lock<std::mutex> >(std::unique_lock<std::mutex>&)"},
			namedCondition},
		{[]string{"__syscall_cancel_arch", "__internal_syscall_cancel", "__syscall_cancel", "__futex_abstimed_wait_common64",
			"__futex_abstimed_wait_cancelable64", "___pthread_cond_wait", "work"}, namedCondition},
		{[]string{"__lll_lock_wait", "__pthread_mutex_cond_lock", "pthread_cond_wait"}, namedLock},
		{[]string{"__futex_abstimed_wait_common", "__new_sem_wait_slow64", "work"}, namedSemaphore},
		{[]string{"futex_wait", "pthread_barrier_wait", "work"}, namedBarrier},
		{[]string{"runtime.futex", "sync.(*Mutex).lockSlow", "main.work"}, namedLock},
		{[]string{"std::sys::pal::unix::futex::futex_wait", "std::sys::sync::mutex::futex::Mutex::lock_contended"},
			namedLock},
		{[]string{"<std::sync::poison::condvar::Condvar>::wait", "<std::sync::mutex::Mutex<u64>>::lock"}, namedCondition},
		{[]string{"read", "one", "two", "take_mutex"}, namedNothing},
		{[]string{"read", "second_stage", "assem_", "work"}, namedNothing},
		{[]string{"", "", "", "", "", "", "", "", "take_mutex"}, namedNothing}, // nothing is known of so deep a stack
	} {
		rec := &recording.Recording{Places: []recording.Place{{Stack: 0}}, Stacks: []recording.Stack{nil}}
		for i, f := range c.frames {
			short := f
			for j, r := range f {
				if r == '(' && j > 0 && f[j-1] != '.' { // as symbols are read: of Go's names nothing is taken away
					short = f[:j]
					break
				}
			}
			rec.Frames = append(rec.Frames, recording.Frame{Function: f, Short: short})
			rec.Stacks[0] = append(rec.Stacks[0], int32(i))
		}
		if got := (&Machine{rec: rec}).primitive(0); got != c.want {
			t.Errorf("%q: %d, want %d", c.frames, got, c.want)
		}
	}
}
