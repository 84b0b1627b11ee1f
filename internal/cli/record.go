package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"whatif/internal/experiment"
	"whatif/internal/recording"
	"whatif/internal/report"
)

// record records, with nothing delayed, and says what it has.
func (sh *shell) record(ctx context.Context, cfg experiment.Config, r *runFlags) (int, error) {
	output, err := r.open()
	if err != nil {
		return 0, err
	}
	cfg.Output = output
	status := newStatus(sh.stderr, r.quiet)
	cfg.Log, cfg.Progress = newLog(sh.stderr, status, r.verbose), status.show
	recorded, err := experiment.Record(ctx, cfg)
	status.clear()
	err = errors.Join(err, output.Close())
	if recorded == nil {
		return 0, err
	}
	if recorded.Written && !r.quiet {
		sh.tellRecording(recorded.Recording)
		fmt.Fprintf(sh.stderr, "whatif: %s\n", r.written)
		switch {
		case r.machines != nil:
			sh.readThere(r)
		case len(recorded.Recording.Points) > 0:
			sh.say("whatif: ", "what each unit would bring: whatif report "+report.Quoted(r.output))
		}
	}
	if r.page != "" && recorded.Written {
		err = errors.Join(err, sh.writePage(r.output, r.page))
	}
	if recorded.Ended && !r.preserveStatus {
		return 0, err
	}
	return recorded.Status, err
}

// tellRecording says how much a recording has, and what it has not.
func (sh *shell) tellRecording(r *recording.Recording) {
	var covered, events int64
	kinds := make(map[recording.Kind]int64)
	for _, w := range r.Windows {
		covered += w.End - w.Begin
		events += int64(len(w.Events))
		for i := range w.Events {
			kinds[w.Events[i].Kind]++
		}
	}
	fmt.Fprintf(sh.stderr, "whatif: recorded %v of %v in %s: %d events (%d switches, %d wake-ups, %d samples, "+
		"%d visits) of %s\n", time.Duration(covered).Round(time.Millisecond),
		time.Duration(r.Length).Round(time.Millisecond), countOf(len(r.Windows), "window"), events, kinds[recording.Switch],
		kinds[recording.Wake], kinds[recording.Sample], kinds[recording.Visit],
		countOf(len(r.Threads), "thread"))
	fmt.Fprintf(sh.stderr, "whatif: cores stopped by whatif: %d; events lost for lack of room: %d\n",
		r.Losses.Stops, r.Losses.Events)
}

func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
