package doctor

import (
	"io/fs"
	"slices"
	"strings"
)

// softirqThreads refuses kernels that run the softirqs of timers in threads of their own. The sampling clock is such a
// softirq, and has to interrupt the thread that it samples and stops. In its own thread it would find only itself at
// each tick, and would occupy the core, because that thread has a real-time priority.
func softirqThreads(root fs.FS) answer {
	switch {
	case realTime(root):
		return bad("boot a kernel without PREEMPT_RT (Debian: linux-image-amd64, Ubuntu: linux-image-generic)",
			"this is a kernel with PREEMPT_RT: it runs timers in threads, so a tick cannot see or stop what runs")
	case forcesThreads(read(root, "proc/cmdline")):
		return bad("boot without threadirqs on the kernel's command line (/proc/cmdline)",
			"the kernel was booted with threadirqs: it runs timers in threads, so a tick cannot see or stop what runs")
	}
	return good("in interrupts")
}

// realTime tells whether the kernel has PREEMPT_RT. Older kernels have it from a patch, and the file
// /sys/kernel/realtime. All have it in the output of uname -v, the oldest with a blank in place of the underscore.
func realTime(root fs.FS) bool {
	version := strings.Fields(strings.ReplaceAll(read(root, "proc/sys/kernel/version"), "PREEMPT RT", "PREEMPT_RT"))
	return strings.TrimSpace(read(root, "sys/kernel/realtime")) == "1" || slices.Contains(version, "PREEMPT_RT")
}

// forcesThreads tells whether the kernel's command line has threadirqs. The kernel ignores a value of it, and words
// after -- are for init.
func forcesThreads(commandLine string) bool {
	for _, word := range strings.Fields(commandLine) {
		name, _, _ := strings.Cut(word, "=")
		if word == "--" || name == "threadirqs" {
			return word != "--"
		}
	}
	return false
}
