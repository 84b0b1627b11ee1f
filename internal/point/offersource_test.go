package point

import (
	"slices"
	"testing"

	"whatif/internal/point/source"
)

// TestSourceOffers checks the offers, and that each parses as a point or a latency.
func TestSourceOffers(t *testing.T) {
	o := SourceOffers(&source.Points{Counters: []source.Counter{
		{Name: "served", Event: source.Progress},
		{Name: "request", Event: source.Begin}, {Name: "request", Event: source.End},
		{Name: "served", Event: source.Progress},
		{Name: "begun", Event: source.Begin},
		{Name: "a:b", Event: source.Begin}, {Name: "a:b", Event: source.End},
	}}, true)
	want := []Offer{
		{Spec: "source:a:b", Note: "1 place"},
		{Spec: "source:a:b", Note: "latency: begins at 1 place, ends at 1 place", Pair: true},
		{Spec: "begun%begin", Note: "1 place, and no end"},
		{Spec: "request", Note: "1 place"},
		{Spec: "request", Note: "latency: begins at 1 place, ends at 1 place", Pair: true},
		{Spec: "served", Note: "2 places"},
	}
	if !slices.Equal(o.Offers, want) || o.Note == "" {
		t.Errorf("%+v", o)
	}
	for _, offer := range o.Offers {
		spec, err := Parse(offer.Spec)
		if offer.Pair {
			var l Latency
			l, err = ParseLatency(offer.Spec)
			spec = l.End
		}
		if err != nil || spec.Kind != Source {
			t.Errorf("%+v: %+v, %v", offer, spec, err)
		}
	}
}
