package test

import (
	"os"
	"strings"
	"testing"
	"time"

	"whatif/internal/experiment"
	"whatif/internal/ledger"
	"whatif/internal/testing/realkernel"
	"whatif/internal/tracepoint"
)

// A BPF program can be attached to all tracepoints of the kernel: one of each category is tried, or with
// TRACEPOINTS=all in the environment all, which takes minutes.
func TestEveryTracepoint(t *testing.T) {
	realkernel.NeedBeside(t)
	names, err := tracepoint.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	all, err := names.All()
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{
		"ftrace":   true, // records of its own, not tracepoints
		"syscalls": true, // made of raw_syscalls, see tracepoint.SyscallOf
		// Probes that somebody may have added.
		"kprobes": true, "uprobes": true, "fprobes": true, "eprobes": true, "synthetic": true,
	}
	everyOne := os.Getenv("TRACEPOINTS") == "all"
	var l *ledger.Ledger
	n := 0
	for _, full := range all {
		category, name, _ := strings.Cut(full, ":")
		if tried[category] {
			continue
		}
		tried[category] = !everyOne
		if n%16 == 0 {
			if l != nil {
				l.Close()
			}
			if l, err = ledger.Open(ledger.Options{Period: time.Millisecond, Cap: time.Millisecond}); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.CountTracepoint(n%16, name); err != nil {
			t.Errorf("%s: %v", full, err)
		}
		n++
	}
	if l != nil {
		l.Close()
	}
	t.Logf("%d tracepoints", n)
	if n < 20 {
		t.Errorf("there are only %d categories of tracepoints: they are not read as they should", n)
	}
}

// Tracepoints within the scheduler, allocation, locks and interrupts, where the ledger's own programs run, can be
// counted all at once, and do not disturb each other or the ledger. A tracepoint that is passed in an interrupt is no
// thread's visit.
func TestAwkwardTracepoints(t *testing.T) {
	realkernel.NeedSession(t)
	names, err := tracepoint.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	points := []string{"func:visited", "syscall:getppid"}
	for _, full := range []string{
		"sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "sched:sched_process_fork",
		"sched:sched_process_exit", "timer:hrtimer_start", "timer:hrtimer_expire_entry", "irq:softirq_entry",
		"irq_vectors:local_timer_entry",
		"irq_vectors:reschedule_entry", "irq_vectors:call_function_single_entry", "nmi:nmi_handler",
		"lock:contention_begin", "kmem:kmalloc", "kmem:mm_page_alloc", "exceptions:page_fault_user",
	} {
		category, name, _ := strings.Cut(full, ":")
		if names.Check(category, name) == nil && len(points) < experiment.MaxPoints {
			points = append(points, "tracepoint:"+full)
		}
	}
	counts := realkernel.Compile(t, "testdata/counts.c")
	flags := []string{"--experiment", "20ms"}
	for _, p := range points {
		flags = append(flags, "-p", p)
	}
	data, said := profiled(t, flags, []string{counts, "threads", "2000"}, 0)
	visits := map[string]int64{}
	for i, n := range data.End.Visits {
		visits[points[i]] = n
	}
	t.Log(said, visits)
	for point, want := range map[string]int64{
		"func:visited": 2000, "syscall:getppid": 2000,
		"tracepoint:sched:sched_process_fork":   2000,
		"tracepoint:sched:sched_process_exit":   2001,
		"tracepoint:timer:hrtimer_expire_entry": 0,
	} {
		if got, ok := visits[point]; ok && got != want {
			t.Errorf("%s: %d visits, want %d", point, got, want)
		}
	}
}
