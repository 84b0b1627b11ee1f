// Kernels finds out what whatif can do on other kernels. It boots Debian's kernels, the newest of each version, in
// virtual machines, and tries everything there.
//
//	go run ./accuracy/kernels [-only 6.1,6.1-rt,6.12] [-arch amd64,arm64] [-seconds 10] [-kvm]
//
// It needs qemu, and apt to download packages; nothing is installed. The machines are emulated, which is slow. So the
// accuracy of predictions there means nothing. But there must be predictions, and counts must be exact.
//
// The normal sequence: [newPackages], for each architecture [newMachine], for each kernel [machine.boot], one [table].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"whatif/accuracy/internal/rig"
)

func main() { rig.Main(run) }

type options struct {
	only    []string
	arches  []string
	seconds int
	kvm     bool
	trials  string
}

func run(ctx context.Context, stdout, stderr io.Writer, args []string) int {
	o, err := parseOptions(stderr, args)
	return rig.Status(stderr, "kernels", err, func() error { return o.try(ctx, stdout, stderr) })
}

func parseOptions(stderr io.Writer, args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("kernels", flag.ContinueOnError)
	f.SetOutput(stderr)
	only := f.String("only", "", "try only these `versions`: 6.1,6.1-rt,6.12")
	arches := f.String("arch", "amd64,arm64", "for these `architectures`")
	f.IntVar(&o.seconds, "seconds", 10, "length of each trial, in the virtual machine")
	f.BoolVar(&o.kvm, "kvm", false, "let the processor run the virtual machines of its own architecture, by /dev/kvm")
	f.StringVar(&o.trials, "trials", "", "try only these `things`, by their names in the table")
	if err := rig.Parse(f, args); err != nil {
		return nil, err
	}
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	o.arches = strings.Split(*arches, ",")
	for _, arch := range o.arches {
		if _, ok := architectures[arch]; !ok {
			return nil, fmt.Errorf("reading the command line: no architecture %q: there are amd64 and arm64", arch)
		}
	}
	if o.seconds < 1 {
		return nil, errors.New("reading the command line: a trial takes a second at least")
	}
	return o, nil
}

// try boots all kernels and prints the table. If one fails, it prints the results so far.
func (o *options) try(ctx context.Context, stdout, stderr io.Writer) error {
	root, err := rig.FindRoot()
	if err != nil {
		return err
	}
	dir := filepath.Join(root, "accuracy", "build", "kernels")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making a directory for the kernels: %w", err)
	}
	packages, err := newPackages(ctx, dir, o.arches)
	if err != nil {
		return err
	}
	var t table
	for _, arch := range o.arches {
		if err := o.tryAll(ctx, root, dir, arch, packages, &t, stderr); err != nil {
			return errors.Join(err, t.write(stdout))
		}
	}
	if len(t.rows) == 0 {
		return fmt.Errorf("finding kernels: Debian has no %s", strings.Join(o.only, ", "))
	}
	return t.write(stdout)
}

// tryAll boots all kernels of one architecture, and adds their results to the table.
func (o *options) tryAll(
	ctx context.Context, root, dir, arch string, packages *packages, t *table, stderr io.Writer,
) error {
	kernels, err := packages.kernels(ctx, arch, o.only)
	if err != nil {
		return err
	}
	if len(kernels) == 0 {
		return nil
	}
	m, err := newMachine(ctx, root, dir, arch, o.kvm)
	if err != nil {
		return err
	}
	for _, k := range kernels {
		image, err := packages.image(ctx, k)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // a mirror may list a package that it no longer has
			t.add(k, nil, err)
			continue
		}
		log := filepath.Join(dir, k.release+".log")
		fmt.Fprintf(stderr, "%s: see %s\n", k.release, log)
		trials := o.trials
		if k.realTime && trials == "" {
			trials = "refused"
		}
		results, err := m.boot(ctx, image, log, fmt.Sprintf("SECONDS=%d TRIALS=%s", o.seconds, trials))
		t.add(k, results, err)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}
