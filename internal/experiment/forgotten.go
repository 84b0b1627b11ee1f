package experiment

import (
	"fmt"
	"strings"

	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/symbol"
)

// checkForgotten refuses a name that no source has, but a function or a static probe: func: or usdt: was
// forgotten, and a run would end without a visit.
func (s *session) checkForgotten(programs []program) error {
	for _, spec := range s.counters.unknown() {
		for _, p := range programs {
			for i, b := range p {
				if i > 0 && (symbol.Origin{Path: b.Name()}).System() {
					continue // libc has a function of nearly any name
				}
				meant := forgotten(spec.Event, b)
				if meant == "" {
					continue
				}
				return hint.New(fmt.Errorf("resolving progress point %s: %s has none of that name in its source", spec.Text, p[0].Name()),
					fmt.Sprintf("did you mean %s? source:%s is a point in the source of what is loaded later", meant, spec.Event))
			}
		}
	}
	return nil
}

// forgotten is how a function or a static probe of a binary is written; "" if none has the name.
func forgotten(name string, b *symbol.Binary) string {
	in := []*symbol.Binary{b}
	if sites, err := point.Find(point.Spec{Kind: point.Func, Func: name}, in, new(point.Before)); err == nil && len(sites) > 0 {
		return "func:" + name
	}
	if sites, err := point.Find(point.Spec{Kind: point.USDT, Event: name}, in, new(point.Before)); err == nil && len(sites) > 0 {
		return "usdt:" + name
	}
	return ""
}

// unknown are the points by name alone that nothing has in its source so far; none where
// the program gives names while it runs.
func (c *counters) unknown() (specs []point.Spec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.specs {
		if s.Kind == point.Source && s.Edge == point.Whole && !c.pending && !c.met[s.Event] && !strings.HasPrefix(s.Text, string(point.Source)+":") {
			specs = append(specs, s)
		}
	}
	return specs
}
