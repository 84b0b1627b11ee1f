package experiment

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// monitorSlack is by how much longer Go's monitor may sleep: its sleep then ends with an interrupt that comes anyway,
// such as the next tick. The monitor takes processors from goroutines that run for long or are in a long system call,
// and this can wait.
const monitorSlack = 4 * time.Millisecond

// calmMonitor makes the Go runtime's monitor wake less often. That thread sleeps for 20 µs at a time while any
// goroutine runs, so some fifty times whenever whatif has something to do. Where the program keeps all cores busy, each
// of these is two switches at its expense: 150 a second, and 0.7% of what the program does, on a virtual machine.
//
// The monitor is the first thread that the runtime makes. Threads that it makes itself inherit the slack; a program
// that whatif starts does not (target.restoreTimerSlack).
func calmMonitor() error {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("looking for the monitor's thread: %w", err)
	}
	var threads []int
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil && id != os.Getpid() {
			threads = append(threads, id)
		}
	}
	if len(threads) == 0 {
		return nil
	}
	path := fmt.Sprintf("/proc/%d/timerslack_ns", firstAfter(os.Getpid(), threads))
	if err := os.WriteFile(path, strconv.AppendInt(nil, int64(monitorSlack), 10), 0); err != nil {
		return fmt.Errorf("letting the monitor's thread sleep longer: %w", err)
	}
	return nil
}

// firstAfter is the thread that was made first: numbers go up from that of the process, and may begin anew.
func firstAfter(process int, threads []int) int {
	slices.Sort(threads)
	at, _ := slices.BinarySearch(threads, process)
	return threads[at%len(threads)]
}

// manyQuestions is for how long a program runs most of its code for the first time. The kernel side asks about each
// place then, and samples are lost while it waits for the answer.
const manyQuestions = time.Second

// oneAtATime makes one goroutine run at a time, once most questions have been answered, until the function that it
// returns is called. With more at a time, whenever one has something to do the runtime wakes another thread to look for
// more work, and that takes a core from the program.
func oneAtATime() func() {
	all := runtime.GOMAXPROCS(0)
	one := time.AfterFunc(manyQuestions, func() { runtime.GOMAXPROCS(1) })
	return func() {
		one.Stop()
		runtime.GOMAXPROCS(all)
	}
}
