// Package tracepoint knows what the kernel's tracepoints and system calls are called.
//
// Tracepoints are looked up in tracefs, which need not be mounted: Open makes a mount of
// its own, that no directory shows and that is gone with the process. System calls
// are in a table, by the names that programs call them by.
package tracepoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/symbol"
)

// Names is the kernel's list of tracepoints.
type Names struct {
	events fs.FS // a directory for each category, in it one for each name
	close  func() error
}

// Open finds the list.
func Open() (*Names, error) {
	const mounted = "/sys/kernel/tracing/events"
	if _, err := os.Stat(mounted); err == nil {
		return &Names{os.DirFS(mounted), func() error { return nil }}, nil
	}
	mount, err := mountTracefs()
	if err != nil {
		return nil, hint.New(fmt.Errorf("looking for the kernel's tracepoints: mounting tracefs: %w", err),
			"mount -t tracefs tracefs /sys/kernel/tracing")
	}
	return &Names{
		os.DirFS(fmt.Sprintf("/proc/self/fd/%d/events", mount)),
		func() error { return unix.Close(mount) },
	}, nil
}

// mountTracefs gives a file descriptor for tracefs, mounted nowhere.
func mountTracefs() (int, error) {
	context, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, err
	}
	return unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NOEXEC|unix.MOUNT_ATTR_NODEV)
}

// Close gives the list back.
func (n *Names) Close() error { return n.close() }

// Check reports whether a tracepoint exists: nil, or a *symbol.NotFound with the nearest names.
func (n *Names) Check(category, name string) error {
	missing := &symbol.NotFound{What: "tracepoint", Name: category + ":" + name, Where: "this kernel"}
	if fs.ValidPath(category + "/" + name) {
		_, err := fs.Stat(n.events, category+"/"+name+"/id")
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("looking for tracepoint %s:%s: %w", category, name, err)
		}
	}
	all, err := n.All()
	if err != nil {
		return err
	}
	missing.Near = near(category, name, all)
	return missing
}

// All lists all tracepoints, as CATEGORY:NAME.
func (n *Names) All() ([]string, error) {
	paths, err := fs.Glob(n.events, "*/*/id")
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		paths[i] = strings.Replace(strings.TrimSuffix(p, "/id"), "/", ":", 1)
	}
	return paths, nil
}

const nearCount = 3

// near gives tracepoints of the same name in other categories, then those of like names
// in this one, then any.
func near(category, name string, all []string) []string {
	var same, here []string
	for _, full := range all {
		c, last, _ := strings.Cut(full, ":")
		switch {
		case last == name:
			same = append(same, full)
		case c == category:
			here = append(here, last)
		}
	}
	for _, last := range symbol.Like(name, here, nearCount) {
		same = append(same, category+":"+last)
	}
	if len(same) > 0 {
		return same[:min(nearCount, len(same))]
	}
	return symbol.Like(category+":"+name, all, nearCount)
}
