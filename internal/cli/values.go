package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// list is a flag that may be given more than once.
type list []string

func (l *list) String() string     { return strings.Join(*l, " ") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// levels is the flag for speed-ups in percent: 0,25,50.
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
