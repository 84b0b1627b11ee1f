package doctor

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestSoftirqThreads(t *testing.T) {
	const ordinary = "#1 SMP PREEMPT_DYNAMIC Debian 6.12.95-1 (2026-01-01)\n"
	for _, test := range []struct {
		name, version, commandLine, realTime string
		refused                              string // a part of the reason; "": the kernel is accepted
	}{
		{"ordinary", ordinary, "root=/dev/vda1 quiet\n", "", ""},
		{"PREEMPT_RT", "#1 SMP PREEMPT_RT Debian 6.1.192-2 (2026-01-01)\n", "quiet\n", "", "PREEMPT_RT"},
		{"its patch", ordinary, "quiet\n", "1\n", "PREEMPT_RT"},
		{"its first versions", "#1 SMP PREEMPT RT 2019-10-01\n", "quiet\n", "", "PREEMPT_RT"},
		{"a patch that is switched off", ordinary, "quiet\n", "0\n", ""},
		{"threadirqs", ordinary, "quiet threadirqs\n", "", "threadirqs"},
		{"threadirqs with a value", ordinary, "threadirqs=1 quiet\n", "", "threadirqs"},
		{"a name that contains it", ordinary, "nothreadirqs foo.threadirqs\n", "", ""},
		{"for init", ordinary, "quiet -- threadirqs\n", "", ""},
		{"nothing to read", "", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{
				"proc/sys/kernel/version": {Data: []byte(test.version)},
				"proc/cmdline":            {Data: []byte(test.commandLine)},
			}
			if test.realTime != "" {
				root["sys/kernel/realtime"] = &fstest.MapFile{Data: []byte(test.realTime)}
			}
			a := softirqThreads(root)
			if a.ok != (test.refused == "") || !strings.Contains(a.why, test.refused) {
				t.Errorf("%+v", a)
			}
			if !a.ok && a.fix == "" {
				t.Error("nothing is said that could be done about it")
			}
		})
	}
}

// The check is needed, so that run, attach and system refuse such a kernel. It comes before the checks of features that
// such a kernel lacks.
func TestSoftirqThreadsAreNeeded(t *testing.T) {
	for _, c := range checks() {
		switch c.name {
		case "bpf_timer":
			t.Fatal("the check of bpf_timer comes first")
		case "softirqs":
			if !c.needed {
				t.Error("it is advice only")
			}
			return
		}
	}
}
