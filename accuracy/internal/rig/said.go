package rig

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Said has the figures that a program printed, in lines of names and numbers such as "visits 41 seconds 2.5".
type Said map[string]float64

// Visits is the program's own count of the visits of its progress point.
func (s Said) Visits() int64 { return int64(s["visits"]) }

// Rate is the number of visits a second.
func (s Said) Rate() float64 { return s["visits"] / s["seconds"] }

// ParseSaid parses a program's output, and ignores lines of another form. A repeated name is an error: the program ran
// twice, or forked with a full buffer.
func ParseSaid(output string) (Said, error) {
	said := Said{}
	for line := range strings.Lines(output) {
		fields := strings.Fields(line)
		numbers := make([]float64, 0, len(fields)/2)
		for i := 1; i < len(fields); i += 2 {
			if n, err := strconv.ParseFloat(fields[i], 64); err == nil {
				numbers = append(numbers, n)
			}
		}
		if len(fields) == 0 || 2*len(numbers) != len(fields) {
			continue
		}
		for i, n := range numbers {
			name := fields[2*i]
			if _, twice := said[name]; twice {
				return nil, fmt.Errorf("parsing the program's output: %q twice", name)
			}
			said[name] = n
		}
	}
	if !(said["visits"] > 0) || !(said["seconds"] > 0) || math.IsInf(said.Rate(), 0) {
		return nil, errors.New(`parsing the program's output: no line "visits N seconds T"`)
	}
	return said, nil
}
