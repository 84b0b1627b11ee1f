package point

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Latency is the time from one point to another, as the user wrote it (-l).
type Latency struct {
	Name       string
	Text       string // the text behind NAME=
	Begin, End Spec
	// BeginKey and EndKey are the numbers, from 1, of the function's arguments that hold the
	// key: an end belongs to the begin with the same key. 0: both are in one thread (in Go:
	// one goroutine). Pairs in the source bring their own keys.
	BeginKey, EndKey int
}

// maxArguments is the number of arguments that functions get in registers.
const maxArguments = 6

const latencyForm = "NAME=BEGIN..END, BEGIN and END progress points, or the NAME of a pair in the source"

// ParseLatency reads NAME=BEGIN..END, or [NAME=]PAIR. A point may end in %argN: then argument N of
// its function is the key.
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
	// Paths have dots, too: cut at the first ".." with a point on both sides.
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
	if name == "" || strings.Contains(name, "..") || strings.Contains(name, "%") {
		return "", false
	}
	if !prefixed && (strings.ContainsAny(name, ":/") || name == string(Exit)) {
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

// keyed reads a point and its %argN; key is 0 if there is none.
func keyed(s string) (spec Spec, key int, err error) {
	s = strings.TrimSpace(s)
	if i := strings.LastIndex(s, "%arg"); i >= 0 {
		key, err = strconv.Atoi(s[i+len("%arg"):])
		if err != nil || key < 1 || key > maxArguments {
			return spec, 0, fmt.Errorf("%q: the key is %%arg1 to %%arg%d", s[i:], maxArguments)
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
