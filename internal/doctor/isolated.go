package doctor

import (
	"io/fs"
	"strings"

	"whatif/internal/cpulist"
)

// isolated warns of CPUs that are configured to be free of interruptions, for work that must not wait.
func isolated(root fs.FS) answer {
	var kept []string
	if system, err := fs.Sub(root, "sys/devices/system"); err == nil {
		for _, name := range []string{"isolated", "nohz_full"} {
			if list, err := cpulist.Text(system, name); err == nil && list != "" {
				kept = append(kept, list+" ("+name+")")
			}
		}
	}
	if len(kept) == 0 {
		return good("none")
	}
	return bad("if the program is put there, profile where nothing else depends on these CPUs",
		"%s: whatif interrupts and stops these CPUs only if threads of the program are put there, and then "+
			"1,000 to 4,000 times a second", strings.Join(kept, ", "))
}
