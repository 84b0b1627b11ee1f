package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// packages is an apt with a configuration of its own: it has all of Debian's releases, and does not change the
// machine's apt.
type packages struct {
	dir    string
	config string
}

// suites are Debian's releases. A release that the mirror no longer has is ignored.
var suites = []string{
	"debian bullseye", "debian-security bullseye-security",
	"debian bookworm", "debian bookworm-backports", "debian-security bookworm-security",
	"debian trixie", "debian trixie-backports", "debian-security trixie-security",
	"debian sid",
}

const mirror = "http://deb.debian.org/"

func newPackages(ctx context.Context, dir string, arches []string) (*packages, error) {
	p := &packages{dir: dir, config: filepath.Join(dir, "apt.conf")}
	for _, sub := range []string{"lists/partial", "cache/archives/partial"} {
		if err := os.MkdirAll(filepath.Join(dir, "apt", sub), 0o755); err != nil {
			return nil, fmt.Errorf("making apt's directories: %w", err)
		}
	}
	var sources strings.Builder
	for _, s := range suites {
		fmt.Fprintf(&sources, "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s%s main\n", mirror, s)
	}
	config := fmt.Sprintf(`Dir::State::lists "%[1]s/apt/lists";
Dir::Cache "%[1]s/apt/cache";
Dir::Etc::sourcelist "%[1]s/sources.list";
Dir::Etc::sourceparts "/dev/null";
APT::Architectures { "%[2]s"; };
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
`, dir, strings.Join(arches, `"; "`))
	for name, text := range map[string]string{"sources.list": sources.String(), "apt.conf": config} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, fmt.Errorf("configuring apt: %w", err)
		}
	}
	_, err := p.apt(ctx, "apt-get", "update", "-q")
	if _, known := p.apt(ctx, "apt-cache", "show", "linux-image-cloud-amd64"); known == nil {
		err = nil // some releases could be read
	}
	return p, err
}

func (p *packages) apt(ctx context.Context, command string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, command, args...)
	c.Env = append(os.Environ(), "APT_CONFIG="+p.config, "LC_ALL=C")
	c.Dir = p.dir
	out, err := c.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", command, strings.Join(args, " "), err, out)
	}
	return string(out), nil
}

// kernel is one of Debian's kernels.
type kernel struct {
	release     string // in the form of uname -r
	version     string // the first two numbers of the release
	arch        string
	packageName string
	realTime    bool // PREEMPT_RT
}

// realTime is the version of the kernel with PREEMPT_RT that is tried. One is enough, because whatif refuses all by
// their name.
const realTime = "6.1"

// kernels lists the newest kernel of each version, of the small ones for virtual machines, and one with PREEMPT_RT, in
// ascending order.
func (p *packages) kernels(ctx context.Context, arch string, only []string) ([]kernel, error) {
	names, err := p.apt(ctx, "apt-cache", "search", "--names-only", "^linux-(image|binary)-[0-9].*-(cloud|rt)-"+arch+"$")
	if err != nil {
		return nil, err
	}
	return newest(names, arch, only), nil
}

// newest chooses the newest kernels. The names of their packages are the first words of the lines in names.
func newest(names, arch string, only []string) []kernel {
	var all []kernel
	for line := range strings.Lines(names) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		k, ok := kernelOf(name, arch)
		if !ok || len(only) > 0 && !slices.Contains(only, k.version) {
			continue
		}
		all = append(all, k)
	}
	// In newer releases linux-binary has the kernel, and linux-image is empty.
	slices.SortStableFunc(all, func(a, b kernel) int {
		return cmp.Or(slices.Compare(numbers(a.version), numbers(b.version)), cmp.Compare(a.version, b.version),
			slices.Compare(numbers(a.release), numbers(b.release)), cmp.Compare(b.packageName, a.packageName))
	})
	var chosen []kernel
	for i, k := range all {
		last := i+1 == len(all) || all[i+1].version != k.version
		if !last {
			continue
		}
		chosen = append(chosen, k)
	}
	return chosen
}

// kernelOf parses a package's name. Metapackages are left out: their names have no third number.
func kernelOf(name, arch string) (kernel, bool) {
	for _, prefix := range []string{"linux-image-", "linux-binary-"} {
		release, found := strings.CutPrefix(name, prefix)
		n := numbers(release)
		if !found || len(n) < 3 {
			continue
		}
		k := kernel{release: release, version: fmt.Sprintf("%d.%d", n[0], n[1]), arch: arch, packageName: name}
		switch {
		case strings.HasSuffix(release, "-cloud-"+arch):
			return k, true
		case strings.HasSuffix(release, "-rt-"+arch) && k.version == realTime:
			k.version += "-rt"
			k.realTime = true
			return k, true
		}
	}
	return kernel{}, false
}

// numbers lists the numbers in a release, up to its flavour: 6, 1, 0, 56 for 6.1.0-56-cloud-amd64.
func numbers(release string) []int {
	release, _, _ = strings.Cut(release, "-cloud")
	release, _, _ = strings.Cut(release, "-rt")
	var all []int
	for _, part := range strings.FieldsFunc(release, func(r rune) bool { return r < '0' || r > '9' }) {
		if n, err := strconv.Atoi(part); err == nil {
			all = append(all, n)
		}
	}
	return all
}

// image downloads a kernel, unless that was done before, and returns the file to boot.
func (p *packages) image(ctx context.Context, k kernel) (string, error) {
	dir := filepath.Join(p.dir, k.release)
	if found := images(dir); len(found) > 0 {
		return found[0], nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making a directory for %s: %w", k.release, err)
	}
	if _, err := p.apt(ctx, "apt-get", "download", "-q", k.packageName+":"+k.arch); err != nil {
		return "", err
	}
	archives, _ := filepath.Glob(filepath.Join(p.dir, k.packageName+"_*_"+k.arch+".deb"))
	for _, archive := range archives {
		if out, err := exec.CommandContext(ctx, "dpkg-deb", "-x", archive, dir).CombinedOutput(); err != nil {
			return "", fmt.Errorf("unpacking %s: %w\n%s", archive, err, out)
		}
		if err := os.Remove(archive); err != nil {
			return "", fmt.Errorf("removing a package: %w", err)
		}
	}
	found := images(dir)
	if len(found) == 0 {
		return "", fmt.Errorf("looking for the kernel of %s: the package has no vmlinuz", k.packageName)
	}
	return found[0], nil
}

func images(dir string) []string {
	var found []string
	for _, where := range []string{"boot/vmlinuz-*", "usr/lib/modules/*/vmlinuz"} {
		more, _ := filepath.Glob(filepath.Join(dir, where))
		found = append(found, more...)
	}
	return found
}
