package cli

import (
	"context"

	"whatif/internal/doctor"
)

// doctorCommand exits with 0 if whatif can work on this machine, and with 125 if something is missing that it needs.
func doctorCommand(_ context.Context, sh *shell, args []string) (int, error) {
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
