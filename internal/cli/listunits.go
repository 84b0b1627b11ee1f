package cli

import (
	"errors"
	"fmt"

	"whatif/internal/experiment"
	"whatif/internal/report"
)

// listedUnits is how many units whatif run --list-units shows.
const listedUnits = 40

// listUnits is whatif run --list-units: it writes no profile.
func (sh *shell) listUnits(cfg experiment.Config, r *runFlags) (int, error) {
	cfg.List = true
	cfg.Log = newLog(sh.stderr, newStatus(sh.stderr, true), r.verbose)
	outcome, err := experiment.Profile(sh.ctx, cfg)
	if outcome == nil {
		return 0, err
	}
	var sampled []report.Sampled
	for _, u := range outcome.Listing.Units {
		sampled = append(sampled, report.Sampled(u))
	}
	opt := terminalOptions(sh.stderr, report.Options{Top: listedUnits})
	fmt.Fprintln(sh.stderr)
	return r.status(outcome), errors.Join(err, report.Units(sh.stderr, sampled, outcome.Listing.Samples, opt))
}
