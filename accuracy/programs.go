package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// kind decides how much error a program is allowed (see limits).
type kind string

const (
	ordinary kind = "ordinary"
	spinning kind = "spinning" // threads wait for each other without sleeping
	timed    kind = "timed"    // the mean latency of requests
	tail     kind = "tail"     // quantiles of the latency
	zero     kind = "zero"     // the target is off the critical path, so the gain is 0
	crossing kind = "crossing" // processes wake each other
	waiting  kind = "waiting"  // the target is something that threads wait for
	library  kind = "library"  // the target's time is in a system library
	made     kind = "made"     // the code is made while the program runs
)

// program is one entry of the suite.
type program struct {
	name string
	// group is the name by which the program is chosen together with others. A program without a group is a part of the
	// suite, which is studied if no names are given.
	group   string
	source  string   // below accuracy/programs
	defines []string // for the compiler
	flags   []string // for the compiler, too; libraries come last; of a Java program for the VM
	config  []string // a command that prints further flags; not for coz
	// point is the function that is called once a visit; empty: progress_done. With a colon it is any other point's spec.
	point string
	kind  kind
	// latency is the value of --latency, for programs that time their requests. The latency's mean and quantiles are
	// then predicted, too, and compared with those that the program prints.
	latency string
	// coz means that coz can run the program: one process, in C or C++. coz does not follow forks, and needs its macro in
	// the source.
	coz bool
	// seconds is the length of a truth run, for programs with so few visits that the usual length is too short.
	seconds float64
	// batch: the program ends by itself, and seconds is its SECONDS argument, also in predictions.
	batch bool
	// partner: the program communicates with a process outside of the target, which is started as "NAME client".
	partner bool
	// kernel is the kernel's function that does the target's work. The prediction is for this function instead of the
	// line.
	kernel string
	// target is what the prediction is for, as -t has it, if it is not the line.
	target string
	// function is a second target, as -t has it: it has the same truth, and a prediction of its own.
	function string
	// ranked: whatif is also told no target, and has to find it: it is to be the one with the largest gain.
	ranked bool
	// jar is a jar that a Java program needs beside its own classes.
	jar string
	// runtime has options by which a runtime writes down the code that it makes. Only predictions need them.
	runtime []string
	// wait is a class of waiting. The prediction is for this class instead of the line, which does all such waiting of
	// the program.
	wait string
	// ranks is the number of processes that mpirun starts; 0: it is not an MPI program.
	ranks int
	// model has the gains of a perfect machine at 25, 50, 75 and 100%, by arithmetic; nil if only a measurement can
	// tell. It is printed beside the truth as a check of the program, and judges nothing.
	model []float64
}

// requestLatency is the latency of the programs that have one. They pass requests from thread to thread, so a request
// is identified by its number.
const requestLatency = "request=func:request_begin%arg1..func:request_end%arg1"

var programs = append([]program{
	{name: "barrier", source: "barrier/barrier.c", kind: ordinary, coz: true, model: []float64{25, 33, 33, 33}},
	{name: "barrier_fine", source: "barrier/barrier.c", defines: []string{"FINE"}, kind: ordinary, coz: true,
		model: []float64{25, 33, 33, 33}},
	{name: "lock", source: "lock/lock.c", kind: ordinary, coz: true, model: []float64{25, 45, 57, 70}},
	{name: "timed_lock", source: "timed_lock/timed_lock.c", kind: ordinary, coz: true, model: []float64{20, 40, 60, 75}},
	{name: "poll_batch", source: "poll_batch/poll_batch.c", kind: ordinary, coz: true, model: []float64{14, 29, 43, 57}},
	{name: "poll_turns", source: "poll_turns/poll_turns.c", kind: ordinary, coz: true, model: []float64{14, 27, 41, 56}},
	{name: "poll_children", source: "poll_children/poll_children.c", kind: ordinary, model: []float64{15, 29, 42, 42}},
	{name: "independent", source: "independent/independent.c", kind: ordinary, coz: true,
		model: []float64{17, 33, 50, 67}},
	{name: "independent_beside", source: "independent/independent.c", defines: []string{"BESIDE"}, kind: ordinary,
		partner: true,
		model:   []float64{17, 33, 50, 67}},
	{name: "thread_each", source: "thread_each/thread_each.c", kind: ordinary, coz: true,
		model: []float64{25, 33, 33, 33}},
	{name: "alternate", source: "alternate/alternate.c", kind: ordinary, coz: true, model: []float64{12.5, 25, 37.5, 50}},
	{name: "two_kinds", source: "two_kinds/two_kinds.c", kind: ordinary, coz: true, model: []float64{19, 38, 56, 75}},
	{name: "two_kinds_nice", source: "two_kinds/two_kinds.c", defines: []string{"PROGRESSING_NICE=5"}, kind: ordinary,
		coz:   true,
		model: []float64{19, 38, 56, 75}},
	{name: "two_kinds_background", source: "two_kinds/two_kinds.c", defines: []string{"COMPUTING_NICE=5"}, kind: ordinary,
		coz:   true,
		model: []float64{19, 38, 56, 75}},
	{name: "pipeline", source: "pipeline/pipeline.c", kind: ordinary, coz: true, model: []float64{25, 44, 56, 63}},
	{name: "pipeline_fine", source: "pipeline/pipeline.c", defines: []string{"FINE"}, kind: ordinary, coz: true,
		model: []float64{25, 37.5, 37.5, 37.5}},
	{name: "pipeline_mid", source: "pipeline_mid/pipeline_mid.c", kind: ordinary, coz: true,
		model: []float64{25, 25, 25, 25}},
	{name: "spin", source: "spin/spin.c", kind: spinning, coz: true, model: []float64{17, 33, 50, 67}},
	{name: "spin_fine", source: "spin/spin.c", defines: []string{"FINE"}, kind: spinning, coz: true,
		model: []float64{12.5, 25, 37.5, 50}},
	{name: "spin_yield", source: "spin/spin.c", defines: []string{"YIELD"}, kind: spinning, coz: true,
		model: []float64{16, 31, 47, 62}},
	{name: "spin_barrier", source: "spin_barrier/spin_barrier.c", kind: spinning, coz: true,
		model: []float64{25, 33, 33, 33}},
	{name: "contended_spin", source: "contended_spin/contended_spin.c", kind: spinning, coz: true},
	{name: "off_path", source: "off_path/off_path.c", kind: zero, coz: true, model: []float64{0, 0, 0, 0}},
	{name: "cpp_phases", source: "cpp_phases/cpp_phases.cc", kind: ordinary, coz: true,
		model: []float64{12.5, 25, 33, 33}},
	{name: "libc_call", source: "libc_call/libc_call.c", kind: ordinary, coz: true,
		model: []float64{13, 27, 40, 53}},
	{name: "qsort_call", source: "qsort_call/qsort_call.c", flags: []string{"-fomit-frame-pointer"}, kind: library,
		coz: true},
	{name: "memcpy_call", source: "memcpy_call/memcpy_call.c", flags: []string{"-fomit-frame-pointer"}, kind: library,
		coz: true},
	{name: "deflate_call", source: "deflate_call/deflate_call.c", flags: []string{"-fomit-frame-pointer", "-lz"},
		kind: library,
		coz:  true},
	{name: "call_path", source: "call_path/call_path.c", flags: []string{"-fomit-frame-pointer"}, kind: ordinary,
		model: []float64{17, 33, 50, 50}},
	{name: "mmap_kernel", source: "mmap_kernel/mmap_kernel.c", kind: ordinary, coz: true},
	{name: "write_bytes", source: "write_bytes/write_bytes.c", kernel: "generic_perform_write", kind: ordinary},
	{name: "mmap_pages", source: "mmap_pages/mmap_pages.c", kernel: "vm_mmap_pgoff", kind: ordinary},
	{name: "scan_entries", source: "scan_entries/scan_entries.c", kernel: "iterate_dir", kind: ordinary},
	{name: "sleep_compute", source: "sleep_compute/sleep_compute.c", kind: waiting, model: []float64{10, 20, 30, 40}},
	{name: "sleep_barrier", source: "sleep_barrier/sleep_barrier.c", kind: waiting, model: []float64{25, 33, 33, 33}},
	{name: "compute_barrier", source: "sleep_barrier/sleep_barrier.c", defines: []string{"COMPUTE"}, kind: zero,
		model: []float64{0, 0, 0, 0}},
	{name: "sleep_eight", source: "sleep_eight/sleep_eight.c", kind: waiting},
	{name: "lock_sleep", source: "lock_sleep/lock_sleep.c", kind: waiting, model: []float64{25, 50, 75, 75}},
	{name: "backoff", source: "backoff/backoff.c", kind: waiting},
	{name: "direct_read", source: "direct_read/direct_read.c", kind: waiting},
	{name: "fsync_barrier", source: "fsync_barrier/fsync_barrier.c", kind: waiting},
	{name: "io_barrier_read", source: "io_barrier/read.c", defines: []string{"LONG_READ"}, kind: waiting},
	{name: "io_barrier_work", source: "io_barrier/work.c", defines: []string{"LONG_READ"}, kind: waiting,
		model: []float64{0, 0, 0, 0}},
	{name: "work_barrier_read", source: "io_barrier/read.c", kind: waiting, model: []float64{0, 0, 0, 0}},
	{name: "work_barrier_work", source: "io_barrier/work.c", kind: waiting},
	{name: "wait_sleep", source: "sleep_compute/sleep_compute.c", wait: "sleep", kind: waiting,
		model: []float64{10, 20, 30, 40}},
	{name: "wait_disk", source: "direct_read/direct_read.c", defines: []string{"WAITING"}, wait: "disk", kind: waiting},
	{name: "wait_net", source: "slow_server/slow_server.c", wait: "net", kind: waiting, partner: true},
	{name: "slow_server", source: "slow_server/slow_server.c", kind: waiting, partner: true},
	{name: "fork_pipe", source: "fork_pipe/fork_pipe.c", kind: ordinary, model: []float64{25, 40, 40, 40}},
	{name: "fork_pipe_free", source: "fork_pipe/fork_pipe.c", defines: []string{"FREE"}, kind: ordinary,
		model: []float64{25, 45, 55, 55}},
	{name: "socketpair", source: "socketpair/socketpair.c", kind: ordinary, model: []float64{16, 32, 48, 64}},
	{name: "served", source: "served/served.c", kind: ordinary, partner: true, model: []float64{12.5, 25, 37.5, 50}},
	{name: "served_inside", source: "served/served.c", defines: []string{"INSIDE"}, kind: ordinary,
		model: []float64{12.5, 25, 37.5, 50}},
	{name: "served_sleeping", source: "served/served.c", defines: []string{"SLEEPING"}, kind: ordinary, partner: true},
	{name: "served_sleeping_inside", source: "served/served.c", defines: []string{"SLEEPING", "INSIDE"}, kind: ordinary},
	{name: "served_crowd", source: "served/served.c", defines: []string{"CROWD"}, kind: ordinary, partner: true},
	{name: "served_crowd_inside", source: "served/served.c", defines: []string{"CROWD", "INSIDE"}, kind: ordinary},
	{name: "served_busy", source: "served/served.c", defines: []string{"BUSY"}, kind: ordinary, partner: true,
		model: []float64{0, 0, 0, 0}},
	{name: "served_busy_inside", source: "served/served.c", defines: []string{"BUSY", "INSIDE"}, kind: ordinary,
		model: []float64{0, 0, 0, 0}},
	{name: "exec_tree", source: "exec_tree/exec_tree.c", kind: ordinary, seconds: 1.5,
		model: []float64{15, 30, 45, 60}},
	{name: "batch", source: "batch/batch.c", kind: ordinary, batch: true, seconds: 0.4,
		model: []float64{10, 20, 30, 40}},
	{name: "go_channels", source: "go_channels/main.go", point: "main.progressDone", kind: ordinary,
		model: []float64{25, 40, 40, 40}},
	{name: "go_mutex", source: "go_mutex/main.go", point: "main.progressDone", kind: ordinary,
		model: []float64{25, 45, 58, 70}},
	{name: "go_sleep", source: "go_sleep/main.go", point: "main.progressDone", kind: waiting,
		model: []float64{10, 20, 30, 40}},
	{name: "open_loop", source: "open_loop/open_loop.c", latency: requestLatency, kind: ordinary, seconds: 3,
		model: []float64{0, 0, 0, 0}},
	{name: "open_loop_two", source: "open_loop/open_loop.c", defines: []string{"TWO"}, latency: requestLatency,
		kind: ordinary, seconds: 3, model: []float64{0, 0, 0, 0}},
	{name: "omp_for", source: "omp_for/omp_for.c", flags: []string{"-fopenmp"}, kind: ordinary,
		model: []float64{25, 33, 33, 33}},
	{name: "rw_lock", source: "rw_lock/rw_lock.c", kind: ordinary},
	{name: "epoll_loop", source: "epoll_loop/epoll_loop.c", kind: ordinary, model: []float64{17, 33, 50, 58}},
	{name: "memory_walk", source: "memory_walk/memory_walk.c", kind: ordinary},
	{name: "broadcast", source: "broadcast/broadcast.c", kind: ordinary, model: []float64{13, 26, 39, 52}},
	{name: "rust_pool", source: "rust_pool/rust_pool.rs", kind: ordinary, model: []float64{17, 33, 50, 67}},
	{name: "mpi_sort", group: "mpi", source: "mpi_sort/mpi_sort.c", kind: ordinary, ranks: 2, seconds: 0.5},
	{name: "mpi_sort_four", group: "mpi", source: "mpi_sort/mpi_sort.c", kind: crossing, ranks: 4, seconds: 0.5},
	{name: "mpi_scatter", group: "mpi", source: "mpi_scatter/mpi_scatter.c", kind: ordinary, ranks: 2, seconds: 2},
}, slices.Concat(across(), forms(), madeAtRunTime())...)

// across lists programs with processes that wake each other, one program for each way. Pipes and socketpairs are in the
// suite itself.
func across() []program {
	var group []program
	for _, way := range []string{"tcp", "eventfd", "signal", "mutex", "posix", "sysv", "epoll", "uring", "exit"} {
		group = append(group, program{name: "across_" + way, group: "across", source: "across/across.c", kind: crossing,
			defines: []string{strings.ToUpper(way)}, model: []float64{25, 40, 40, 40}})
	}
	return group
}

// metrics lists the metrics that are predicted for a program, throughput first.
func (p *program) metrics() []string {
	if p.latency == "" {
		return []string{throughput}
	}
	return []string{throughput, "latency", "p50", "p95", "p99"}
}

// kindOf is the kind of a latency's metrics.
var kindOf = map[string]kind{"latency": timed, "p50": tail, "p95": tail, "p99": tail}

// command is the command line that runs what was built of the program.
func (p *program) command(binary string, args ...string) []string {
	if p.managed() {
		return append(p.managedCommand(binary, nil), args...)
	}
	var command []string
	if p.ranks > 0 {
		// The program chooses its processors itself, like the other programs.
		command = []string{"mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
			"-n", strconv.Itoa(p.ranks)}
	}
	return append(append(command, binary), args...)
}

// profiled is command for a prediction.
func (p *program) profiled(binary string, args ...string) []string {
	if p.managed() {
		return append(p.managedCommand(binary, p.runtime), args...)
	}
	return p.command(binary, args...)
}

// benchJava has what Java programs share, and the line that is their progress point.
const benchJava, javaPointMark = "Bench.java", "// POINT"

// pointSpec is the program's progress point, as -p has it.
func (p *program) pointSpec() string {
	switch {
	case p.point == "":
		return "func:progress_done"
	case strings.Contains(p.point, ":"):
		return p.point
	}
	return "func:" + p.point
}

// choose returns the programs and groups with these names, in the suite's order. Without names it returns the programs
// that are in no group.
func choose(names []string) ([]program, error) {
	if len(names) == 0 {
		names = []string{""} // the programs without a group
	}
	found := map[string]bool{}
	var chosen []program
	for _, p := range programs {
		if slices.Contains(names, p.name) || slices.Contains(names, p.group) {
			chosen = append(chosen, p)
			found[p.name], found[p.group] = true, true
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, fmt.Errorf("choosing programs: no program or group is called %q", name)
		}
	}
	return chosen, nil
}

// targetMark is the comment on a program's target line. If "<" and the name of a function follow, the line is the
// target only when that function calls it.
const targetMark = "// TARGET"

// place is a target: a line of a program's source, or what replaces it.
type place struct {
	file string // the base name: profilers match the end of a path
	line int
	// callers is empty, or the function from which the line must be called: "<put".
	callers string
	kernel  string // the kernel's function that is the target instead of the line
	spec    string // what is the target instead of the line, as -t has it
}

func (t place) String() string {
	if t.kernel != "" {
		return "func:" + t.kernel
	}
	if t.spec != "" {
		return t.spec
	}
	return fmt.Sprintf("%s:%d%s", t.file, t.line, t.callers)
}

// targetOf finds the only marked line of a source file.
func targetOf(path string) (place, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return place{}, fmt.Errorf("finding the target: %w", err)
	}
	line, callers, err := markedLine(string(text), targetMark)
	if err != nil {
		return place{}, fmt.Errorf("finding the target in %s: %w", path, err)
	}
	return place{file: filepath.Base(path), line: line, callers: callers}, nil
}

// markedLine finds the only line with a mark at its end, or with the mark and callers.
func markedLine(text, mark string) (line int, callers string, err error) {
	for i, l := range strings.Split(text, "\n") {
		_, rest, marked := strings.Cut(strings.TrimRight(l, " \t\r"), mark)
		if !marked || rest != "" && rest[0] != '<' {
			continue
		}
		if line != 0 {
			return 0, "", fmt.Errorf("lines %d and %d are both marked %q", line, i+1, mark)
		}
		line, callers = i+1, rest
	}
	if line == 0 {
		return 0, "", fmt.Errorf("no line is marked %q", mark)
	}
	return line, callers, nil
}
