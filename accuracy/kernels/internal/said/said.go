// Package said is the language in which the guest tells its host, on the console, what came of each trial. The
// kernel writes there, too.
package said

import (
	"fmt"
	"io"
	"strings"
)

// Result is what came of one trial.
type Result struct {
	Name string
	OK   bool
	Text string // figures, or why not
}

const (
	mark = "@result"
	end  = "@end"
)

// Write writes a result, as a line of its own.
func Write(w io.Writer, r Result) {
	verdict := "failed"
	if r.OK {
		verdict = "ok"
	}
	fmt.Fprintf(w, "\n%s|%s|%s|%s\n", mark, r.Name, verdict, strings.ReplaceAll(strings.TrimSpace(r.Text), "\n", "; "))
}

// WriteEnd says that all has been tried.
func WriteEnd(w io.Writer) { fmt.Fprintf(w, "\n%s\n", end) }

// Read finds the results in what a console said, and whether the guest came to its end.
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
