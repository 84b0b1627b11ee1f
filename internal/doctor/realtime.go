package doctor

import (
	"io/fs"
	"slices"
	"strings"
)

// realTime: whatif samples and stops the thread that its timer has interrupted. Where the kernel runs timers in a
// thread of their own (bpf_timer is a soft timer), that is no thread of the program's: nothing would be sampled, and
// a stop would keep that thread, of real-time priority, on the core.
func realTime(root fs.FS) answer {
	const why = "the kernel runs timers in a thread of their own, so that whatif would meet no thread of the program"
	switch version := read(root, "proc/version"); {
	case strings.TrimSpace(read(root, "sys/kernel/realtime")) == "1", strings.Contains(version, "PREEMPT_RT"):
		return bad("boot the distribution's ordinary kernel", "PREEMPT_RT: %s", why)
	case slices.Contains(strings.Fields(read(root, "proc/cmdline")), "threadirqs"):
		return bad("boot without threadirqs", "booted with threadirqs: %s", why)
	}
	return good("no")
}

// isolated: somebody keeps these CPUs free of interruptions, for work that must not wait.
func isolated(root fs.FS) answer {
	var kept []string
	for _, name := range []string{"isolated", "nohz_full"} {
		text := strings.TrimSpace(read(root, "sys/devices/system/cpu/"+name))
		if text != "" && text != "(null)" {
			kept = append(kept, text+" ("+name+")")
		}
	}
	if len(kept) == 0 {
		return good("none")
	}
	return bad("profile where nothing depends on them: on another machine, or while what runs there can bear it",
		"%s: whatif's timer interrupts these CPUs, too, 1,000 to 4,000 times a second for 20 to 40 us, "+
			"and stops them where the program runs there", strings.Join(kept, ", "))
}
