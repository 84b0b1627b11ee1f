package probes

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"whatif/internal/code/jvm"
	"whatif/internal/ledger"
)

// JavaVisits has the visits of points in Java code seen one by one, for a recording in which nothing is counted.
type JavaVisits struct{ java *java }

// RecordJava begins to look for points in Java virtual machines, as [Probes.FollowJava] does. set sets a probe.
func RecordJava(o Options, members func() ([]ledger.Process, error), starting *jvm.Starting, set func(Place) error) (
	*JavaVisits, error,
) {
	e := endsOf(o)
	j := &java{
		counters: uncounted{o.Log}, prefix: javaName(), noAgent: o.NoJavaAgent, each: true, timer: setter{e, set}, ends: e,
		log: o.Log, specs: javaSpecs(o.Points), timed: make(map[timedPlace]bool),
		vms: make(map[ledger.Process]*javaVM), finds: make(map[int]*javaFind), stop: make(chan struct{}),
		members: members, starting: starting,
	}
	for i := range j.specs {
		j.finds[i] = &javaFind{methods: make(map[jvm.Frame]bool), classes: make(map[string]bool)}
	}
	if len(j.specs) == 0 {
		return &JavaVisits{j}, nil
	}
	if err := j.follow(); err != nil {
		j.close()
		return nil, err
	}
	return &JavaVisits{j}, nil
}

// Missing is the error for points that should be in the classes that were loaded, and are not.
func (v *JavaVisits) Missing() error {
	var errs []error
	for _, i := range slices.Sorted(maps.Keys(v.java.specs)) {
		if v.java.met() && !v.java.has(i) {
			why := v.java.why(i)
			if why == nil {
				why = errNoClass(v.java.specs[i])
			}
			errs = append(errs, why)
		}
	}
	return errors.Join(errs...)
}

// Close ends it.
func (v *JavaVisits) Close() { v.java.close() }

// uncounted takes in nothing.
type uncounted struct{ log *slog.Logger }

func (uncounted) filesOf(int) error                   { return nil }
func (uncounted) named() error                        { return nil }
func (uncounted) hasRead(string) bool                 { return true }
func (uncounted) inJava(int, int)                     {}
func (u uncounted) warnOf(format string, args ...any) { u.log.Warn(fmt.Sprintf(format, args...)) }

// setter is a timer that sets probes of a recording.
type setter struct {
	ends ends
	set  func(Place) error
}

func (s setter) time(i int, p ledger.Probe) error {
	return s.set(Place{Probe: p, Edge: edgeOf(i, s.ends)})
}

// EachJavaVisit has visits of points in Java code seen one by one from now on, beside being counted, until the function
// that it returns is called. set sets a probe where they come by. It is for VMs that are known by now.
func (p *Probes) EachJavaVisit(set func(Place) error) (end func(), err error) {
	j := p.java
	j.mu.Lock()
	all := slices.DeleteFunc(slices.Collect(maps.Values(j.vms)), func(v *javaVM) bool { return v == nil })
	j.mu.Unlock()
	seen := make(map[timedPlace]bool)
	var begun []*javaVM
	end = func() {
		for _, v := range begun {
			if err := v.points.Each(false); err != nil {
				j.log.Debug("ending to see each visit", "process", v.process, "error", err)
			}
		}
	}
	for _, v := range all {
		err := j.eachVisitOf(v, seen, set)
		if err == nil {
			err = v.points.Each(true)
		}
		if err != nil {
			end()
			return nil, err
		}
		begun = append(begun, v)
	}
	return end, nil
}

// eachVisitOf sets probes for the points of a VM, once in each file.
func (j *java) eachVisitOf(v *javaVM, seen map[timedPlace]bool, set func(Place) error) error {
	if err := v.points.BindTimed(); err != nil {
		return err
	}
	for _, i := range slices.Sorted(maps.Keys(v.numbers)) {
		f, place, at, err := j.timedProbe(v, i, v.numbers[i])
		if err != nil {
			return err
		}
		if !seen[at] {
			seen[at] = true
			err = set(Place{Probe: place, Edge: edgeOf(i, j.ends)})
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}
