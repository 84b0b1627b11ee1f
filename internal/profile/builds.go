package profile

import (
	"slices"
	"strings"
)

// Build identifies the program that a run executed, as far as its build id was known: "" if
// not.
func (d *Data) Build() string {
	ids := make([]string, 0, len(d.Run.BuildIDs))
	for _, id := range d.Run.BuildIDs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// Builds is the builds that runs are of, in the order of the runs; what is not known
// counts as a build only if no other is.
func Builds(runs []*Data) []string {
	var all []string
	for _, d := range runs {
		if b := d.Build(); b != "" && !slices.Contains(all, b) {
			all = append(all, b)
		}
	}
	if all == nil && len(runs) > 0 {
		all = []string{""}
	}
	return all
}

// Latest keeps the runs of the build that was run last, and of those that no build is known of; and says how many are of other
// builds.
func Latest(runs []*Data) (kept []*Data, left int) {
	build := ""
	var newest *Data
	for _, d := range runs {
		if b := d.Build(); b != "" && (newest == nil || !d.Run.Started.Before(newest.Run.Started)) {
			build, newest = b, d
		}
	}
	for _, d := range runs {
		if b := d.Build(); b == "" || b == build {
			kept = append(kept, d)
		}
	}
	return kept, len(runs) - len(kept)
}
