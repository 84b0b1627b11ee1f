package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// slower is how many times as long programs with a limited disk run: the kernel counts reads in tenths of a second, so
// their visits take as long as the visits of others take milliseconds.
const slower = 3

// longer is a length of time for a device.
func (d *device) longer(t float64) float64 {
	if d.reads[0] > 0 {
		return t * slower
	}
	return t
}

// limitDisk makes a group of processes that may read the disk of /var/tmp, where programs have their files, so often
// in a second. It gives the group's directory.
func limitDisk(reads float64) (dir string, err error) {
	disk, err := diskOf("/var/tmp")
	if err != nil {
		return "", fmt.Errorf("limiting the disk: %w", err)
	}
	name := "whatif-device-" + strconv.Itoa(os.Getpid())
	for _, way := range []struct{ root, file, line string }{
		{"/sys/fs/cgroup/blkio", "blkio.throttle.read_iops_device", "%s %.0f"},
		{"/sys/fs/cgroup", "io.max", "%s riops=%.0f"},
	} {
		dir = filepath.Join(way.root, name)
		if err = os.Mkdir(dir, 0o755); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, way.file), fmt.Appendf(nil, way.line, disk, reads), 0)
		}
		if err != nil {
			return "", errors.Join(fmt.Errorf("limiting the disk: %w", err), os.Remove(dir))
		}
		return dir, nil
	}
	return "", fmt.Errorf("limiting the disk: %w", err)
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
		return "", fmt.Errorf("asking for the disk of %s: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(at, "partition")); err != nil {
		return number, nil
	}
	whole, err := os.ReadFile(filepath.Join(filepath.Dir(at), "dev"))
	if err != nil {
		return "", fmt.Errorf("asking for the disk of %s: %w", dir, err)
	}
	return strings.TrimSpace(string(whole)), nil
}
