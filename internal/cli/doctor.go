package cli

import (
	"whatif/internal/doctor"
)

// doctorCommand exits 0 when whatif can work here, 125 when something that it
// needs is missing.
func doctorCommand(sh *shell, args []string) (int, error) {
	if _, err := parse(sh, newFlags("doctor"), args, 0, 0); err != nil {
		return 0, err
	}
	findings := doctor.Check()
	if err := doctor.Text(sh.stdout, findings); err != nil {
		return 0, err
	}
	if !doctor.Able(findings) {
		return statusFailed, nil
	}
	return 0, nil
}
