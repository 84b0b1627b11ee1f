package experiment

import (
	"whatif/internal/code/symbol"
	"whatif/internal/point"
)

// sampledLine is the line of a sample: point.
type sampledLine struct {
	point int
	spec  point.Spec
}

func sampledLines(cfg *Config) []sampledLine {
	var lines []sampledLine
	for i, spec := range cfg.Points {
		if spec.Kind == point.Sample {
			lines = append(lines, sampledLine{i, spec})
		}
	}
	return lines
}

// pointOf gives the sampled point with a line that is in an inline chain, the innermost first. Frames further out
// count, as with targets: what was inlined into the line is its work.
func pointOf(lines []sampledLine, frames []symbol.Frame) (i int, ok bool) {
	for _, f := range frames {
		for _, l := range lines {
			if f.Line == l.spec.Line && symbol.MatchFile(l.spec.File, f.File) {
				return l.point, true
			}
		}
	}
	return 0, false
}
