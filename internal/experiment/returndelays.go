package experiment

import (
	"log/slog"
	"time"

	"whatif/internal/ledger"
)

// manyWaits is how often in a second waits of a kind have to end for their return delays to be worth the cost. Each
// system call of the machine takes some 100 ns longer for periodic threads, and twice that for timeouts.
const manyWaits = 20

// returnDelays makes threads pay before their system calls return, where many waits end by the clock: see
// bpf/pay/return_delay.h.
type returnDelays struct {
	ledger   *ledger.Ledger
	log      *slog.Logger
	start    uint64          // of profiling, on the ledger's clock
	off      bool            // nothing is paid in this session
	attached map[string]bool // kinds of waits
}

func newReturnDelays(l *ledger.Ledger, cfg *Config, start uint64) *returnDelays {
	return &returnDelays{ledger: l, log: cfg.Log, start: start, off: cfg.Rests(), attached: make(map[string]bool)}
}

// attach begins with timeouts, and with periodic threads, once there have been many.
func (d *returnDelays) attach() {
	d.attachOnce("timeouts", d.ledger.Timeouts(), d.ledger.DelayTimeouts)
	d.attachOnce("periodic threads", d.ledger.PeriodicSeen(), d.ledger.DelayPeriodic)
}

// attachOnce attaches what delays one kind, when more than manyWaits of it have ended in each second. If that fails it
// is not tried again.
func (d *returnDelays) attachOnce(kind string, ended int64, attach func() error) {
	seconds := max(1, time.Duration(ledger.Now()-d.start).Seconds())
	if d.attached[kind] || d.off || float64(ended) <= manyWaits*seconds {
		return
	}
	d.attached[kind] = true
	if err := attach(); err != nil {
		d.log.Warn(err.Error())
	}
}
