package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"whatif/internal/analyze"
	"whatif/internal/experiment"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// status is the line at the bottom of the terminal while a program is profiled. The program may print to the same
// terminal, so the line is drawn again after each change, and is cleared before whatif prints something else. There is
// no line if stderr is not a terminal, or a terminal without control sequences.
type status struct {
	w    io.Writer
	f    *os.File // nil: no line
	mu   sync.Mutex
	last bool            // the line is on the terminal
	said map[string]bool // warnings that were printed above it, each as its line
}

func newStatus(w io.Writer, quiet bool) *status {
	s := &status{w: w, said: make(map[string]bool)}
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
	// Overwriting the old line, and then clearing its rest, does not flicker.
	fmt.Fprintf(s.w, "\r%s\x1b[K", text)
	s.last = true
}

// clear clears the line.
func (s *status) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last {
		fmt.Fprint(s.w, "\r\x1b[K")
		s.last = false
	}
}

// above notes that a warning is printed.
func (s *status) above(warning string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[warning] = true
}

// warnings are those that were printed so far.
func (s *status) warnings() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.said)
}

// statusLine summarizes a run so far.
func statusLine(p experiment.Progress) string {
	if p.Data == nil {
		return fmt.Sprintf("whatif: recording, %v", p.Elapsed.Truncate(time.Second))
	}
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

// newLog makes the logger of a run. Each warning is one line in the form of error messages; details are written only if
// verbose is set.
func newLog(w io.Writer, s *status, verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(&lineHandler{w: w, status: s, level: level})
}

// lineHandler writes a record as one line: `whatif: message key=value`, or for a warning
// `whatif: warning: message [code]`.
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
		if a.Key == "code" { // in the form that reports use
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
	if r.Level >= slog.LevelWarn {
		h.status.above(b.String())
	}
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

// WithGroup ignores the group, because no logger here uses one.
func (h *lineHandler) WithGroup(string) slog.Handler { return h }
