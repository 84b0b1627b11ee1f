package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"text/tabwriter"

	"whatif/internal/analyze"
	"whatif/internal/code/symbol"
	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/point/source"
	"whatif/internal/report"
)

// pointsCommand lists what -p and -l take for a program.
func pointsCommand(_ context.Context, sh *shell, args []string) (int, error) {
	args, err := parse(sh, newFlags("points"), args, 1, 1)
	if err != nil {
		return 0, err
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		path = args[0] // a library need not be executable
	}
	b, err := symbol.Open(path)
	if err != nil {
		return 0, hint.New(err, "name a program or a library, an ELF file; of a script, what it starts")
	}
	defer b.Close()
	if err := sh.printOffers(b); err != nil {
		return 0, err
	}
	return 0, sh.printLibraries(b)
}

// printOffers prints the progress points that one binary offers.
func (sh *shell) printOffers(b *symbol.Binary) error {
	all, err := point.OffersOf(b)
	if err != nil {
		return err
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
		fmt.Fprintf(sh.stdout, "  %s:\n", of.Title)
		w := tabwriter.NewWriter(sh.stdout, 0, 0, 2, ' ', 0)
		for _, o := range of.Offers {
			flag := "-p"
			if o.Pair {
				flag = "-l"
			}
			fmt.Fprintf(w, "    %s %s\t%s\n", flag, report.Clean(quoted(o.Spec)), report.Clean(o.Note))
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
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
			err = sh.printOffers(lib)
		} else if probes, broken := lib.USDTProbes(); broken == nil && len(probes) > 0 {
			fmt.Fprintf(sh.stdout, "%s\n  USDT probes: %d sites; see whatif points %s\n", path, len(probes), quoted(path))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// quoted quotes a word for a shell, if the word needs that.
func quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:=%+,@", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
