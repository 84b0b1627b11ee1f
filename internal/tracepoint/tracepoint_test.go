package tracepoint

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"whatif/internal/code/symbol"
)

func TestSyscall(t *testing.T) {
	for name, want := range map[string]int{
		"read": unix.SYS_READ, "fstat": unix.SYS_FSTAT, "newfstat": unix.SYS_FSTAT, "sendmsg": unix.SYS_SENDMSG,
		"exit_group": unix.SYS_EXIT_GROUP, "umount2": unix.SYS_UMOUNT2, "umount": unix.SYS_UMOUNT2, "file_setattr": 469,
	} {
		if got, err := Syscall(name); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", name, got, err, want)
		}
	}
	for name, near := range map[string]string{
		"wirte": "write", "sendmesg": "sendmsg", "epol_wait": "epoll_pwait", "WRITE": "write", "": "",
		"sys_enter_write": "write", "xyzzy": "",
	} {
		_, err := Syscall(name)
		var missing *symbol.NotFound
		if !errors.As(err, &missing) ||
			near != "" && !slices.Contains(missing.Near, near) || near == "" && len(missing.Near) > 0 {
			t.Errorf("%q: %v, without %q", name, err, near)
		}
	}
}

func TestSyscallOf(t *testing.T) {
	for full, want := range map[string]string{
		"syscalls:sys_enter_write":   "write",
		"syscalls:sys_exit_newfstat": "newfstat at exit",
		"raw_syscalls:sys_enter":     "",
		"sched:sys_enter_write":      "",
		"syscalls:else":              "",
	} {
		category, name, _ := strings.Cut(full, ":")
		got, atExit, ok := SyscallOf(category, name)
		if atExit {
			got += " at exit"
		}
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v, want %q", full, got, ok, want)
		}
	}
}

func TestCheck(t *testing.T) {
	events := fstest.MapFS{}
	for _, name := range []string{
		"sched/sched_switch", "sched/sched_wakeup", "sched/sched_waking", "block/block_rq_issue",
		"syscalls/sys_enter_write",
	} {
		events[name+"/id"] = &fstest.MapFile{Data: []byte("1\n")}
	}
	events["sched/enable"] = &fstest.MapFile{}
	names := &Names{events: events}
	for full, want := range map[string]string{
		"sched:sched_switch":  "",
		"sched:sched_swich":   "no tracepoint sched:sched_swich in this kernel; there is sched:sched_switch",
		"sched:switch":        "there is sched:sched_switch",
		"shed:sched_switch":   "there is sched:sched_switch",
		"sched:enable":        "no tracepoint sched:enable in this kernel",
		"sched:../block":      "no tracepoint",
		"sched:":              "no tracepoint",
		"nothing:like_it":     "no tracepoint nothing:like_it in this kernel",
		"blok:block_rq_isue":  "there is block:block_rq_issue",
		"sched:*":             "no tracepoint",
		"sched:[":             "no tracepoint",
		"sched\x00:\x1b[2J\n": "no tracepoint",
	} {
		category, name, _ := strings.Cut(full, ":")
		err := names.Check(category, name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", full, err, want)
		}
	}
}

// TestOpen reads the kernel's list, and looks up the system calls that have tracepoints.
func TestOpen(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	names, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer names.Close()
	if err := names.Check("sched", "sched_switch"); err != nil {
		t.Error(err)
	}
	all, err := names.All()
	if err != nil {
		t.Fatal(err)
	}
	calls, unknown := 0, []string(nil)
	for _, full := range all {
		category, name, _ := strings.Cut(full, ":")
		if call, _, ok := SyscallOf(category, name); ok {
			calls++
			if _, err := Syscall(call); err != nil {
				unknown = append(unknown, call)
			}
		}
	}
	// A kernel may be newer than the table, or without tracepoints for system calls.
	t.Logf("%d tracepoints of system calls, unknown: %v", calls, unknown)
	if 10*len(unknown) > calls {
		t.Errorf("of %d system calls %d are not in the table", calls, len(unknown))
	}
}
