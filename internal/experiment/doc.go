// Package experiment profiles: it runs one session of experiments, from the start of a program to the end of its
// profile. [Profile] is the call that does it all.
//
// The files, from the outside in:
//
//   - run.go opens what a session needs, puts its parts together, and closes all; finish.go ends it, describe.go writes
//     the run's record.
//   - launch.go makes the subject that is profiled: a program that is started (started.go), processes that run already
//     (attach.go, cgroup.go), or all of them (everyone.go, exempt.go). programs.go opens their binaries.
//   - loop.go runs experiments, in the executions of a program (executions.go), or of whole executions (whole.go).
//     trials.go decides which one comes next, lengths.go how long it is, and meter.go makes its record, with what was
//     waited (waitmeter.go), visits in a window of virtual time (window.go), and latencies (latency.go).
//   - watchers.go has what looks at the machine and the target meanwhile: why an experiment is discarded (reason.go),
//     and what makes results wrong.
//   - recorder.go owns the data, and writes them.
//   - units.go knows the units, and questions.go answers the kernel side's questions about code. together.go has units
//     that are sped up at once, world.go another machine that experiments are about.
//
// Package probes, below, has the visits of progress points counted.
package experiment
