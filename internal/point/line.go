package point

import (
	"errors"
	"slices"

	"whatif/internal/code/symbol"
)

// lines finds the entries of a source line, at which each execution of its statement begins.
// Several binaries may have code of one file, such as a header. If the name means several files,
// the error is a *symbol.Ambiguous.
func lines[B Binary](spec Spec, binaries []B) (sites []Site, err error) {
	var in []string // binaries that have it
	var best error
	for _, b := range binaries {
		if len(sites) > 0 && isSystem(b.Name()) {
			continue // not worth the time to read its debug information
		}
		entries, err := b.LineEntries(spec.File, spec.Line)
		var missing *symbol.NotFound
		if err != nil && !errors.As(err, &missing) {
			return nil, err
		}
		if err != nil && (best == nil || moreSpecific(err, best)) {
			best = err
		}
		for _, e := range entries {
			sites = append(sites, Site{
				Binary: b.Path(), File: e.File, Offset: e.FileOffset, Size: e.Size, Func: e.Func, Entry: e.Entry,
			})
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

// oneFile returns an error if the sites are in several source files.
func oneFile(spec Spec, sites []Site, where string) error {
	var files []string
	for _, s := range sites {
		files = append(files, s.File)
	}
	return symbol.CheckOneFile(files, spec.File, spec.Line, where)
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

// noProbe returns the error for a USDT probe that no binary has, with similar names.
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
