package ledger

import (
	"testing"
	"time"
)

// TestPace: many questions are answered at once, few after a while.
func TestPace(t *testing.T) {
	now := time.Unix(100, 0)
	e := &events{patient: new(uint32), since: now, began: now}
	drained := func(after time.Duration, records int, patient bool) {
		t.Helper()
		now = now.Add(after)
		e.count += records
		again := e.pace(now)
		pause := min(longest, now.Sub(e.began)/part)
		if patient != (*e.patient == 1) || patient != again.Equal(now.Add(pause)) || !patient && !again.IsZero() {
			t.Errorf("patient %d, again at %v", *e.patient, again)
		}
	}
	drained(10*time.Millisecond, 1, false) // it has just begun
	drained(stretch-20*time.Millisecond, few, false)
	drained(20*time.Millisecond, 0, false) // a stretch is over, which had many
	drained(2*stretch, few-1, true)
	drained(longest, many, true)
	drained(10*time.Second, 0, true)
	drained(time.Millisecond, many+1, false) // other code runs now
	drained(time.Millisecond, 0, false)
	drained(stretch, 1, true)

	e = &events{patient: new(uint32), samplesOnly: true, since: now, began: now}
	e.pace(now)
	now = now.Add(2 * stretch)
	if again := e.pace(now); !again.Equal(now.Add(longest)) {
		t.Errorf("samples only: again after %v", again.Sub(now))
	}
}
