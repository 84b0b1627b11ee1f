package report

// levelOf says which doubts come first. With a hopeless one there is no answer, and with a careful
// one the answer may be wrong. All others are shown beside what they are about.
var levelOf = map[string]string{
	"no-data": "hopeless", "no-baseline": "hopeless", "never-visited": "hopeless", "no-latency": "hopeless",
	"few-baselines": "hopeless", "no-units": "hopeless",
	"unstable-baseline": "careful", "drift": "careful", "few-visits": "careful", "foreign-cpu": "careful",
	"steal":           "careful",
	"no-common-point": "hopeless", "early-stacks": "careful", "mixed-builds": "careful",
	"hidden-contention": "careful", "placebo": "careful", "paced": "careful", "set-aside": "careful", "unpaid": "careful",
	"unstable": "careful", "disagree": "careful", "rules-off": "careful",
	"estimate-differs": "careful", "pace-differs": "careful", "goroutines": "careful",
}

// Level is "hopeless" or "careful" for a doubt that belongs before the numbers that it is about;
// otherwise "".
func Level(code string) string { return levelOf[code] }
