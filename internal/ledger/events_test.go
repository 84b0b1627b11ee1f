package ledger

import (
	"testing"
	"time"
)

// Many questions are answered at once, few after a while.
func TestPace(t *testing.T) {
	now := time.Unix(100, 0)
	e := &events{patient: new(uint32), since: now, began: now}
	drained := func(after time.Duration, records int, patient bool) {
		t.Helper()
		now = now.Add(after)
		e.count += records
		again := e.pace(now)
		pause := min(longestPause, now.Sub(e.began)/pauseParts)
		if patient != (*e.patient == 1) || patient != again.Equal(now.Add(pause)) || !patient && !again.IsZero() {
			t.Errorf("patient %d, again at %v", *e.patient, again)
		}
	}
	drained(10*time.Millisecond, 1, false) // it has just begun
	drained(paceStretch-20*time.Millisecond, fewRecords, false)
	drained(20*time.Millisecond, 0, false) // a stretch with many is over
	drained(2*paceStretch, fewRecords-1, true)
	drained(longestPause, manyRecords, true)
	drained(10*time.Second, 0, true)
	drained(time.Millisecond, manyRecords+1, false) // other code runs now
	drained(time.Millisecond, 0, false)
	drained(paceStretch, 1, true)

	e = &events{patient: new(uint32), samplesOnly: true, since: now, began: now}
	e.pace(now)
	now = now.Add(2 * paceStretch)
	if again := e.pace(now); !again.Equal(now.Add(longestPause)) {
		t.Errorf("samples only: again after %v", again.Sub(now))
	}
}
