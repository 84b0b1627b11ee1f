// Package said formats and parses the results that a guest sends to its host on the console. The kernel writes to the
// console, too.
//
// The guest calls Write for each trial, and WriteEnd at the end. The host calls Read with all of the console's output.
package said

import (
	"fmt"
	"io"
	"strings"
)

// Result is the result of one trial.
type Result struct {
	Name string
	OK   bool
	Text string // figures, or the reason of the failure
}

const (
	mark = "@result"
	end  = "@end"
)

// Write writes a result on a line of its own.
func Write(w io.Writer, r Result) {
	verdict := "failed"
	if r.OK {
		verdict = "ok"
	}
	fmt.Fprintf(w, "\n%s|%s|%s|%s\n", mark, r.Name, verdict, strings.ReplaceAll(strings.TrimSpace(r.Text), "\n", "; "))
}

// WriteEnd writes the line that all trials have been made.
func WriteEnd(w io.Writer) { fmt.Fprintf(w, "\n%s\n", end) }

// Read finds the results in a console's output, and tells whether the guest has made all trials.
func Read(console string) (results []Result, ended bool) {
	for line := range strings.Lines(console) {
		line = strings.TrimSpace(line)
		if line == end {
			ended = true
		}
		fields := strings.SplitN(line, "|", 4)
		if len(fields) == 4 && fields[0] == mark {
			results = append(results, Result{Name: fields[1], OK: fields[2] == "ok", Text: fields[3]})
		}
	}
	return results, ended
}
