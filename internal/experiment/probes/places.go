package probes

import (
	"fmt"
	"log/slog"
	"slices"

	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/object"
	"whatif/internal/hint"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/point/source"
)

// Place is a place in a program's code at which visits can be seen one by one. Its Of is the point.
type Place struct {
	ledger.Probe
	Edge point.Edge
}

// PlacesOf finds the places of points, some of which may be the ends of latencies, in programs that have not run yet.
// Without points it finds those in the programs' source, and gives them. Each visit of a point in the source passes a
// no-op, which is its place. lacking is why the programs have no place of a point that may come later.
func PlacesOf(points []point.Spec, latencies []point.Latency, programs []Program, log *slog.Logger) (
	all []Place, found []point.Spec, lacking []error, err error,
) {
	ends := endsOf(Options{Points: points, Latencies: latencies})
	var binaries []*symbol.Binary
	for _, p := range programs {
		for _, b := range p {
			if !slices.ContainsFunc(binaries, func(x *symbol.Binary) bool { return x.Path() == b.Path() }) {
				binaries = append(binaries, b)
			}
		}
	}
	inSource := len(points) == 0
	lacking = make([]error, len(points))
	for i, spec := range points {
		switch {
		case spec.Kind == point.Source:
			inSource = true
		case isCall(spec), spec.Kind == point.Exit: // see HooksOf
		case !spec.Probed():
			return nil, nil, nil, hint.New(fmt.Errorf("recording progress point %s: its visits are counted, and not recorded "+
				"one by one", spec.Text), "name a function, a line, a system call, exit or a point in the source")
		case spec.InJava() && slices.ContainsFunc(programs, IsJavaVM): // see RecordJava
		default:
			places, missing, err := placesIn(i, spec, ends, programs)
			if err == nil && len(places) == 0 {
				lacking[i] = missing
				// A binary that is named with the point is known already.
				if spec.Binary != "" || HaveSymbols(programs) && !MayComeLater(log, missing, programs) {
					err = hint.New(missing, remedyFor(spec, missing))
				}
			}
			if err != nil {
				return nil, nil, nil, err
			}
			all = append(all, places...)
		}
	}
	if !inSource {
		return all, points, lacking, nil
	}
	sites, points, err := sitesIn(binaries, points)
	return append(all, sites...), points, lacking, err
}

// PlacesIn finds the places of points in a binary that has been loaded later.
func PlacesIn(b *symbol.Binary, points []point.Spec, latencies []point.Latency) (all []Place, err error) {
	ends := endsOf(Options{Points: points, Latencies: latencies})
	for i, spec := range points {
		if !spec.Probed() || spec.InJava() && IsJavaVM(Program{b}) {
			continue
		}
		places, _, err := placesIn(i, spec, ends, []Program{{b}})
		if err != nil {
			return nil, err
		}
		all = append(all, places...)
	}
	return all, nil
}

// placesIn finds the places of a point that is in the programs' code. missing is why a program does not have it.
func placesIn(i int, spec point.Spec, ends ends, programs []Program) (all []Place, missing, err error) {
	type at struct {
		path     string
		offset   uint64
		atReturn bool
	}
	seen := make(map[at]bool)
	for _, p := range programs {
		var before point.Before
		sites, failure := point.Resolve(spec, p, &before)
		if failure != nil {
			missing = failure
			continue
		}
		for _, site := range sites {
			k := slices.IndexFunc(p, func(b *symbol.Binary) bool { return b.Path() == site.Binary })
			place := Place{Probe: probeAt(site, p[k], ends.argument(i) > 0), Edge: edgeOf(i, ends)}
			place.Of = uint32(i)
			if l, _ := ends.of(i); l != nil {
				if place.Key, err = keyAt(p[k], site.Offset, ends.argument(i)); err != nil {
					return nil, nil, err
				}
			}
			once := at{site.Binary, place.Offset, place.Cost.AtReturn()}
			if !seen[once] {
				seen[once] = true
				all = append(all, place)
			}
		}
	}
	return all, missing, nil
}

// EdgeOf says whether point i begins or ends a latency.
func EdgeOf(i int, points []point.Spec, latencies []point.Latency) point.Edge {
	if points[i].Kind == point.Source {
		return points[i].Edge
	}
	return edgeOf(i, endsOf(Options{Points: points, Latencies: latencies}))
}

// edgeOf says whether a point begins or ends a latency.
func edgeOf(i int, ends ends) point.Edge {
	l, k := ends.of(i)
	switch {
	case l == nil:
		return point.Whole
	case i == ends.first+2*k:
		return point.AtBegin
	}
	return point.AtEnd
}

// sitesIn finds the points in the source of binaries: those that are named or, if none is, all.
func sitesIn(binaries []*symbol.Binary, named []point.Spec) (all []Place, points []point.Spec, err error) {
	points = named
	edges := map[source.Event]point.Edge{
		source.Progress: point.Whole, source.Begin: point.AtBegin, source.End: point.AtEnd,
	}
	for _, b := range binaries {
		f, err := object.Open(b.Path())
		if err != nil {
			continue // it is open, but its path leads elsewhere by now: it has no points
		}
		read := source.Read(f)
		f.Close()
		if len(read.Tables) > 0 && len(read.Counters) == 0 {
			return nil, nil, hint.New(fmt.Errorf("recording the progress points in the source of %s: they get their names "+
				"while the program runs, which cannot be recorded yet", b.Name()), "name a function or a line with -p")
		}
		for _, c := range read.Counters {
			i := slices.IndexFunc(points, func(s point.Spec) bool {
				// The end of a pair is a unit of work, too.
				return s.Kind == point.Source && s.Event == c.Name &&
					(s.Edge == edges[c.Event] || s.Edge == point.Whole && c.Event == source.End)
			})
			if i < 0 && len(named) > 0 {
				continue
			}
			if c.SiteOffset == 0 {
				return nil, nil, fmt.Errorf("recording progress point %s of %s: there is no place for a probe in front of it",
					c.Name, b.Name())
			}
			if i < 0 {
				i = len(points)
				points = append(points, sourceSpec(c.Name, edges[c.Event]))
			}
			p := Place{Edge: points[i].Edge}
			p.File, p.Offset, p.Of = b.Opened(), c.SiteOffset, uint32(i)
			if c.Keyed {
				p.Key = ledger.KeyIn(0) // rax and x0 have the number 0
			}
			all = append(all, p)
		}
	}
	return all, points, missingOf(all, points)
}

// missingOf is the error for points in the source that no binary has.
func missingOf(all []Place, points []point.Spec) error {
	for i, spec := range points {
		if spec.Kind == point.Source && !slices.ContainsFunc(all, func(p Place) bool { return int(p.Of) == i }) {
			return hint.New(fmt.Errorf("looking for progress point %s: the program has none of this name in its source",
				spec.Text), "whatif points PROGRAM lists some")
		}
	}
	return nil
}

// sourceSpec is the point that was found in the source under a name.
func sourceSpec(name string, edge point.Edge) point.Spec {
	spec := point.Spec{Name: name, Text: name, Kind: point.Source, Event: name, Edge: edge}
	if edge != point.Whole {
		spec.Text = name + "%" + string(edge)
	}
	if edge == point.AtBegin {
		spec.Name = name + "/begin"
	}
	return spec
}
