package cli

import (
	"context"
	"fmt"
	"strings"

	"whatif/internal/hint"
)

var shells = map[string]func([]description) string{
	"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion,
}

func completionCommand(_ context.Context, sh *shell, args []string) (int, error) {
	rest, err := parse(sh, newFlags("completion"), args, 1, 1)
	if err != nil {
		return 0, err
	}
	write := shells[rest[0]]
	if write == nil {
		return 0, hint.New(usageError{fmt.Errorf("writing completions: unknown shell %q", rest[0])},
			"the shells are bash, zsh and fish")
	}
	if _, err := fmt.Fprint(sh.stdout, write(describe())); err != nil {
		return 0, fmt.Errorf("writing completions: %w", err)
	}
	return 0, nil
}

func commandNames(all []description) string {
	var names []string
	for _, d := range all {
		names = append(names, d.name)
	}
	return strings.Join(names, " ")
}

// deviceOperands are the first operands of whatif device.
const deviceOperands = "list show compare add"

// helpTopics lists the words that whatif help takes.
func helpTopics(all []description) string { return commandNames(all) + " json device-schema" }

// flagWords lists the flags of a command as they are typed.
func flagWords(d description) (words []string) {
	for _, f := range d.flags() {
		if f.short != "" {
			words = append(words, "-"+f.short)
		}
		words = append(words, "--"+f.long)
	}
	return words
}

func bashCompletion(all []description) string {
	var b strings.Builder
	b.WriteString(`# bash completion of whatif
_whatif() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "` + commandNames(all) + `" -- "$cur"))
        return
    fi
    case "$cmd $prev" in
`)
	for _, d := range all {
		for _, f := range d.flags() {
			if f.words != nil {
				fmt.Fprintf(&b, "    \"%s --%s\") COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n",
					d.name, f.long, strings.Join(f.words, " "))
			}
		}
	}
	fmt.Fprintf(&b, "    \"help help\") COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n", helpTopics(all))
	b.WriteString(`    "completion completion") COMPREPLY=($(compgen -W "bash zsh fish" -- "$cur")); return ;;
    "device device") COMPREPLY=($(compgen -W "` + deviceOperands + `" -- "$cur")); return ;;
    esac
    if [[ $cur == -* ]]; then
        case $cmd in
`)
	for _, d := range all {
		if words := flagWords(d); words != nil {
			fmt.Fprintf(&b, "        %s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")) ;;\n",
				d.name, strings.Join(words, " "))
		}
	}
	b.WriteString(`        esac
        return
    fi
    COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -o bashdefault -F _whatif whatif
`)
	return b.String()
}

func zshCompletion(all []description) string {
	var b strings.Builder
	b.WriteString(`#compdef whatif
# zsh completion of whatif
_whatif() {
    if (( CURRENT == 2 )); then
        local -a commands=(
`)
	for _, d := range all {
		fmt.Fprintf(&b, "            %s\n", zshQuote(d.name+":"+d.summary))
	}
	b.WriteString(`        )
        _describe command commands
        return
    fi
    local cmd=$words[2]
    shift words
    (( CURRENT-- ))
    case $cmd in
`)
	for _, d := range all {
		fmt.Fprintf(&b, "    %s)\n        _arguments -s", d.name)
		for _, f := range d.flags() {
			for _, name := range []string{"-" + f.short, "--" + f.long} {
				if name == "-" {
					continue
				}
				spec := name + "[" + strings.NewReplacer("[", `\[`, "]", `\]`).Replace(f.summary()) + "]"
				switch {
				case f.words != nil:
					spec += ":value:(" + strings.Join(f.words, " ") + ")"
				case f.value == "FILE":
					spec += ":file:_files"
				case f.value != "":
					spec += ":" + strings.NewReplacer(":", `\:`, "[", "", "]", "").Replace(f.value) + ": "
				}
				fmt.Fprintf(&b, " \\\n            %s", zshQuote("*"+spec))
			}
		}
		rest := "*:file:_files"
		switch d.name {
		case "help":
			rest = "1:command:(" + helpTopics(all) + ")"
		case "completion":
			rest = "1:shell:(bash zsh fish)"
		case "device":
			fmt.Fprintf(&b, " \\\n            %s", zshQuote("1:what:("+deviceOperands+")"))
		case "run", "record":
			rest = "*::program:_normal"
		}
		fmt.Fprintf(&b, " \\\n            %s\n        ;;\n", zshQuote(rest))
	}
	b.WriteString("    esac\n}\n_whatif \"$@\"\n")
	return b.String()
}

func zshQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func fishCompletion(all []description) string {
	var b strings.Builder
	b.WriteString("# fish completion of whatif\n")
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, d := range all {
		fmt.Fprintf(&b, "complete -c whatif -f -n __fish_use_subcommand -a %s -d %s\n", d.name, quote(d.summary))
	}
	for _, d := range all {
		for _, f := range d.flags() {
			fmt.Fprintf(&b, "complete -c whatif -n '__fish_seen_subcommand_from %s' -l %s", d.name, f.long)
			if f.short != "" {
				fmt.Fprintf(&b, " -s %s", f.short)
			}
			switch {
			case f.words != nil:
				fmt.Fprintf(&b, " -x -a %s", quote(strings.Join(f.words, " ")))
			case f.value == "FILE":
				b.WriteString(" -r")
			case f.value != "":
				b.WriteString(" -x")
			}
			fmt.Fprintf(&b, " -d %s\n", quote(f.summary()))
		}
	}
	fmt.Fprintf(&b, "complete -c whatif -f -n '__fish_seen_subcommand_from help' -a %s\n", quote(helpTopics(all)))
	b.WriteString("complete -c whatif -f -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'\n")
	fmt.Fprintf(&b, "complete -c whatif -n '__fish_seen_subcommand_from device' -a %s\n", quote(deviceOperands))
	return b.String()
}
