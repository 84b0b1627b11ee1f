// Package probes has the visits of progress points counted. It finds the places of each point in the target's code, in
// its source and in the kernel, and sets there what counts: probes on instructions, counters that the program has in
// its own memory, and hooks of the kernel. It looks also through programs and libraries that the target loads later.
// What is counted is read elsewhere, from the ledger.
//
// The normal sequence is [New], [Probes.FindInSource] and [Probes.Attach] before the target runs. While it runs, one
// goroutine hands on what the kernel side asks ([Probes.Execed], [Probes.Mapped], [Probes.Named]) and what is opened
// ([Probes.LookInto]), and another calls [Probes.Take] to learn of points that were found since. [Probes.Close] ends
// it.
package probes
