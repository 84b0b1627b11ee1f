package probes

import (
	"fmt"

	"whatif/internal/code/symbol"
	"whatif/internal/hint"
	"whatif/internal/point"
)

// checkForgotten refuses points by name that no source has, if there is a function or a static probe of the name: the
// user forgot func: or usdt:, and the run would end without a visit.
func checkForgotten(unknown []point.Spec, programs []Program) error {
	for _, spec := range unknown {
		for _, p := range programs {
			for i, b := range p {
				if i > 0 && (symbol.Origin{Path: b.Name()}).System() {
					continue // libc has a function of nearly any name
				}
				meant := forgotten(spec.Event, b)
				if meant == "" {
					continue
				}
				err := fmt.Errorf("resolving progress point %s: %s has none of that name in its source", spec.Text, p[0].Name())
				return hint.New(err, fmt.Sprintf("did you mean %s? source:%s is a point in the source of what is loaded later",
					meant, spec.Event))
			}
		}
	}
	return nil
}

// forgotten is how a function or a static probe of a binary is written; "" if none has the name.
func forgotten(name string, b *symbol.Binary) string {
	has := func(spec point.Spec) bool {
		sites, err := point.Find(spec, []*symbol.Binary{b}, new(point.Before))
		return err == nil && len(sites) > 0
	}
	switch {
	case has(point.Spec{Kind: point.Func, Func: name}):
		return "func:" + name
	case has(point.Spec{Kind: point.USDT, Event: name}):
		return "usdt:" + name
	}
	return ""
}
