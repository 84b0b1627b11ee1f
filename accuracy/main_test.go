package main

import (
	"testing"

	"whatif/internal/testing/realkernel"
)

func TestMain(m *testing.M) { realkernel.Main(m) }
