package report

// levelOf says which doubts come first. What is hopeless has no answer, and what is careful
// may have a wrong one; all others are said where they belong.
var levelOf = map[string]string{
	"no-data": "hopeless", "no-baseline": "hopeless", "never-visited": "hopeless", "no-latency": "hopeless", "few-baselines": "hopeless",
	"unstable-baseline": "careful", "drift": "careful", "few-visits": "careful", "foreign-cpu": "careful", "steal": "careful",
	"no-common-point": "hopeless", "early-stacks": "careful", "mixed-builds": "careful",
	"hidden-contention": "careful", "placebo": "careful", "paced": "careful", "set-aside": "careful", "unpaid": "careful", "unstable": "careful", "disagree": "careful",
}

// Level is "hopeless" or "careful" for a doubt that is to be said before the numbers that it is about, and otherwise "".
func Level(code string) string { return levelOf[code] }
