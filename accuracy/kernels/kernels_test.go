package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whatif/accuracy/kernels/internal/said"
)

func TestNewest(t *testing.T) {
	const names = `linux-image-6.1.0-9-cloud-amd64 - Linux 6.1 for x86-64 cloud (signed)
linux-image-6.1.0-56-cloud-amd64 - Linux 6.1 for x86-64 cloud (signed)
linux-image-6.1.0-54-rt-amd64 - Linux 6.1 for 64-bit PCs, PREEMPT_RT (signed)
linux-image-6.1.0-56-rt-amd64 - Linux 6.1 for 64-bit PCs, PREEMPT_RT (signed)
linux-image-6.12.95+deb13-rt-amd64 - Linux 6.12 for 64-bit PCs, PREEMPT_RT (signed)
linux-image-6.12-cloud-amd64 - Linux for x86-64 cloud (meta-package)
linux-image-6.12.117+deb12-cloud-amd64 - Linux 6.12 for x86-64 cloud (signed)
linux-image-6.12.95+deb13-cloud-amd64 - Linux 6.12 for x86-64 cloud (signed)
linux-image-7.3.4+deb13-cloud-amd64 - Linux 7.3.4 for x86-64 cloud
linux-binary-7.3.4+deb13-cloud-amd64 - Linux 7.3.4 for x86-64 cloud (kernel image)
linux-image-7.3.4+deb13-cloud-arm64 - Linux 7.3.4 for arm64 cloud
`
	packages := func(only ...string) (all []string) {
		for _, k := range newest(names, "amd64", only) {
			all = append(all, k.packageName)
		}
		return all
	}
	want := []string{
		"linux-image-6.1.0-56-cloud-amd64", "linux-image-6.1.0-56-rt-amd64",
		"linux-image-6.12.117+deb12-cloud-amd64", "linux-binary-7.3.4+deb13-cloud-amd64",
	}
	if got := packages(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := packages("6.1"); !slices.Equal(got, want[:1]) {
		t.Errorf("of 6.1 %q, want %q", got, want[:1])
	}
	if got := packages("6.1-rt"); !slices.Equal(got, want[1:2]) {
		t.Errorf("of 6.1-rt %q, want %q", got, want[1:2])
	}
}

// The program cpio can read the archive for the kernel.
func TestInitramfs(t *testing.T) {
	dir := t.TempDir()
	content := []byte("odd") // the lengths of neither the content nor the names are multiples of 4
	path := filepath.Join(dir, "content")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	archive := filepath.Join(dir, "archive")
	if err := writeInitramfs(archive, []file{{"init", path}, {"target", path}}); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("cpio"); err != nil {
		t.Skip("no cpio to read it with")
	}
	in, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("cpio", "--list", "--quiet")
	list.Stdin = bytes.NewReader(in)
	out, err := list.CombinedOutput()
	if want := "dev\ndev/console\ninit\ntarget\n"; err != nil || string(out) != want {
		t.Errorf("%v: %q, want %q", err, out, want)
	}
}

func TestTable(t *testing.T) {
	var table table
	table.add(kernel{release: "6.1"}, []said.Result{{Name: "run", OK: true}, {Name: "source", Text: "cannot"}}, nil)
	table.add(kernel{release: "7.3"}, []said.Result{{Name: "run", OK: true}}, os.ErrDeadlineExceeded)
	var out strings.Builder
	if err := table.write(&out); err != nil {
		t.Fatal(err)
	}
	want := "kernel  run  source\n6.1     ok   no\n7.3     ok   not tried\n\n6.1: source: cannot\n7.3: i/o timeout\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestCommandLine(t *testing.T) {
	for _, args := range [][]string{{"-arch", "mips"}, {"-seconds", "0"}, {"6.1"}, {"-no"}} {
		var words strings.Builder
		if status := run(t.Context(), &words, &words, args); status != 2 {
			t.Errorf("%v: status %d, want 2", args, status)
		}
	}
}
