package main

import (
	"testing"

	"whatif/internal/realkernel"
)

func TestMain(m *testing.M) { realkernel.Main(m) }
