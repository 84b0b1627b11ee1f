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
	groups               []flagGroupDescription
}

// A flagGroupDescription is one of the groups in which help lists a command's flags.
type flagGroupDescription struct {
	title string
	flags []flagDescription
}

type flagDescription struct {
	long, short string
	value       string   // the word that stands for the flag's value; empty: the flag has none
	text        string   // its line breaks are for lists of forms; the first line says what the flag does
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
			_, _ = c.run(context.Background(), &shell{describe: func(f *flags) { d.groups = f.describe() }}, nil)
		}
		all = append(all, d)
	}
	return all
}

func (f *flags) describe() (all []flagGroupDescription) {
	for _, group := range f.grouped() {
		d := flagGroupDescription{title: group.title}
		for _, name := range strings.Fields(group.names) {
			d.flags = append(d.flags, f.describeFlag(f.Lookup(name)))
		}
		all = append(all, d)
	}
	return all
}

func (f *flags) describeFlag(g *flag.Flag) flagDescription {
	value, text := flag.UnquoteUsage(g)
	d := flagDescription{long: g.Name, short: f.shorts[g.Name], value: value, text: text}
	if !slices.Contains([]string{"", "0", "0s", "false"}, g.DefValue) {
		d.def = g.DefValue
	}
	if d.words = oneOf(value); d.words != nil {
		d.value = strings.ToUpper(g.Name)
	}
	return d
}

// flags lists the flags of all groups.
func (d description) flags() (all []flagDescription) {
	for _, group := range d.groups {
		all = append(all, group.flags...)
	}
	return all
}

// oneOf splits a value such as text|json into its words; nil: the value is not of this form.
func oneOf(value string) []string {
	if strings.ToLower(value) != value || !strings.Contains(value, "|") {
		return nil
	}
	return strings.Split(value, "|")
}

// summary is the first sentence or form of a flag's text: completions have one line.
func (d flagDescription) summary() string {
	line, _, _ := strings.Cut(d.text, "\n")
	return line
}

// defaultText is what follows the text of a flag that has a default.
func (d flagDescription) defaultText() string {
	if d.def == "" {
		return ""
	}
	return " (default " + d.def + ")"
}
