package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"whatif/accuracy/kernels/internal/said"
)

// architecture has the compiler, the emulator and the console of an architecture.
type architecture struct {
	gcc     string
	qemu    []string
	console string
}

var architectures = map[string]architecture{
	"amd64": {"x86_64-linux-gnu-gcc", []string{"qemu-system-x86_64", "-machine", "q35"}, "ttyS0"},
	"arm64": {"aarch64-linux-gnu-gcc", []string{"qemu-system-aarch64", "-machine", "virt"}, "ttyAMA0"},
}

// machine is a virtual machine without disks. Its files are in the initramfs.
type machine struct {
	architecture
	memory string // the path of the initramfs
}

func newMachine(ctx context.Context, root, dir, arch string, kvm bool) (*machine, error) {
	m := &machine{architecture: architectures[arch], memory: filepath.Join(dir, "initramfs-"+arch)}
	programs := filepath.Join(root, "accuracy", "kernels", "programs", "target.c")
	var contents []file
	add := func(name string, command ...string) error {
		path := filepath.Join(dir, name+"-"+arch)
		c := exec.CommandContext(ctx, command[0], append(command[1:], "-o", path)...)
		if command[0] == "go" {
			c = exec.CommandContext(ctx, "go", "build", "-o", path, command[1])
		}
		c.Dir = root
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH="+arch)
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("building %s for %s: %w\n%s", name, arch, err, out)
		}
		contents = append(contents, file{name, path})
		return nil
	}
	err := errors.Join(
		add("init", "go", "./accuracy/kernels/guest"),
		add("whatif", "go", "./cmd/whatif"),
		add("target", m.gcc, "-O2", "-g", "-static", "-pthread", programs),
		add("source", m.gcc, "-O2", "-g", "-static", "-pthread", "-DPOINTS_IN_SOURCE", programs),
	)
	if err != nil {
		return nil, err
	}
	if err := writeInitramfs(m.memory, contents); err != nil {
		return nil, err
	}
	if kvm && arch == runtime.GOARCH {
		m.qemu = append(m.qemu, "-accel", "kvm", "-cpu", "host")
	} else {
		// With several threads, qemu 7.2 crashes when the kernel changes its own code while it runs.
		m.qemu = append(m.qemu, "-accel", "tcg,thread=single", "-cpu", "max")
	}
	return m, nil
}

// boot runs a kernel until the guest has made all trials, and writes the console's output to the log.
func (m *machine) boot(ctx context.Context, image, log, settings string) ([]said.Result, error) {
	const patience = 30 * time.Minute
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("writing a log: %w", err)
	}
	defer out.Close()
	args := append(m.qemu[1:], "-smp", "2", "-m", "2048", "-display", "none", "-monitor", "none", "-serial", "stdio",
		"-nic", "none", "-no-reboot", "-kernel", image, "-initrd", m.memory,
		"-append", fmt.Sprintf("console=%s panic=-1 tsc=reliable %s", m.console, settings))
	c := exec.CommandContext(ctx, m.qemu[0], args...)
	c.Stdout, c.Stderr = out, out
	failed := c.Run()
	text, err := os.ReadFile(log)
	if err != nil {
		return nil, fmt.Errorf("reading a log: %w", err)
	}
	results, ended := said.Read(string(text))
	switch {
	case ended:
		return results, nil
	case ctx.Err() != nil:
		return results, fmt.Errorf("not through after %v", patience)
	case failed != nil:
		return results, fmt.Errorf("%s: %w", m.qemu[0], failed)
	}
	return results, errors.New("the kernel ended before the trials did")
}
