package point

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Latency is what a user wrote to have the time from one point to another measured, or
// that of a pair in the source.
type Latency struct {
	Name       string
	Text       string // what was written after NAME=
	Begin, End Spec
	// BeginKey and EndKey are the argument, from 1, that says which begin an end
	// belongs to; 0 for what begins and ends in one thread (of Go: one goroutine).
	// Pairs in the source say it themselves.
	BeginKey, EndKey int
}

// mostArguments is how many arguments functions are given in registers.
const mostArguments = 6

const latencyForm = "NAME=BEGIN..END, BEGIN and END progress points, or the NAME of a pair in the source"

// ParseLatency reads NAME=BEGIN..END, or [NAME=]PAIR. Either point may end in %argN: that argument
// of the function is the key.
func ParseLatency(s string) (Latency, error) {
	l, err := parseLatency(strings.TrimSpace(s))
	if err != nil {
		return Latency{}, fmt.Errorf("parsing latency %q: %w", s, err)
	}
	return l, nil
}

func parseLatency(s string) (l Latency, err error) {
	l.Name, l.Text = splitName(s)
	if pair, ok := pairName(l.Text); ok {
		if l.Name == "" {
			l.Name = pair
		}
		l.Begin = Spec{Name: l.Name + "/begin", Text: pair + "%begin", Kind: Source, Event: pair, Edge: AtBegin}
		l.End = Spec{Name: l.Name, Text: pair + "%end", Kind: Source, Event: pair, Edge: AtEnd}
		return l, nil
	}
	if l.Name == "" {
		return l, fmt.Errorf("it has no name: expected %s", latencyForm)
	}
	err = fmt.Errorf("expected %s", latencyForm)
	// Paths have dots too: of the places to cut at the first is right at which both
	// sides are points.
	for at := 0; ; at++ {
		i := strings.Index(l.Text[at:], "..")
		if i < 0 {
			return l, err
		}
		at += i
		cut := l
		if err = cut.parsePoints(l.Text[:at], l.Text[at+2:]); err == nil {
			return cut, nil
		}
	}
}

// pairName reads PAIR or source:PAIR.
func pairName(s string) (name string, ok bool) {
	name, prefixed := strings.CutPrefix(s, string(Source)+":")
	name = strings.TrimSpace(name)
	if name == "" || strings.Contains(name, "..") || strings.Contains(name, "%") || !prefixed && (strings.ContainsAny(name, ":/") || name == string(Exit)) {
		return "", false
	}
	return name, true
}

func (l *Latency) parsePoints(begin, end string) (err error) {
	if l.Begin, l.BeginKey, err = keyed(begin); err != nil {
		return err
	}
	if l.End, l.EndKey, err = keyed(end); err != nil {
		return err
	}
	unknown := l.Begin.Kind == Source || l.End.Kind == Source
	if !unknown && (l.BeginKey == 0) != (l.EndKey == 0) {
		return errors.New("only one of the two points has a key: both need %argN, or neither")
	}
	if l.Begin.Text == l.End.Text {
		return errors.New("it begins where it ends")
	}
	l.Begin.Name, l.End.Name = l.Name+"/begin", l.Name
	return nil
}

// keyed reads a point with or without %argN.
func keyed(s string) (spec Spec, key int, err error) {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "%arg"); i >= 0 {
		key, err = strconv.Atoi(s[i+len("%arg"):])
		if err != nil || key < 1 || key > mostArguments {
			return spec, 0, fmt.Errorf("%q: the key is %%arg1 to %%arg%d", s[i:], mostArguments)
		}
		s = s[:i]
	}
	if name, rest := splitName(s); name != "" {
		return spec, 0, fmt.Errorf("%q has a name of its own: %s is the name of the latency", rest, name)
	}
	spec, err = Parse(s)
	if key > 0 && err == nil && spec.Kind == Source {
		return spec, 0, fmt.Errorf("%q is a point in the source: those are given a key there (WHATIF_BEGIN_ID)", s)
	}
	if key > 0 && err == nil && spec.Kind != Func {
		return spec, 0, fmt.Errorf("%q has no arguments: %%argN is for func:NAME", s)
	}
	return spec, key, err
}
