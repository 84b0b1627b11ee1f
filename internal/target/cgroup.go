package target

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// cgroupRoot is the directory where every distribution mounts cgroups: version 2 itself, or the hierarchies of version
// 1, one for each controller, with that of version 2 in unified.
const cgroupRoot = "/sys/fs/cgroup"

// hierarchies lists the roots of all hierarchies of cgroups.
func hierarchies(root string) []string {
	if IsCgroup(root) {
		return []string{root}
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		if dir := filepath.Join(root, e.Name()); e.IsDir() && IsCgroup(dir) {
			all = append(all, dir)
		}
	}
	// If both versions are mounted, these have the services.
	first := func(dir string) int { return slices.Index([]string{"systemd", "unified"}, filepath.Base(dir)) }
	slices.SortStableFunc(all, func(a, b string) int { return first(b) - first(a) })
	return all
}

// IsCgroup tells whether a directory is a cgroup.
func IsCgroup(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "cgroup.procs"))
	return err == nil
}

// FindCgroup finds the directory of a cgroup by its path, by its path below the root of a hierarchy (as in
// /proc/PID/cgroup), or by the last part of the path (nginx.service).
func FindCgroup(name string) (string, error) { return findCgroup(cgroupRoot, name) }

func findCgroup(root, name string) (string, error) {
	doing := "looking for the cgroup " + name
	all := hierarchies(root)
	if len(all) == 0 {
		return "", hint.New(fmt.Errorf("%s: there are none in %s", doing, root),
			"mount them there, or attach to processes: whatif attach PID...")
	}
	if name == "" {
		return "", hint.New(errors.New("looking for a cgroup: no name"), "name one: --cgroup system.slice/nginx.service")
	}
	candidates := []string{name}
	for _, h := range all {
		candidates = append(candidates, filepath.Join(h, name))
	}
	for _, dir := range candidates {
		if filepath.IsAbs(dir) && IsCgroup(dir) && inside(root, dir) {
			return filepath.Clean(dir), nil
		}
	}
	if st, err := os.Stat(name); err == nil && filepath.IsAbs(name) {
		if !st.IsDir() {
			return "", hint.New(fmt.Errorf("%s: this is a file", doing), "name the directory that it is in")
		}
		return "", hint.New(fmt.Errorf("%s: this directory is no cgroup", doing),
			"cgroups are in "+root+"; /proc/PID/cgroup names that of a process")
	}
	exact, near := likeNamed(all, filepath.Base(name))
	if !strings.Contains(name, "/") && len(exact) > 0 {
		return exact[0], nil
	}
	remedy := "/proc/PID/cgroup names that of a process, systemd-cgls all of them"
	if near = append(exact, near...); len(near) > 0 {
		remedy = "did you mean " + near[0] + "?"
	}
	return "", hint.New(fmt.Errorf("%s: there is none", doing), remedy)
}

// inside tells whether dir is root, or below root.
func inside(root, dir string) bool {
	rest, err := filepath.Rel(root, dir)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}

// likeNamed lists the cgroups with a name, and those with a similar name. Users often know only the beginning of a
// container's name.
func likeNamed(hierarchies []string, base string) (exact, near []string) {
	for _, h := range hierarchies {
		walk := func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return nil // the cgroup has been removed
			}
			switch is := d.Name(); {
			case is == base || is == base+".service" || is == base+".scope" || is == base+".slice":
				exact = append(exact, dir)
			case oneSlip(base, is) || len(base) > 2 && strings.Contains(is, base):
				near = append(near, dir)
			}
			return nil
		}
		_ = filepath.WalkDir(h, walk) // walk returns no errors
	}
	return exact, near
}

// ErrNoCgroup means that a cgroup has been removed.
var ErrNoCgroup = errors.New("the cgroup is gone")

// CgroupMembers lists the numbers of the processes in a cgroup and in those below it, without processes that whatif
// cannot see.
func CgroupMembers(dir string) ([]int, error) {
	var all []int
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			if at == dir {
				return fmt.Errorf("%w: %s", ErrNoCgroup, dir)
			}
			return nil // the cgroup has been removed
		}
		if !d.IsDir() {
			return nil
		}
		text, err := os.ReadFile(filepath.Join(at, "cgroup.procs"))
		gone := errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV)
		switch {
		case errors.Is(err, unix.EOPNOTSUPP) && at == dir:
			return hint.New(fmt.Errorf("reading the processes of %s: it is a part of a threaded cgroup", dir),
				"name the cgroup above it")
		case gone && at == dir:
			return fmt.Errorf("%w: %s", ErrNoCgroup, dir)
		case gone, errors.Is(err, unix.EOPNOTSUPP):
			return nil // the processes of a threaded cgroup are listed in the cgroup above it
		case err != nil:
			return fmt.Errorf("reading the processes of %s: %w", at, err)
		}
		all = append(all, parsePIDs(text)...)
		return nil
	})
	return all, err
}

// Lookup returns the process with a number, if whatif may profile it. It refuses whatif itself, the kernel's threads,
// processes that have ended and those of other users.
func Lookup(pid int) (r Running, ok bool) {
	s, err := StatOf(pid)
	if err != nil || pid == os.Getpid() || s.IsKernel() || s.Ended() || mayProfile(pid) != nil {
		return Running{}, false
	}
	return runningOf(pid, s), true
}

// parsePIDs parses cgroup.procs, where processes of other namespaces are 0.
func parsePIDs(text []byte) []int {
	var pids []int
	for line := range bytes.Lines(text) {
		if pid, err := strconv.Atoi(string(bytes.TrimSpace(line))); err == nil && pid > 0 {
			pids = append(pids, pid)
		}
	}
	return pids
}
