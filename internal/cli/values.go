package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"whatif/internal/hint"
)

// percent is the value of a flag for a width in percent: 2%, or 2.
type percent float64

func (p *percent) String() string {
	if p == nil || *p == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*p), 'g', -1, 64) + "%"
}

func (p *percent) Set(s string) error {
	x, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s), "%"), 64)
	if err != nil || !(x > 0 && x <= 100) {
		return fmt.Errorf("%q is not a percentage above 0, up to 100", s)
	}
	*p = percent(x)
	return nil
}

// list is the value of a flag that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// levels is the value of the flag for speed-ups in percent: 0,25,50.
type levels []int

// everyFive is 0 to 100 percent in steps of 5, as in the COZ paper.
func everyFive() levels {
	var l levels
	for p := 0; p <= 100; p += 5 {
		l = append(l, p)
	}
	return l
}

func (l *levels) String() string {
	if l == nil || slices.Equal(*l, everyFive()) {
		return "0 to 100 in steps of 5"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*l)), " ", ","), "[]")
}

func (l *levels) Set(s string) error {
	*l = nil
	for _, word := range strings.Split(s, ",") {
		p, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(word), "%"))
		if err != nil || p < 0 || p > 100 {
			return fmt.Errorf("%q is not a percentage from 0 to 100", word)
		}
		*l = append(*l, p)
	}
	slices.Sort(*l)
	*l = slices.Compact(*l)
	return nil
}

// span is the value of a flag for a length of time: 30s or 1ms.
type span struct {
	d     *time.Duration
	plain bool // a number without a unit is seconds
}

// seconds defines a flag with a value that is usually some seconds: 30 is 30s.
func (f *flags) seconds(d *time.Duration, name string, def time.Duration, usage string) {
	*d = def
	f.Var(span{d, true}, name, usage)
}

// length defines a flag with a value of any size, which therefore needs its unit.
func (f *flags) length(d *time.Duration, name string, def time.Duration, usage string) {
	*d = def
	f.Var(span{d, false}, name, usage)
}

func (s span) String() string {
	if s.d == nil {
		return ""
	}
	return s.d.String()
}

func (s span) Set(text string) error {
	word := text
	_, err := strconv.ParseFloat(text, 64)
	isNumber := err == nil
	if isNumber && s.plain {
		word += "s"
	}
	d, err := time.ParseDuration(word)
	switch {
	case err != nil && isNumber && !s.plain:
		return hint.New(fmt.Errorf("%q has no unit", text), fmt.Sprintf("write %sms or %ss", text, text))
	case err != nil:
		return hint.New(fmt.Errorf("%q is not a length of time", text), "write it as 30s, 1m30s or 500ms")
	}
	*s.d = d
	return nil
}
