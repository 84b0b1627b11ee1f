package cli

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/analyze"
	"whatif/internal/experiment"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// advisedRepeats is the number of executions that the advice names. With fewer, no line has as many experiments as an
// interval needs.
const advisedRepeats = 20

// adviseRepeat prints advice if one execution of the program gave no answer: the command that repeats the program.
// whatif does not repeat a program unasked, because only the user knows what a second execution would do.
func (sh *shell) adviseRepeat(outcome *experiment.Outcome, cfg experiment.Config, r *runFlags) {
	asked := r.repeat > 0 || r.duration > 0 || r.until > 0
	if asked || !cfg.Starts() || cfg.Rests() || toldSomething(outcome.Data) {
		return
	}
	program := cfg.Args[0]
	whole := outcome.Data.Run.WholeRuns
	points := "count what it does once for each unit of work, with -p; whatif points " + report.Quoted(program) +
		" lists some"
	switch {
	case outcome.Status != 0 && whole: // the program failed or was ended, so a repetition would not help
		sh.say("whatif: ", fmt.Sprintf("%s did not end by itself with status 0, so this execution is no experiment", program))
		sh.say("whatif: hint: ", points)
	case outcome.Status != 0 || !whole && unvisited(outcome.Data): // the report says so
	case whole:
		sh.say("whatif: ", fmt.Sprintf("%s has no progress point, so one execution is one experiment, "+
			"which tells nothing by itself", program))
		sh.say("whatif: hint: ", "repeat it: "+repeating(r.typed))
		sh.say("whatif: hint: ", "or "+points)
	default:
		sh.say("whatif: ", fmt.Sprintf("one execution of %s was too short to tell anything", program))
		sh.say("whatif: hint: ", "repeat it: "+repeating(r.typed))
	}
}

// toldSomething tells whether a run gives an answer about any unit.
func toldSomething(d *profile.Data) bool {
	if d.HasRecording() {
		return true
	}
	for _, t := range analyze.Analyze([]*profile.Data{d}, analyze.Options{}).Targets {
		if slices.ContainsFunc(t.Effects, func(e analyze.Effect) bool { return e.Verdict != analyze.Unsure }) {
			return true
		}
	}
	return false
}

// unvisited tells whether no progress point was ever visited. Repeating such a run is of no use.
func unvisited(d *profile.Data) bool {
	return d.End == nil || !slices.ContainsFunc(d.End.Visits, func(n int64) bool { return n > 0 })
}

// repeating gives the command line that repeats the program, quoted for a shell. typed is the command and its
// arguments.
func repeating(typed []string) string {
	words := []string{os.Args[0], typed[0], "--repeat", strconv.Itoa(advisedRepeats)}
	if os.Getenv("SUDO_UID") != "" {
		words = slices.Insert(words, 0, "sudo")
	}
	words = append(words, typed[1:]...)
	for i := range words {
		words[i] = report.Quoted(words[i])
	}
	return strings.Join(words, " ")
}
