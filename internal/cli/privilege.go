package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"whatif/internal/privilege"
)

// settle drops the privileges that the command does not need. It comes before the command opens anything.
func (sh *shell) settle(command string) error {
	profiles := slices.Contains(
		[]string{"run", "record", "attach", "system", "points", "units", "demo", "doctor"}, command)
	if profiles {
		privilege.Enter(os.Args, os.Environ())
	}
	if err := privilege.Settle(profiles); err != nil {
		return err
	}
	if names := privilege.Ignored(); profiles && len(names) > 0 {
		fmt.Fprintf(sh.stderr, "whatif: %s not used, as whatif has its capabilities from its file: "+
			"symbols and libraries come from the usual places\n", strings.Join(names, ", "))
	}
	return nil
}
