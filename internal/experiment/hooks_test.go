package experiment

import (
	"os"
	"strings"
	"testing"
	"time"

	"whatif/internal/ledger"
	"whatif/internal/realkernel"
	"whatif/internal/tracepoint"
)

// A program can be attached to whatever the kernel has tracepoints for: of each category one, or with
// TRACEPOINTS=all in the environment all, which takes minutes.
func TestEveryTracepoint(t *testing.T) {
	realkernel.Need(t)
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
		"syscalls": true, // made of raw_syscalls, see tracepoint.OfSyscall
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
