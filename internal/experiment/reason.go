package experiment

// reason is why an experiment is discarded, in the words that profiles have for it (set_aside).
type reason string

const (
	usable            reason = "" // it is not discarded
	endedEarly        reason = "ended early"
	programFailed     reason = "the program failed"
	stoodStill        reason = "whatif stood still"
	clockLost         reason = "clock lost"
	wasSuspended      reason = "suspended"
	cpuHotplug        reason = "CPU hotplug"
	noClock           reason = "CPU without a clock"
	slowedByFollowing reason = "slowed by following goroutines"
	unitMet           reason = "another unit of the combination was met"
	codeUnknown       reason = "much code met for the first time"
	noTime            reason = "empty"
	stealTaken        reason = "steal"
	foreignTime       reason = "foreign CPU time"
)
