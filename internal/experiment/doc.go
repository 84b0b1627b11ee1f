// Package experiment decides what is tried, and tries it: which unit, sped up
// by how much, for how long. plan.go and window.go are the pure part; session.go
// holds one profiling session together, units.go answers the kernel side's
// questions about code, attached.go runs experiments while a program runs, and
// whole.go makes each execution of a program one experiment.
//
// The normal call is Profile, which returns when the program has ended.
package experiment
