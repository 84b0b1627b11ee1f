package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// An emulation is another architecture: programs are built for it, and an emulator runs them. It and this machine have
// device files, measured by the same whatif device, built for each.
type emulation struct {
	emulator    string
	program     string // elsewhere.c, built for it
	here, there string // device files
}

// arm64 is what the emulated machine is called.
const arm64 = "arm64"

// emulate builds what is needed for the emulated machine, and measures it and this one. The device files stay in
// accuracy/build.
func (s *study) emulate(ctx context.Context) (*emulation, error) {
	e := &emulation{}
	compiler, err := exec.LookPath("aarch64-linux-gnu-gcc")
	if err == nil {
		e.emulator, err = exec.LookPath("qemu-aarch64")
	}
	if err != nil {
		return nil, fmt.Errorf("emulating arm64 (Debian: qemu-user, gcc-aarch64-linux-gnu): %w", err)
	}
	build := filepath.Join(s.rig.Root(), "accuracy", "build")
	file := func(name string) string { return filepath.Join(build, name) }
	e.program, e.here, e.there = file("elsewhere-arm64"), file("here.json"), file("arm64.json")
	whatif := file("whatif-arm64")
	for _, old := range []string{e.here, e.there} {
		_ = os.Remove(old) // it may not be there
	}
	source := filepath.Join(s.rig.Root(), "accuracy", source)
	for _, args := range [][]string{
		{compiler, "-O2", "-static", "-pthread", "-o", e.program, source, "-lm"},
		{"env", "GOARCH=arm64", "CGO_ENABLED=0", "go", "build", "-C", s.rig.Root(), "-o", whatif, "./cmd/whatif"},
		{s.rig.Command(), "device", "--anyway", "--dir", build, "--name", "here", "-o", e.here},
		{e.emulator, whatif, "device", "--anyway", "--dir", build, "--name", arm64, "-o", e.there},
	} {
		if err := output(ctx, args, nil); err != nil {
			return nil, err
		}
	}
	compare := exec.CommandContext(ctx, s.rig.Command(), "device", "compare", e.here, e.there)
	compare.Stdout, compare.Stderr = s.log, s.log
	if err := compare.Run(); err != nil {
		return nil, fmt.Errorf("comparing this machine with the emulated one: %w", err)
	}
	return e, nil
}

// flags name the device as whatif report takes it.
func (s *study) flags(d *device) []string {
	if d.on.arch == "" {
		return []string{"--device", d.on.word()}
	}
	return []string{"--device", s.emulation.there, "--host", s.emulation.here}
}

// executed is the program as it runs on the device.
func (s *study) executed(d *device) []string {
	if d.on.arch == "" {
		return []string{s.program}
	}
	return []string{s.emulation.emulator, s.emulation.program}
}
