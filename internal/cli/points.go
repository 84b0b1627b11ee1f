package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"text/tabwriter"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/object"
	"whatif/internal/doctor"
	"whatif/internal/experiment"
	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/point/source"
	"whatif/internal/report"
	"whatif/internal/target"
)

// seenTime is how long running processes are watched without --duration.
const seenTime = 3 * time.Second

// pointsFlags are the flags of whatif points.
type pointsFlags struct {
	duration time.Duration
	user     string
	attach   experiment.Attach
	names    list
}

func (p *pointsFlags) define(f *flags) {
	f.starts, f.isProgram = true, func(first string) bool { return !isNumber(first) }
	f.seconds(&p.duration, "duration", 0,
		"also run PROGRAM, for about `TIME`, and rank what it does; it then gets SIGTERM (for a PID: watch that long, "+
			"default 3s)")
	f.short("d", "duration")
	f.StringVar(&p.user, "user", "", userText)
	defineProcesses(f, &p.attach, &p.names)
}

// pointsCommand lists what -p and -l take for a program: what its file offers, and what it was seen to do.
func pointsCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("points")
	var p pointsFlags
	p.define(f)
	args, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	running, err := namesProcesses(&p.attach, p.names, args)
	if err != nil {
		return 0, err
	}
	usage := "usage: " + usageOf("points")
	switch {
	case p.duration < 0:
		return 0, wrongLine("--duration cannot be negative")
	case running:
		return p.see(ctx, sh, sh.stdout, experiment.Config{Attach: &p.attach, Duration: cmp.Or(p.duration, seenTime)})
	case len(args) == 0:
		return 0, hint.New(wrongLine("missing argument"), usage)
	case len(args) > 1 && p.duration == 0:
		return 0, hint.New(wrongLine("unexpected argument %q", args[1]),
			usage+"; with -d TIME the program is run, with these arguments")
	}
	offered, err := sh.printOffersOf(args[0])
	if err != nil && !(errors.Is(err, object.ErrScript) && p.duration > 0) { // what a script starts is ranked all the same
		return 0, err
	}
	if p.duration > 0 {
		return p.see(ctx, sh, sh.stderr, experiment.Config{Args: args, User: p.user, Duration: p.duration})
	}
	if offered > 0 {
		return 0, nil
	}
	return p.seeRunning(ctx, sh, args[0])
}

// seeRunning watches a program where it runs already, because its file offers nothing.
func (p *pointsFlags) seeRunning(ctx context.Context, sh *shell, program string) (int, error) {
	pids := target.RunningFile(program)
	if len(pids) == 0 || doctor.Require() != nil {
		sh.say("whatif: ", fmt.Sprintf("nothing in it is named like a unit of work, and it does not run now. To rank what "+
			"it does, at work: sudo whatif points -d 5s -- %s [ARG...], or sudo whatif points PID", report.Quoted(program)))
		return 0, nil
	}
	sh.say("whatif: ", fmt.Sprintf("nothing in it is named like a unit of work: watching process %d for %v",
		pids[0], seenTime))
	p.attach.PIDs, p.attach.Children = pids, true
	return p.see(ctx, sh, sh.stdout, experiment.Config{Attach: &p.attach, Duration: seenTime})
}

// printOffersOf prints what a program and its libraries offer, and returns how much the program itself does.
func (sh *shell) printOffersOf(program string) (offered int, err error) {
	path, err := exec.LookPath(program)
	if err != nil {
		path = program // a library need not be executable
	}
	b, err := symbol.Open(path)
	if errors.Is(err, object.ErrScript) {
		return 0, hint.New(err, "to rank what it starts and does: sudo whatif points -d 5s -- "+
			report.Quoted(program)+" [ARG...]")
	}
	if err != nil {
		return 0, hint.New(err, "name a program or a library, an ELF file")
	}
	defer b.Close()
	if offered, err = sh.printOffers(b); err != nil {
		return 0, err
	}
	return offered, sh.printLibraries(b)
}

// printOffers prints the progress points that one binary offers, and returns how many.
func (sh *shell) printOffers(b *symbol.Binary) (offered int, err error) {
	all, err := point.OffersOf(b)
	if err != nil {
		return 0, err
	}
	fmt.Fprintln(sh.stdout, report.Clean(b.Path()))
	inSource := sh.sourceOffers(b)
	for _, of := range append([]point.Offers{inSource}, all...) {
		if of.Note != "" {
			fmt.Fprintf(sh.stdout, "  %s: %s\n", of.Title, of.Note)
		}
		if len(of.Offers) == 0 && of.Note != "" {
			continue
		}
		if len(of.Offers) == 0 {
			fmt.Fprintf(sh.stdout, "  %s: none\n", of.Title)
			continue
		}
		offered += len(of.Offers)
		fmt.Fprintf(sh.stdout, "  %s:\n", of.Title)
		w := tabwriter.NewWriter(sh.stdout, 0, 0, 2, ' ', 0)
		for _, o := range of.Offers {
			flag := "-p"
			if o.Pair {
				flag = "-l"
			}
			fmt.Fprintf(w, "    %s %s\t%s\n", flag, report.Clean(report.Quoted(o.Spec)), report.Clean(o.Note))
		}
		if err := w.Flush(); err != nil {
			return 0, fmt.Errorf("printing: %w", err)
		}
	}
	return offered, nil
}

// sourceOffers lists the points in the source of a binary, and warns about points that are left out.
func (sh *shell) sourceOffers(b *symbol.Binary) point.Offers {
	found := source.Read(b.File())
	for _, text := range found.Warnings {
		fmt.Fprintln(sh.stderr, report.WarningLine(analyze.Warning{Text: report.Clean(text)}))
	}
	return point.SourceOffers(found, source.AsksForCoz(b.File()))
}

// printLibraries prints what the program's own libraries offer. Of the system's libraries it names only those with USDT
// probes, because such probes stand for something by themselves, such as an allocation of memory.
func (sh *shell) printLibraries(b *symbol.Binary) error {
	libraries := b.Libraries("")
	defer func() {
		for _, lib := range libraries {
			lib.Close()
		}
	}()
	for _, lib := range libraries {
		var err error
		path := lib.Path()
		if !(symbol.Origin{Path: path}).System() {
			_, err = sh.printOffers(lib)
		} else if probes, broken := lib.USDTProbes(); broken == nil && len(probes) > 0 {
			fmt.Fprintf(sh.stdout, "%s\n  USDT probes: %d sites; see whatif points %s\n", path, len(probes), report.Quoted(path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
