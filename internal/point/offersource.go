package point

import (
	"fmt"
	"slices"
	"strings"

	"whatif/internal/point/source"
)

// SourceOffers lists the points and pairs that a program has in its source. coz says that the
// program has COZ's macros.
func SourceOffers(found *source.Points, coz bool) Offers {
	o := Offers{Title: "points in the source"}
	type places struct{ progress, begin, end int }
	of := map[string]*places{}
	var names []string
	for _, c := range found.Counters {
		if of[c.Name] == nil {
			of[c.Name] = new(places)
			names = append(names, c.Name)
		}
		switch c.Event {
		case source.Progress:
			of[c.Name].progress++
		case source.Begin:
			of[c.Name].begin++
		case source.End:
			of[c.Name].end++
		}
	}
	slices.Sort(names)
	for _, name := range names {
		n, spec := of[name], name
		if needsPrefix(name) {
			spec = string(Source) + ":" + name
		}
		if n.progress+n.end > 0 {
			o.Offers = append(o.Offers, Offer{Spec: spec, Note: counted(n.progress+n.end, "place")})
		}
		switch {
		case n.begin > 0 && n.end > 0:
			note := fmt.Sprintf("latency: begins at %s, ends at %s", counted(n.begin, "place"), counted(n.end, "place"))
			o.Offers = append(o.Offers, Offer{Spec: spec, Note: note, Pair: true})
		case n.begin > 0:
			note := counted(n.begin, "place") + ", and no end"
			o.Offers = append(o.Offers, Offer{Spec: spec + "%" + string(AtBegin), Note: note})
		}
	}
	// These points get their names while the program runs.
	if len(found.Tables) > 0 {
		o.Note = "named when it runs; whatif run finds them by itself"
	} else if coz {
		o.Note = "COZ's macros, named when it runs; whatif run finds them by itself"
	}
	return o
}

// needsPrefix reports whether a name needs source: before it, as it reads like another kind.
func needsPrefix(name string) bool {
	return strings.ContainsAny(name, ":/=") || name == string(Exit)
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
