package experiment

import (
	"slices"

	"whatif/internal/code/jit"
	"whatif/internal/code/symbol"
	"whatif/internal/experiment/probes"
	"whatif/internal/point"
)

// checkTargets refuses targets that no program and no library of one has, unless they may still come.
func (r *run) checkTargets(programs []probes.Program) error {
	if !probes.HaveSymbols(programs) {
		return nil
	}
	for i := range r.cfg.Targets {
		t := &r.cfg.Targets[i]
		if inKernel(r.kernel, t, programs) {
			continue
		}
		if err := probes.InAny(programs, func(p probes.Program) error { return point.Check(*t, p) }); err != nil {
			if r.kernel == nil {
				err = perhapsInKernel(err, t, programs)
			}
			if !interprets(programs) && !probes.MayComeLater(r.cfg.Log, err, programs) {
				return err
			}
			r.later = append(r.later, *t)
		}
	}
	return nil
}

// checkLater warns of targets that were not there at the start, and did not come.
func (r *run) checkLater() {
	for i := range r.later {
		if !r.units.mayMeet(r.later[i]) {
			r.rec.warn("target-nowhere", "target %s: nothing that ran had it, so it was not tried. Check its spelling; "+
				"whatif units lists what runs", r.later[i].Text)
		}
	}
}

// checkTogether warns of units of a combination that were never met: they changed nothing.
func (r *run) checkTogether() {
	for _, i := range r.units.unmet() {
		r.rec.warn("target-nowhere", "--together %s: nothing that ran had it, so it changed nothing", r.cfg.Targets[i].Text)
	}
}

// interprets reports whether a program, or a library of one, is the runtime of another language: code of that language
// has no names before it runs.
func interprets(programs []probes.Program) bool {
	return slices.ContainsFunc(programs, func(p probes.Program) bool {
		return probes.IsJavaVM(p) || slices.ContainsFunc(p, func(b *symbol.Binary) bool { return jit.In(b) != nil })
	})
}
