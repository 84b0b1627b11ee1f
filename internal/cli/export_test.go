package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"whatif/internal/point"
)

// CheckLine parses a command line with the flags of its command. Nothing is opened or run.
func CheckLine(args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		var wrong error
		sh := &shell{stdout: io.Discard, stderr: io.Discard, describe: func(f *flags) {
			if _, wrong = f.operands(args[1:]); wrong == nil {
				wrong = f.checkSpecs()
			}
		}}
		if c.name == "help" { // it has no flags
			return checkTopic(args[1:])
		}
		_, _ = c.run(context.Background(), sh, args[1:]) // returns where the command parses its flags
		return wrong
	}
	return fmt.Errorf("no command %s", args[0])
}

func checkTopic(args []string) error {
	if len(args) > 1 || len(args) == 1 && !slices.Contains(strings.Fields(helpTopics(describe())), args[0]) {
		return fmt.Errorf("help has no topic %q", args)
	}
	return nil
}

// checkSpecs parses the values of those flags that name code.
func (f *flags) checkSpecs() error {
	var all []error
	f.Visit(func(g *flag.Flag) {
		values, ok := g.Value.(*list)
		if !ok {
			return
		}
		for _, text := range *values {
			var err error
			switch g.Name {
			case "p", "point":
				_, err = point.Parse(text)
			case "l", "latency":
				_, err = point.ParseLatency(text)
			case "t", "target":
				_, err = point.ParseTarget(text)
			case "include", "exclude":
				_, err = scopeRules([]string{text})
			}
			all = append(all, err)
		}
	})
	return errors.Join(all...)
}

// HelpTexts returns the help of all commands, by the command's name.
func HelpTexts() map[string]string {
	all := map[string]string{}
	for _, c := range commands() {
		if c.name == "help" {
			continue
		}
		var b strings.Builder
		_, _ = c.run(context.Background(), &shell{describe: func(f *flags) { f.help(&b) }}, nil)
		all[c.name] = b.String()
	}
	var b strings.Builder
	usage(&b)
	all["help"] = b.String()
	return all
}
