package point

import (
	"errors"
	"slices"

	"whatif/internal/symbol"
)

// lines finds the entries of a source line: where each execution of its statement
// begins. Code of one file may be in several binaries, if it is a header's; two files of
// the same name are a *symbol.Ambiguous.
func lines[B Binary](spec Spec, binaries []B) (sites []Site, err error) {
	var in []string // binaries that have it
	var best error
	for _, b := range binaries {
		if len(sites) > 0 && isSystem(b.Name()) {
			continue // reading its debug information would take longer than it is worth
		}
		entries, err := b.LineEntries(spec.File, spec.Line)
		var missing *symbol.NotFound
		if err != nil && !errors.As(err, &missing) {
			return nil, err
		}
		if err != nil && (best == nil || closer(err, best)) {
			best = err
		}
		for _, e := range entries {
			sites = append(sites, Site{Binary: b.Path(), File: e.File, Offset: e.FileOffset, Size: e.Size, Func: e.Func, Entry: e.Entry})
		}
		if len(entries) > 0 {
			in = append(in, b.Name())
		}
	}
	if len(sites) == 0 {
		return nil, best
	}
	return sites, oneFile(spec, sites, where(in))
}

// oneFile refuses a line of several files.
func oneFile(spec Spec, sites []Site, where string) error {
	var files []string
	for _, s := range sites {
		files = append(files, s.File)
	}
	return symbol.OneFile(files, spec.File, spec.Line, where)
}

// probes finds the sites of a USDT probe.
func probes[B Binary](spec Spec, binaries []B) (sites []Site, err error) {
	for _, b := range binaries {
		all, err := b.USDTProbes()
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			if p.Name == spec.Event && (spec.Provider == "" || p.Provider == spec.Provider) {
				sites = append(sites, Site{Binary: b.Path(), Offset: p.FileOffset, Semaphore: p.Semaphore})
			}
		}
	}
	return sites, nil
}

// noProbe says which USDT probes there are instead.
func noProbe[B Binary](spec Spec, binaries []B) error {
	e := &symbol.NotFound{What: "USDT probe", Name: spec.Text[len("usdt:"):], Where: where(namesOf(binaries))}
	var names []string
	for _, b := range binaries {
		all, err := b.USDTProbes()
		if err != nil {
			return err
		}
		for _, p := range all {
			names = append(names, p.Provider+":"+p.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		e.Note = "there are no USDT probes at all"
	}
	e.Near = symbol.NearestOf(e.Name, names, nearCount)
	return e
}
