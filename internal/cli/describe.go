package cli

import (
	"context"
	"flag"
	"slices"
	"strings"
)

// A description is what a command takes. The man page and the completions are made of descriptions.
type description struct {
	name, usage, summary string
	flags                []flagDescription
}

type flagDescription struct {
	long, short string
	value       string   // the word that stands for the flag's value; empty: the flag has none
	text        string   // one line
	def         string   // the default, unless it is zero
	words       []string // all possible values, if these are a few words
}

// describe asks every command for its flags. Each command defines its flags and then calls parse, which returns there
// if shell.describe is set. So the flags of a command are defined in one place.
func describe() (all []description) {
	for _, c := range commands() {
		d := description{name: c.name, usage: c.usage, summary: c.summary}
		if c.name != "help" && c.name != "completion" {
			// The error is always flag.ErrHelp.
			_, _ = c.run(context.Background(), &shell{describe: func(f *flags) { d.flags = f.describe() }}, nil)
		}
		all = append(all, d)
	}
	return all
}

func (f *flags) describe() (all []flagDescription) {
	f.VisitAll(func(g *flag.Flag) {
		if g.Usage == "" { // a one-letter name
			return
		}
		value, text := flag.UnquoteUsage(g)
		text = strings.ReplaceAll(text, "\n", " ")
		d := flagDescription{long: g.Name, short: f.shorts[g.Name], value: value, text: text}
		if !slices.Contains([]string{"", "0", "0s", "false"}, g.DefValue) {
			d.def = g.DefValue
		}
		if d.words = oneOf(value); d.words != nil {
			d.value = strings.ToUpper(g.Name)
		}
		all = append(all, d)
	})
	return all
}

// oneOf splits a value such as text|json into its words; nil: the value is not of this form.
func oneOf(value string) []string {
	if strings.ToLower(value) != value || !strings.Contains(value, "|") {
		return nil
	}
	return strings.Split(value, "|")
}

// about has what help and the man page say about a command after its summary.
var about = map[string]string{
	"run": "Runs PROGRAM and experiments with it: units of its code are made faster, virtually, and the visits of " +
		"progress points counted. A status line shows how far it is; in the end there is a table, and a profile to " +
		"which the next run adds. Without --duration, --until and --repeat the program runs once, to its end; when the " +
		"leading units are known to +-2 points experiments end before, and the program runs on undisturbed (--repeat 1 " +
		"measures all of it). The exit status is the program's own, but 0 where --duration or --until ended it.",
	"record": "Runs PROGRAM and records what it does: which thread runs where, what lets waiting threads continue, " +
		"samples, and visits of progress points. Nothing is delayed. The recording is in the profile. Where events come " +
		"too often it has windows of time, chosen at random.",
	"attach": "As run, with processes that run already and what they start from now on. They go on at full speed when " +
		"whatif ends, however it ends.",
	"system": "As run, with every process of the machine and the kernel; after a stop everyone else has the core for as " +
		"long as that took.",
	"view": "One page: ranked units with their curves, each unit's experiments, the source around it. It is served to " +
		"this machine only, on a port and under an address that nobody can guess. report --format html writes the same " +
		"page into a file.",
	"demo": "Takes some 15 seconds, and needs no compiler.",
	"device": "Measures processor, memory, disk, network and waking, in 20 s: a table with spreads goes to stderr, a " +
		"device file to stdout, whose schema \"whatif help device-schema\" prints. The machine should do nothing else. " +
		"list, show NAME, compare A B and add FILE work on the database, $XDG_DATA_HOME/whatif/devices, and on built-in " +
		"devices, which are computed from public figures. A and B are names or files. B may also be speeds relative to " +
		"A, by class: cpu=0.43,memory=1,disk=2,net=0.18,wake=1.",
	"doctor": "Looks at privileges, the kernel, the clock and the processors, and at what other programs do with them; " +
		"leaves nothing behind.",
	"points": "Lists functions, points in the source and static probes that can be counted, in the words of --point.",
	"report": "Reads profiles of whatif and of COZ, both forms of them (default: whatif.profile). Runs of several files " +
		"are merged; those of other builds of the program than the latest are left out unless --mixed is given. The " +
		"formats: text; json, whose schema \"whatif help json\" prints; csv, a row for each unit, point, metric and " +
		"speed-up; github, a short summary in Markdown; pprof, for go tool pprof (use -lines); coz and coz-json, for " +
		"COZ's viewer and scripts.",
	"diff": "Compares two profiles: by how much the program became faster, whether units that became faster brought " +
		"what was promised, and whose promises changed. Lines that moved are found by their text; what became of one " +
		"that was written anew, by what is new in its function. The format github is a summary in Markdown, for the " +
		"change's pull request.",
	"ask": "Answers from the last recording in a profile (default: whatif.profile), in which nothing was delayed: the " +
		"program is run again in a simulated machine, with everything that --together and --cores name. Every point is " +
		"answered, with an interval, or with the reason why the recording does not tell.",
	"check": "For use in a build: exits with 1 if a limit surely does not hold, that is with the whole 95% interval, " +
		"and with 0 if it holds or if that cannot be told; it says which. With --strict it exits with 1 where it cannot be " +
		"told, too. Of two profiles it is sure only with more than one run in one of them. Percent of OLD NEW are of " +
		"the time per visit, or of the mean latency.",
	"completion": "Prints the completions of a shell. bash: source <(whatif completion bash); zsh: whatif completion " +
		"zsh > a file _whatif in $fpath; fish: whatif completion fish | source.",
}
