package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"whatif/internal/cli"
)

// inText finds commands in running text: code between backticks, and the usage lines and examples of the help and the
// man page, which have no backticks.
var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	ofWhatif = regexp.MustCompile(`^(?:sudo )?(?:env \S+ )?(?:bin/)?whatif(?:$|\s)`)
	plainUse = regexp.MustCompile(`(?m)(?:^usage: |^  |: )((?:sudo )?whatif [a-z]+ .*?)(?:$|   |[;)])`)
)

// standIns has values for the documents' placeholders, which are words in capitals. A word in brackets may be left out,
// so the command is parsed with it and without it; "..." is dropped.
var standIns = map[string]string{
	"PID": "1234", "N": "3", "PERCENT": "5", "P": "5", "TIME": "30s", "PERIOD": "1ms", "LENGTH": "200ms",
	"SPEC": "func:f", "POINT": "func:f", "UNIT": "a.c:1", "BEGIN": "func:f", "END": "func:g", "COMMAND": "run",
	"KIND": "line", "LIST": "all",
	"SHELL": "bash", "PATH": "p"}

var standIn = regexp.MustCompile(`[A-Z]{1,}`)

// lines lists the command lines that a shown command stands for.
func lines(command string) (all [][]string) {
	command = strings.NewReplacer("…", "", "...", "", "\\\n", " ", "FILE:LINE", "a.c:1").Replace(command)
	for _, optional := range []bool{false, true} {
		text := command
		for {
			from := strings.LastIndex(text, "[")
			to := strings.Index(text[max(from, 0):], "]") + from
			if from < 0 || to < from {
				break
			}
			inner := ""
			if optional {
				inner = text[from+1 : to]
			}
			text = text[:from] + inner + text[to+1:]
		}
		// OLD NEW | FILE, and text|json: each of them.
		for _, one := range strings.Split(text, " | ") {
			if !ofWhatif.MatchString(one) {
				continue
			}
			words := shellWords(one)
			words = words[slices.IndexFunc(words, func(w string) bool { return w == "whatif" || w == "bin/whatif" })+1:]
			ends := func(w string) bool { return slices.Contains([]string{">", "&&", ";", "&"}, w) }
			if end := slices.IndexFunc(words, ends); end >= 0 {
				words = words[:end]
			}
			for i, word := range words {
				if word == "--" {
					break
				}
				word, _, _ = strings.Cut(word, "|")
				words[i] = standIn.ReplaceAllStringFunc(word, func(w string) string {
					if is, ok := standIns[w]; ok && (w == word || !strings.Contains(word, "func:"+w)) {
						return is
					}
					return w
				})
				if word == "flags" { // [flags]
					words[i] = ""
				}
			}
			all = append(all, slices.DeleteFunc(words, func(w string) bool { return w == "" }))
		}
	}
	return all
}

// shellWords splits a command like a shell: at blanks, but not in quotes or in $(...).
func shellWords(s string) (words []string) {
	var b strings.Builder
	quote, depth, any := rune(0), 0, false
	for _, r := range s + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			b.WriteRune(r)
		case r == '\'' || r == '"':
			quote, any = r, true
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ' ' && depth == 0 || r == '\n':
			if b.Len() > 0 || any {
				words = append(words, b.String())
			}
			b.Reset()
			any = false
		case depth == 0:
			b.WriteRune(r)
		}
	}
	for i, w := range words { // a shell replaces $(...) by numbers here
		if strings.HasPrefix(w, "$") {
			words[i] = "1234"
		}
	}
	return words
}

// TestInlineCommands parses every whatif command in the running text of the documents, the man page and the help, with
// the flags that commands really have. TestDocumentedCommands executes the commands of code blocks.
func TestInlineCommands(t *testing.T) {
	plain := strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(ga`, "`", `\fB`, "", `\fI`, "", `\fR`, "")
	texts := map[string]string{"man": plain.Replace(cli.ManPage())}
	names, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob("../../docs/guides/*.md")
	if err != nil {
		t.Fatal(err)
	}
	names = append(append(names, guides...), "../../README.md", "../../ARCHITECTURE.md", "../../accuracy/README.md")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name)] = string(text)
	}
	found := 0
	check := func(where, command string) {
		for _, words := range lines(command) {
			found++
			err := cli.CheckLine(words)
			// A text may name a command or a flag without the rest, such as `whatif diff`.
			if err != nil && len(words) <= 3 && incomplete.MatchString(err.Error()) {
				continue
			}
			if err != nil {
				t.Errorf("%s: %s: parsed as %q: %v", where, command, words, err)
			}
		}
	}
	for where, text := range texts {
		inBlock := false
		var prose strings.Builder
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "```") {
				inBlock = !inBlock
				continue
			}
			if c, ok := strings.CutPrefix(strings.TrimSpace(line), "$ "); ok && inBlock && ofWhatif.MatchString(c) {
				check(where, c)
			}
			if !inBlock {
				prose.WriteString(line)
			}
		}
		for _, m := range codeSpan.FindAllStringSubmatch(prose.String(), -1) {
			c := strings.Join(strings.Fields(m[1]), " ")
			if ofWhatif.MatchString(c) && !strings.HasPrefix(c, "whatif =") { // the latter is in Cargo.toml
				check(where, c)
			}
		}
	}
	for of, text := range cli.HelpTexts() {
		for _, m := range plainUse.FindAllStringSubmatch(text, -1) {
			check("whatif help "+of, m[1])
		}
	}
	if found < 80 {
		t.Errorf("%d commands found: the documents are not read as they should", found)
	}
}

var incomplete = regexp.MustCompile(`missing argument$|needs a value$`)

// TestInlineRule checks what lines makes of commands with placeholders.
func TestInlineRule(t *testing.T) {
	for command, want := range map[string][]string{
		"whatif diff OLD NEW [--format json|github]": {"diff OLD NEW", "diff OLD NEW --format json"},
		"whatif attach PID...":                       {"attach 1234", "attach 1234"},
		"sudo whatif run -p [NAME=]SPEC -- ./server PID": {
			"run -p func:f -- ./server PID", "run -p NAME=func:f -- ./server PID",
		},
		"whatif attach $(pgrep -n server) -d 30": {"attach 1234 -d 30", "attach 1234 -d 30"},
	} {
		var got []string
		for _, words := range lines(command) {
			got = append(got, strings.Join(words, " "))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
	if err := cli.CheckLine([]string{"diff", "a", "b", "--fromat", "json"}); err == nil {
		t.Error("an unknown flag is none")
	}
	if err := cli.CheckLine([]string{"run", "-p", "nonsense/", "--", "./server"}); err == nil {
		t.Error("no progress point is one")
	}
}
