package cli

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"whatif/internal/hint"
)

// read sets the flags in args and returns the operands. Flags may stand before or after operands. Package flag stops at
// the first operand, and its errors name a flag with one dash, so whatif reads args itself. Everything after "--" is an
// operand. If the command starts a program (starts), everything after its first operand, the program, is an operand.
func (f *flags) read(args []string) (operands []string, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		switch {
		case word == "--":
			return append(operands, args...), nil
		case len(word) > 1 && word[0] == '-':
			if args, err = f.readFlag(word, args); err != nil {
				return nil, err
			}
		case f.starts && (f.isProgram == nil || f.isProgram(word)):
			return append([]string{word}, args...), nil
		default:
			operands = append(operands, word)
		}
	}
	return operands, nil
}

// readFlag sets the flag that word names, and returns args without the flag's value.
func (f *flags) readFlag(word string, args []string) ([]string, error) {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	name, value, has := strings.Cut(name, "=")
	if why := f.refused[name]; why != nil {
		return nil, fmt.Errorf("%s %s: %w", f.Name(), typed(name), why)
	}
	g := f.Lookup(name)
	if g == nil {
		if name == "h" || name == "help" {
			return nil, flag.ErrHelp
		}
		return nil, fmt.Errorf("unknown flag %s", typed(name))
	}
	alone, _ := g.Value.(interface{ IsBoolFlag() bool })
	switch {
	case has:
	case alone != nil && alone.IsBoolFlag():
		value = "true"
	case len(args) == 0:
		return nil, fmt.Errorf("flag %s needs a value", typed(name))
	default:
		value, args = args[0], args[1:]
	}
	if err := f.Set(name, value); err != nil {
		return nil, fmt.Errorf("flag %s: %w", typed(name), readable(err, value))
	}
	return args, nil
}

// typed gives a flag as it is typed: a letter after one dash, a word after two.
func typed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// readable adds the wrong value to those errors of package flag that do not have it.
func readable(err error, value string) error {
	switch err.Error() {
	case "parse error":
		return fmt.Errorf("%q is not a value that it takes", value)
	case "value out of range":
		return fmt.Errorf("%q is out of its range", value)
	}
	return err
}

// usageHint gives a hint to an error of the command line that has none: the command that lists the flags.
func usageHint(command string, err error) error {
	if usage := (usageError{}); errors.As(err, &usage) && hint.Of(err) == "" {
		return hint.New(err, fmt.Sprintf("whatif help %s lists the flags", command))
	}
	return err
}
