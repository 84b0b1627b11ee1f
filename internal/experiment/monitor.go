package experiment

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// monitorSlack is by how much what Go's monitor sleeps may take longer: it then ends with an interrupt that comes
// anyway, such as the next tick. What the monitor is needed for, to take processors from goroutines that are in a long
// system call or run for long, can wait for that.
const monitorSlack = 4 * time.Millisecond

// calmMonitor has the Go runtime's monitor wake less often. That thread sleeps for 20 µs at a time while any goroutine runs, so
// some fifty times whenever whatif has something to do, and where the program keeps all cores busy each of these is two
// switches at its expense: 150 a second, and 0.7% of what the program does, on a virtual machine. The monitor is the first thread that the runtime
// makes. Threads that it makes itself inherit the slack; who starts a program gives it back (target.restoreTimerSlack).
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

// firstAfter is the thread that was made first: numbers go up from the process's, and may begin anew.
func firstAfter(process int, threads []int) int {
	slices.Sort(threads)
	at, _ := slices.BinarySearch(threads, process)
	return threads[at%len(threads)]
}

// manyQuestions is for how long a program runs most of its code for the first time: the samples of what is not yet
// answered are lost.
const manyQuestions = time.Second

// oneAtATime has one goroutine run at a time, from when the program has been asked most about until what it returns is
// called: with more, each that has something to do has the runtime wake another thread, to look for more, which takes a
// core from the program.
func oneAtATime() func() {
	all := runtime.GOMAXPROCS(0)
	one := time.AfterFunc(manyQuestions, func() { runtime.GOMAXPROCS(1) })
	return func() {
		one.Stop()
		runtime.GOMAXPROCS(all)
	}
}
