package cli

import (
	"context"
	"errors"
	"fmt"

	"whatif/internal/experiment"
	"whatif/internal/report"
)

// listedUnits is the number of units that --list-units shows.
const listedUnits = 40

// listUnits does what --list-units asks for. It writes no profile.
func (sh *shell) listUnits(ctx context.Context, cfg experiment.Config, r *runFlags) (int, error) {
	cfg.List = true
	cfg.Log = newLog(sh.stderr, newStatus(sh.stderr, true), r.verbose)
	outcome, err := experiment.Profile(ctx, cfg)
	if outcome == nil {
		return 0, err
	}
	var sampled []report.Sampled
	for _, u := range outcome.Listing.Units {
		sampled = append(sampled, report.Sampled(u))
	}
	opt := sh.terminalOptions(sh.stderr, report.Options{Top: listedUnits})
	fmt.Fprintln(sh.stderr)
	return r.status(outcome), errors.Join(err, report.Units(sh.stderr, sampled, outcome.Listing.Samples, opt))
}
