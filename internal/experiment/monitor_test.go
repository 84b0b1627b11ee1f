package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/testing/realkernel"
)

// The threads of Go's monitor sleep longer.
func TestMonitorIsCalm(t *testing.T) {
	realkernel.NeedKernel(t)
	if err := calmMonitor(); err != nil {
		t.Fatal(err)
	}
	threads, err := filepath.Glob("/proc/self/task/*")
	if err != nil {
		t.Fatal(err)
	}
	calm := 0
	for _, thread := range threads {
		text, err := os.ReadFile("/proc/" + filepath.Base(thread) + "/timerslack_ns")
		if err != nil {
			continue // it has ended
		}
		if strings.TrimSpace(string(text)) == fmt.Sprint(monitorSlack.Nanoseconds()) {
			calm++
		}
	}
	if calm == 0 { // more, where the monitor has made some
		t.Errorf("none of %d threads sleeps longer", len(threads))
	}
}

func TestFirstAfter(t *testing.T) {
	for _, c := range []struct {
		process, first int
		threads        []int
	}{{100, 101, []int{104, 101, 103}}, {32766, 32767, []int{301, 32767, 300}}, {32767, 300, []int{302, 300}}} {
		if first := firstAfter(c.process, c.threads); first != c.first {
			t.Errorf("of process %d: %d, want %d", c.process, first, c.first)
		}
	}
}
