package profile

import (
	"strconv"
	"strings"
)

// Together is the kind of the unit that is several others, each faster by its own amount (Run.Together). An experiment
// with it has a speed-up of 100%: all of the amounts.
const Together = "together"

// Part is a unit that is sped up together with others, and by how much.
type Part struct {
	Target  string  `json:"target"` // as it was asked for
	Kind    string  `json:"kind"`   // as in Unit
	Name    string  `json:"name"`
	Percent float64 `json:"percent"` // of its time that is gone
}

// TogetherUnit is the unit of units that are sped up at once. Its name says all that is sped up.
func TogetherUnit(parts []Part) Unit {
	var all []string
	for _, p := range parts {
		all = append(all, p.Target+" by "+strconv.FormatFloat(p.Percent, 'f', -1, 64)+"%")
	}
	name, last := all[0], len(all)-1
	if last > 0 {
		name = strings.Join(all[:last], ", ") + " and " + all[last] + ", together"
	}
	return Unit{Kind: Together, Name: name}
}
