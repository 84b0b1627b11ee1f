// Sqlite checks whatif's predictions on a program that was not written for it: SQLite, built from Debian's source
// package, with threads that insert rows (programs/insert.c).
//
//	go run ./accuracy/sqlite [-only CHANGES] [-modes shared,private] [-rounds 6] [-seconds 1] [-predict 20]
//
// For each change (changes.go) it asks whatif for the program's gain if the code were faster. Then it makes the code
// really faster (or slower), runs the program again, and prints both gains. It needs root, gcc, tclsh, and apt-get with
// Debian's source packages. The built files stay in accuracy/build/sqlite. docs/sqlite.md has the results.
//
// The normal sequence: [debian.SQLite], [compile], then for each mode and change [study.predict] and [study.truth].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"whatif/accuracy/internal/debian"
	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

// options is the command line.
type options struct {
	modes   []string
	changes []change
	rounds  int
	seconds float64 // of one run for the truth
	predict float64 // the seconds of the run under whatif
	whatif  string
	build   bool // only build
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "sqlite", err, func() error { return o.studyAll(ctx, stdout, stderr) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("sqlite", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&o.rounds, "rounds", 6, "run each program really changed so many `times`")
	f.Float64Var(&o.seconds, "seconds", 1, "length of one such run")
	f.Float64Var(&o.predict, "predict", 20, "length of the run under whatif, in `seconds`")
	f.StringVar(&o.whatif, "whatif", "bin/whatif", "the whatif `command`, from the checkout's root")
	f.BoolVar(&o.build, "build", false, "only build the programs")
	modes := f.String("modes", "shared,private", "`names` of databases that are inserted into")
	only := f.String("only", "", "make only these changes, `names` of "+strings.Join(names(changes), ", "))
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if o.rounds < 2 || !(o.seconds > 0) || !(o.predict > 0) {
		return nil, errors.New("reading the command line: at least two rounds and some seconds are needed")
	}
	o.changes = changes
	if *only != "" {
		o.changes = nil
		for name := range strings.SplitSeq(*only, ",") {
			i := slices.Index(names(changes), name)
			if i < 0 {
				return nil, fmt.Errorf("reading the command line: there is no change %q, but %s",
					name, strings.Join(names(changes), ", "))
			}
			o.changes = append(o.changes, changes[i])
		}
	}
	o.modes = strings.Split(*modes, ",")
	for _, m := range o.modes {
		if m != "shared" && m != "private" {
			return nil, fmt.Errorf("reading the command line: there is no mode %q, but shared and private", m)
		}
	}
	return o, nil
}

// studyAll studies all chosen modes and changes, and prints each result when it is known.
func (o *options) studyAll(ctx context.Context, stdout, stderr io.Writer) error {
	r, err := rig.Open(o.whatif)
	if err != nil {
		return err
	}
	dir := filepath.Join(r.Root(), "accuracy", "build", "sqlite")
	source, _, err := debian.SQLite(ctx, dir, stderr)
	if err != nil {
		return err
	}
	programs, err := compile(ctx, r.Root(), dir, source, stderr)
	if err != nil || o.build {
		return err
	}
	if err := r.CheckWhatif(); err != nil {
		return err
	}
	if err := writeHead(stdout); err != nil {
		return err
	}
	for _, mode := range o.modes {
		for i := range o.changes {
			s := study{rig: r, options: o, programs: programs, mode: mode, change: &o.changes[i]}
			if err := s.predict(ctx); err != nil {
				return err
			}
			if err := s.truth(ctx); err != nil {
				return err
			}
			if err := s.write(stdout); err != nil {
				return err
			}
		}
	}
	return nil
}
