package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/experiment"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// status is the line at the foot of the terminal while a program is profiled.
// The program may print there too: the line is drawn anew after each change and
// wiped before anything of whatif's own is printed. Where stderr is no terminal,
// or one that takes no control sequences, there is none.
type status struct {
	w    io.Writer
	f    *os.File // nil: no line
	mu   sync.Mutex
	last bool // the line is there
}

func newStatus(w io.Writer, quiet bool) *status {
	s := &status{w: w}
	if f, ok := w.(*os.File); ok && !quiet && isTerminal(f) && !dumb() {
		s.f = f
	}
	return s
}

// show draws the line.
func (s *status) show(p experiment.Progress) {
	if s.f == nil {
		return
	}
	text := report.Fit(statusLine(p), width(s.f)-1, !utf8Locale())
	s.mu.Lock()
	defer s.mu.Unlock()
	// Over the old one, and then what is left of that: nothing is blank in between.
	fmt.Fprintf(s.w, "\r%s\x1b[K", text)
	s.last = true
}

// clear wipes the line.
func (s *status) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.last = false
	}
}

// statusLine says how far a run has come.
func statusLine(p experiment.Progress) string {
	result := analyze.Analyze([]*profile.Data{p.Data}, analyze.Options{})
	var b strings.Builder
	fmt.Fprintf(&b, "whatif: %v, %d experiments", p.Elapsed.Truncate(time.Second), len(p.Data.Experiments))
	for i, n := range p.Visits {
		fmt.Fprintf(&b, ", %s %.4g/s", p.Data.Run.Points[i].Name, float64(n)/p.Elapsed.Seconds())
	}
	for _, t := range result.Targets {
		for _, e := range t.Effects {
			if e.Metric == analyze.Throughput && e.Verdict == analyze.Faster && len(e.Marks) > 0 {
				m := e.Marks[len(e.Marks)-1]
				fmt.Fprintf(&b, "; leading: %s, %.0f%% ± %.0f at %d%%", t.Unit.Name, m.Gain.Value, m.Gain.Half(), m.Speedup)
				return b.String()
			}
		}
	}
	return b.String()
}

// newLog makes the logger of a run: a line on stderr for each warning, in the
// same words as errors; details only when asked for.
func newLog(w io.Writer, s *status, verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(&lineHandler{w: w, status: s, level: level})
}

// lineHandler writes a record as one line, whatif: message key=value, or, of a warning, whatif: warning: message [code].
type lineHandler struct {
	w      io.Writer
	status *status
	level  slog.Level
	attrs  []slog.Attr
}

func (h *lineHandler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level }

func (h *lineHandler) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	if r.Level >= slog.LevelWarn {
		b.WriteString(report.WarningPrefix + r.Message)
	} else {
		b.WriteString("whatif: " + r.Message)
	}
	put := func(a slog.Attr) bool {
		if a.Key == "code" { // as a report writes it
			fmt.Fprintf(&b, " [%v]", a.Value)
		} else {
			fmt.Fprintf(&b, " %s=%v", a.Key, a.Value)
		}
		return true
	}
	for _, a := range h.attrs {
		put(a)
	}
	r.Attrs(put)
	h.status.clear()
	for line := range strings.Lines(b.String()) {
		if _, err := fmt.Fprintln(h.w, report.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return err
		}
	}
	return nil
}

func (h *lineHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	with.attrs = append(append([]slog.Attr(nil), h.attrs...), attrs...)
	return &with
}

// WithGroup ignores the group: nothing here uses one.
func (h *lineHandler) WithGroup(string) slog.Handler { return h }
