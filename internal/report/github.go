package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"whatif/internal/analyze"
)

// GitHub writes a summary in GitHub's Markdown, short enough for a pull request: for each point the
// units that rank first. Text from outside is formatted as code, so that no name is taken for
// Markdown, for a user or for an issue.
func GitHub(w io.Writer, r *analyze.Result, opt Options) error {
	points, err := selected(r, opt.Point)
	if err != nil {
		return err
	}
	const few = 5
	if opt.Top == 0 || opt.Top > few {
		opt.Top = few
	}
	out := bufio.NewWriter(w)
	title := "nothing"
	if len(r.Runs) > 0 {
		title = "a program"
		if args := r.Runs[0].Run.Args; len(args) > 0 {
			title = codeSpan(cutRight(command(args), 80))
		}
	}
	fmt.Fprintf(out, "### What would make %s faster\n\n", title)
	fmt.Fprintf(out, "Measured for %.0f s: %s, %s.\n",
		float64(r.RealNS)/1e9, count(r.Experiments, "experiment"), count(r.Baselines, "baseline"))
	warnings := r.Warnings
	if doubt := r.Doubt(); doubt != "" {
		fmt.Fprintf(out, "\n**%s**\n", plainMarkdown(doubt))
		if said, ok := r.DoubtReason(); ok {
			warnings = slices.DeleteFunc(slices.Clone(warnings), func(w analyze.Warning) bool { return w == said })
		}
	}
	for i, warning := range serious(warnings) {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "- **%s**\n", plainMarkdown(warning.Text))
	}
	name := unitNames(unitsOf(r))
	for _, k := range points {
		if opt.Point == "" && begins(r, k) {
			continue
		}
		metric, what := analyze.Throughput, "time per visit of"
		for _, l := range r.Latencies {
			if l.End == k {
				metric, what = analyze.MeanLatency, "mean latency of"
			}
		}
		githubTable(out, r, k, metric, what, name, opt.Top)
	}
	githubMinor(out, warnings)
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing summary: %w", err)
	}
	return nil
}

// githubMinor puts the doubts that did not come first into a fold.
func githubMinor(out io.Writer, all []analyze.Warning) {
	rest := minor(all)
	if len(rest) == 0 {
		return
	}
	fmt.Fprint(out, "\n<details><summary>Doubts</summary>\n\n")
	for _, w := range rest {
		fmt.Fprintf(out, "- %s\n", plainMarkdown(w.Text))
	}
	fmt.Fprint(out, "\n</details>\n")
}

func githubTable(out io.Writer, r *analyze.Result, k int, metric analyze.Metric, what string, name namer, top int) {
	fmt.Fprintf(out, "\nLess %s %s, in percent, if code were faster:\n\n",
		what, codeSpan(cutRight(clean(r.Points[k].Name), 60)))
	rows, more, few := 0, 0, 0
	var doubts []string
	for i := range r.Targets {
		t := &r.Targets[i]
		for j := range t.Effects {
			e := &t.Effects[j]
			if e.Point != k || e.Metric != metric || e.Experiments == 0 {
				continue
			}
			if e.TooFew() {
				few++
				continue
			}
			if rows == top {
				more++
				continue
			}
			if rows++; rows == 1 {
				fmt.Fprint(out, "| code | share | 25% faster | 50% faster | all of it | |\n|---|--:|--:|--:|--:|---|\n")
			}
			fmt.Fprintf(out, "| %s | %s |", codeSpan(cutLeft(clean(name(t.Unit)), 60)), share(t.Share))
			for _, mark := range marks {
				tested, _ := e.At(mark)
				fmt.Fprintf(out, " %s |", testedGain(e, tested))
			}
			short, text := verdictText(e)
			fmt.Fprintf(out, " **%s**: %s |\n", short, strings.TrimPrefix(text, labels[e.Verdict]+": "))
			for _, note := range notes(t, e) {
				doubts = append(doubts, codeSpan(cutLeft(clean(name(t.Unit)), 60))+": "+plainMarkdown(note))
			}
		}
	}
	switch {
	case rows == 0 && r.Points[k].Visits == 0:
		fmt.Fprint(out, "Never visited: nothing to measure.\n")
	case rows == 0 && few == 0:
		fmt.Fprint(out, "Nothing was tried.\n")
	case more > 0:
		fmt.Fprintf(out, "\n%s more: `whatif report` shows them.\n", count(more, "unit"))
	}
	if few > 0 {
		if rows > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "Too few experiments to tell: %s.\n", count(few, "unit"))
	}
	if len(doubts) > 0 {
		fmt.Fprint(out, "\n")
	}
	for _, doubt := range doubts {
		fmt.Fprintf(out, "- %s\n", doubt)
	}
}

// codeSpan formats text as code. It works in tables too, where a bar would end the cell even in
// code.
func codeSpan(s string) string {
	fence, run := 1, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		if run++; run >= fence {
			fence = run + 1
		}
	}
	if s == "" {
		s = " "
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	ticks := strings.Repeat("`", fence)
	return ticks + strings.ReplaceAll(s, "|", `\|`) + ticks
}

// plainMarkdown escapes text, so that nothing in it is Markdown, HTML, a user or an issue.
func plainMarkdown(s string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@' || r == '#':
			// GitHub would take an entity for a user, but not text with a character of no width in
			// between.
			b.WriteRune(r)
			b.WriteString("<!-- -->")
		case strings.ContainsRune("\\`*_[]|~!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
