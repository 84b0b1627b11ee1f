package simulate

import (
	"errors"

	"whatif/internal/recording"
)

// This file stands for the engine until that is merged. It is to be deleted then.

// Machine is a recording that can be run again.
type Machine struct{}

// New makes a machine from a recording.
func New(*recording.Recording) (*Machine, error) {
	return nil, errors.New("simulating a recording: this whatif was built without the engine")
}

// Run runs the recording with something changed.
func (m *Machine) Run(Change) Outcome { return Outcome{} }

// Deviation is how far the unchanged run is from the recording.
type Deviation struct{}

// Check compares the unchanged run with the recording.
func (m *Machine) Check() Deviation { return Deviation{} }

// Trusted says whether the machine may be believed.
func (Deviation) Trusted() bool { return false }

// Reason says why not.
func (Deviation) Reason() string { return "" }
