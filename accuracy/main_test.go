package main

import (
	"os"
	"testing"

	"whatif/internal/realkernel"
)

func TestMain(m *testing.M) {
	status := m.Run()
	realkernel.Cleanup()
	os.Exit(status)
}
