package knobs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/profile"
	"whatif/internal/target"
)

// cgroups is where cgroups are: root is where they are mounted, own is /proc/self/cgroup.
type cgroups struct{ root, own string }

// A group is a cgroup in which a disk is limited.
type group struct {
	dir    string
	back   string // the file cgroup.procs of the cgroup that its processes come from
	disk   string // its number
	limits []setting
}

// groupName begins the names of groups. The number of the keeper follows.
const groupName = "whatif-device-"

// limitDisk makes a group that may use the disk of a directory only so much.
func limitDisk(in cgroups, dir string, k *profile.Knobs) (*group, error) {
	g, err := limitDiskOf(in, dir, k)
	if err != nil {
		return nil, fmt.Errorf("limiting the disk: %w", err)
	}
	return g, nil
}

func limitDiskOf(in cgroups, dir string, k *profile.Knobs) (*group, error) {
	disk, err := diskOf(dir)
	if err != nil {
		return nil, err
	}
	above, own, limits, err := in.place(k)
	if err != nil {
		return nil, err
	}
	sweep(above)
	g := &group{filepath.Join(above, groupName+strconv.Itoa(os.Getpid())), filepath.Join(own, procs), disk, limits}
	if err := os.Mkdir(g.dir, 0o755); errors.Is(err, fs.ErrExist) {
		return nil, hint.New(err, "end the processes that are in this cgroup, and remove it with rmdir")
	} else if err != nil {
		return nil, hint.New(err, needsRoot)
	}
	for _, l := range limits {
		if err := g.write(l.file, l.limit); err != nil {
			return nil, errors.Join(err, os.Remove(g.dir))
		}
	}
	return g, nil
}

// write writes what a file of the group says of the disk.
func (g *group) write(file, words string) error {
	return os.WriteFile(filepath.Join(g.dir, file), []byte(g.disk+" "+words), 0)
}

const procs = "cgroup.procs"

// A setting is a line for a file of a cgroup, with a limit and without one. The number of the disk comes before it.
type setting struct{ file, limit, none string }

// place finds the directory for a group, whatif's own cgroup in that hierarchy, and what limits a disk there. With
// version 2 the group is as far down as the controller is enabled, so that most of whatif's own limits go on to apply.
func (in cgroups) place(k *profile.Knobs) (above, own string, limits []setting, err error) {
	unified := ""
	for _, m := range target.ParseCgroups([]byte(in.own)) {
		if slices.Contains(m.Controllers, "blkio") {
			own = existing(filepath.Join(in.root, "blkio"), m.Path)
			return own, own, blkio(k), nil
		}
		if len(m.Controllers) == 0 {
			unified = m.Path
		}
	}
	const none = "there is no cgroup controller for disks here: neither blkio (version 1) nor io (version 2)"
	has := func(dir, file string) bool {
		text, err := os.ReadFile(filepath.Join(dir, file))
		return err == nil && slices.Contains(strings.Fields(string(text)), "io")
	}
	if unified == "" || !has(in.root, "cgroup.controllers") {
		return "", "", nil, hint.New(errors.New(none), "in a container, mount the host's cgroups; or leave "+
			"--device-knobs out: the device is simulated then")
	}
	own = existing(in.root, unified)
	for above = own; above != in.root; {
		if above = filepath.Dir(above); has(above, "cgroup.subtree_control") {
			return above, own, ioMax(k), nil
		}
	}
	if has(in.root, "cgroup.subtree_control") {
		return in.root, own, ioMax(k), nil
	}
	return "", "", nil, hint.New(errors.New("the cgroup controller io is not enabled"),
		"as root: echo +io > "+filepath.Join(in.root, "cgroup.subtree_control"))
}

// existing is a cgroup's directory. In a container the path may be that of the host, and the root is the container's.
func existing(root, path string) string {
	if dir := filepath.Join(root, path); target.IsCgroup(dir) {
		return dir
	}
	return root
}

// A limit is one of a disk that is not 0, and how the two versions of cgroups name it.
type limit struct {
	blkio, ioMax string
	value        float64
}

func limitsOf(k *profile.Knobs) []limit {
	return slices.DeleteFunc([]limit{
		{"read_iops", "riops", operations(k.ReadOps)}, {"write_iops", "wiops", operations(k.WriteOps)},
		{"read_bps", "rbps", k.ReadBytes}, {"write_bps", "wbps", k.WriteBytes},
	}, func(l limit) bool { return l.value <= 0 })
}

// blkio are the limits in version 1, ioMax in version 2.
func blkio(k *profile.Knobs) (all []setting) {
	for _, l := range limitsOf(k) {
		all = append(all, setting{"blkio.throttle." + l.blkio + "_device", whole(l.value), "0"})
	}
	return all
}

func ioMax(k *profile.Knobs) []setting {
	var words, none []string
	for _, l := range limitsOf(k) {
		words, none = append(words, l.ioMax+"="+whole(l.value)), append(none, l.ioMax+"=max")
	}
	return []setting{{"io.max", strings.Join(words, " "), strings.Join(none, " ")}}
}

// operations is a limit of operations that the kernel can take: it has 32 bits for these, and 64 for bytes.
func operations(limit float64) float64 { return min(limit, math.MaxUint32) }

// whole is a limit as the kernel takes it: not 0, which is none.
func whole(limit float64) string {
	return strconv.FormatFloat(math.Round(min(max(1, limit), 1<<62)), 'f', 0, 64)
}

// remove takes the limit away: what is left in the group goes back to the cgroup that it came from.
func (g *group) remove() error {
	const within, again = time.Second, 10 * time.Millisecond
	for _, l := range g.limits {
		_ = g.write(l.file, l.none) // in case that a process cannot be moved
	}
	for begin := time.Now(); ; time.Sleep(again) {
		text, err := os.ReadFile(filepath.Join(g.dir, procs))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for pid := range strings.FieldsSeq(string(text)) {
			if moved := os.WriteFile(g.back, []byte(pid), 0); moved != nil && !errors.Is(moved, unix.ESRCH) {
				err = errors.Join(err, moved)
			}
		}
		// Processes that were being made, or are ending, are there a moment longer.
		if err = errors.Join(err, os.Remove(g.dir)); err == nil {
			return nil
		}
		if time.Since(begin) > within {
			return fmt.Errorf("removing the limit of the disk: %w", err)
		}
	}
}

// sweep removes empty groups of keepers that are gone.
func sweep(above string) {
	left, _ := filepath.Glob(filepath.Join(above, groupName+"*")) // the pattern is right
	for _, dir := range left {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), groupName))
		if err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(dir) // fails if a process is in it
		}
	}
}

// diskOf is the number of the whole disk that a directory is on, as MAJOR:MINOR.
func diskOf(dir string) (string, error) {
	var s unix.Stat_t
	if err := unix.Stat(dir, &s); err != nil {
		return "", fmt.Errorf("asking for the disk of %s: %w", dir, err)
	}
	number := fmt.Sprintf("%d:%d", unix.Major(s.Dev), unix.Minor(s.Dev))
	at, err := filepath.EvalSymlinks("/sys/dev/block/" + number)
	if err != nil {
		return "", hint.New(fmt.Errorf("the file system of %s is on no disk that the kernel names", dir),
			"start whatif in a directory on a disk, with a file system such as ext4 or xfs")
	}
	if _, err := os.Stat(filepath.Join(at, "partition")); err != nil {
		return number, nil
	}
	disk, err := os.ReadFile(filepath.Join(filepath.Dir(at), "dev"))
	if err != nil {
		return "", fmt.Errorf("asking for the disk of %s: %w", dir, err)
	}
	return strings.TrimSpace(string(disk)), nil
}
