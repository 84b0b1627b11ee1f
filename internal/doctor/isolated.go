package doctor

import (
	"io/fs"
	"strings"
)

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
	return bad("if the program is put there, profile where nothing else depends on these CPUs",
		"%s: whatif interrupts and stops these CPUs only if threads of the program are put there, and then "+
			"1,000 to 4,000 times a second", strings.Join(kept, ", "))
}
