package profile

// The names of the losses that are samples, so that reports can give them as a share of all
// samples. The time of such a sample is not given to any code.
const (
	// LossStack is the samples for which a caller somewhere up the stack could not be found.
	LossStack = "stacks not followed to their end"
	// LossTable is the samples with a stack that led to code for the first time, so that its unwind
	// tables had to be read. Every run has some at its start.
	LossTable = "stacks met before their unwind tables were read"
	// LossPlace is the samples that were the first at their instruction and could not be resolved
	// in time. A program that spends its time in many places has many.
	LossPlace = "samples at code met for the first time"
)
