package doctor

import (
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"whatif/internal/privilege"
)

func files(pairs ...string) fstest.MapFS {
	root := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		root[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return root
}

func TestMachine(t *testing.T) {
	const clock = "sys/devices/system/clocksource/clocksource0/current_clocksource"
	for _, test := range []struct {
		name  string
		check func(fs.FS) answer
		root  fstest.MapFS
		ok    bool
		text  string // a part of why or fix
	}{
		{"new kernel", kernelVersion, files("proc/sys/kernel/osrelease", "6.18.44-fc\n"), true, "6.18.44-fc"},
		{"old kernel", kernelVersion, files("proc/sys/kernel/osrelease", "5.15.0-91-generic\n"), false, "6.7"},
		{"types", kernelTypes, files("sys/kernel/btf/vmlinux", "x"), true, "MB"},
		{"no types", kernelTypes, files(), false, "CONFIG_DEBUG_INFO_BTF"},
		{"no lockdown", lockdown, files(), true, "none"},
		{"lockdown off", lockdown, files("sys/kernel/security/lockdown", "[none] integrity confidentiality\n"), true, "none"},
		{"integrity", lockdown,
			files("sys/kernel/security/lockdown", "none [integrity] confidentiality\n"), true, "integrity"},
		{"confidentiality", lockdown,
			files("sys/kernel/security/lockdown", "none integrity [confidentiality]\n"), false, "secure boot"},
		{"yama", ptraceScope, files("proc/sys/kernel/yama/ptrace_scope", "1\n"), true, "1"},
		{"yama strict", ptraceScope, files("proc/sys/kernel/yama/ptrace_scope", "3\n"), false, "ptrace_scope=2"},
		{"jit", jit, files("proc/sys/net/core/bpf_jit_enable", "1\n"), true, "on"},
		{"no jit", jit, files("proc/sys/net/core/bpf_jit_enable", "0\n"), false, "bpf_jit_enable=1"},
		{"rate", sampleRate, files("proc/sys/kernel/perf_event_max_sample_rate", "100000\n"), true, "100000"},
		{"low rate", sampleRate, files("proc/sys/kernel/perf_event_max_sample_rate", "250\n"), false, "250 samples"},
		{"tsc", clockSource, files(clock, "tsc\n"), true, "tsc"},
		{"hpet", clockSource, files(clock, "hpet\n"), false, "dmesg"},
		{"smt", smt, files("sys/devices/system/cpu/smt/active", "1\n"), false, "taskset"},
		{"no smt", smt, files("sys/devices/system/cpu/smt/active", "0\n"), true, "off"},
		{"no isolated CPUs", isolated,
			files("sys/devices/system/cpu/isolated", "\n", "sys/devices/system/cpu/nohz_full", "(null)\n"),
			true, "none"},
		{"isolated CPUs", isolated, files("sys/devices/system/cpu/isolated", "2-3\n"),
			false, "2-3 (isolated): whatif interrupts and stops"},
		{"tickless CPUs", isolated,
			files("sys/devices/system/cpu/isolated", "1\n", "sys/devices/system/cpu/nohz_full", "2-3\n"),
			false, "1 (isolated), 2-3 (nohz_full): "},
		{"metal", virtualMachine,
			files("proc/cpuinfo", "flags\t: fpu tsc\n", "proc/stat", "cpu 10 0 10 900 0 0 0 0 0 0\n"), true, "no"},
		{"virtual", virtualMachine,
			files("proc/cpuinfo", "flags\t: fpu hypervisor tsc\n", "proc/stat", "cpu 990 0 0 900 0 0 0 10 0 0\n"),
			true, "1.0%"},
		{"crowded", virtualMachine,
			files("proc/cpuinfo", "flags\t: fpu hypervisor\n", "proc/stat", "cpu 80 0 10 900 0 0 0 10 0 0\n"),
			false, "10.0%"},
		{"hidden symbols", kernelSymbols,
			files("proc/sys/kernel/kptr_restrict", "2\n", "proc/kallsyms", "0000000000000000 T _text\n"),
			false, "kptr_restrict=1"},
		{"symbols", kernelSymbols,
			files("proc/sys/kernel/kptr_restrict", "1\n",
				"proc/kallsyms", "0000000000000000 A x\nffffffff81000000 T _text\n"),
			true, "1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := test.check(test.root)
			if a.ok != test.ok || !strings.Contains(a.why+" "+a.fix, test.text) || a.ok && a.fix != "" {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestCapabilities(t *testing.T) {
	const bpf, perfmon, ptrace, admin = 1 << 39, 1 << 38, 1 << 19, 1 << 21
	for _, test := range []struct {
		effective        uint64
		namespaced, root bool
		ok               bool
		text             string
	}{
		{bpf | perfmon | ptrace, false, false, true, "cap_bpf"},
		{admin | ptrace, false, true, true, "root"},
		{bpf | ptrace, false, false, false, "missing: cap_perfmon (to sample and trace)"},
		{0, false, false, false, "sudo"},
		{perfmon | ptrace, false, true, false, "--cap-add BPF"},
		{^uint64(0), true, true, false, "rootless"},
	} {
		a := judgeCapabilities(files(), privilege.Set(test.effective), test.namespaced, test.root)
		if a.ok != test.ok || !strings.Contains(a.why+" "+a.fix, test.text) {
			t.Errorf("%+v: %+v", test, a)
		}
	}
	// Of the remedies without root, the one for a single run of a single user comes first.
	for init, want := range map[string]string{
		"systemd\n": "sudo systemd-run --uid=$USER --pty --same-dir -p AmbientCapabilities=",
		"sh\n":      "run whatif with sudo; or for good",
	} {
		fix := judgeCapabilities(files("proc/1/comm", init), 0, false, false).fix
		at, group := strings.Index(fix, want), strings.Index(fix, "chgrp whatif $f && sudo chmod 0750 $f && sudo setcap")
		if at < 0 || group < at {
			t.Errorf("with %q: %s", init, fix)
		}
	}
	// Where a package has made the group's copy, to join the group is enough.
	packaged := strings.TrimPrefix(privilege.Copy(), "/")
	if fix := judgeCapabilities(files(packaged, "\x7fELF"), 0, false, false).fix; strings.Contains(fix, "setcap") ||
		!strings.Contains(fix, "sudo gpasswd -a $USER whatif") {
		t.Errorf("with a package: %s", fix)
	}
	if inUserNamespace(files("proc/self/uid_map", "         0          0 4294967295\n")) {
		t.Error("the first user namespace taken for another")
	}
	if !inUserNamespace(files("proc/self/uid_map", "         0       1000          1\n")) {
		t.Error("a user namespace overlooked")
	}
}

func TestQuota(t *testing.T) {
	for _, test := range []struct {
		root fstest.MapFS
		cpus float64
	}{
		{files("proc/self/cgroup", "0::/\n"), 0},
		{files("proc/self/cgroup", "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max", "max 100000\n",
			"sys/fs/cgroup/a/cpu.max", "50000 100000\n"), 0.5},
		{files("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/a\n0::/\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "150000\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"), 1.5},
		{files("proc/self/cgroup", "3:cpu:/a\n", "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n",
			"sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"), 0},
	} {
		cpus, where := tightestQuota(test.root)
		if test.cpus != 0 && cpus != test.cpus || test.cpus == 0 && where != "" {
			t.Errorf("%v: %v at %q", test.root, cpus, where)
		}
	}
	tight := files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "10000 100000\n")
	if a := quota(tight); a.ok && runtime.NumCPU() > 0 {
		t.Errorf("%+v", a)
	}
}
