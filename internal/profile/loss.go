package profile

// The names of those losses that are samples, so that they can be shown as a share of
// all. The time of such a sample is given to no code.
const (
	// LossStack: the caller could not be found somewhere up the stack.
	LossStack = "stacks not followed to their end"
	// LossTable: a stack led to code for the first time, and its tables had to be
	// read. At the start of a run there are always some.
	LossTable = "stacks met before their unwind tables were read"
	// LossPlace: it was the first at its instruction, and whose that is was not found
	// out in time. A program that spends its time here and there has many.
	LossPlace = "samples at code met for the first time"
)
