// Package tracepoint knows the names of the kernel's tracepoints and system calls.
//
// For tracepoints call Open, then Check or All, then Close. They are listed in tracefs. If tracefs
// is not mounted, Open makes a mount of its own, which no directory shows and which ends with the
// process. For system calls call Syscall, which looks a name up in a generated table.
package tracepoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/code/symbol"
	"whatif/internal/hint"
)

// Names is the kernel's list of tracepoints.
type Names struct {
	events fs.FS // CATEGORY/NAME/…
	close  func() error
}

// Open opens the list of the running kernel. It needs root.
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

// mountTracefs returns a file descriptor of a tracefs that is mounted at no directory.
func mountTracefs() (int, error) {
	context, err := unix.Fsopen("tracefs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(context)
	if err := unix.FsconfigCreate(context); err != nil {
		return -1, err
	}
	const attributes = unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_NODEV
	return unix.Fsmount(context, unix.FSMOUNT_CLOEXEC, attributes)
}

// Close closes the list.
func (n *Names) Close() error { return n.close() }

// Check returns nil if a tracepoint exists, else a *symbol.NotFound with the nearest names.
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

// All returns the names of all tracepoints, as CATEGORY:NAME.
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

// nearCount bounds the names that an error offers.
const nearCount = 3

// near returns the names most like a missing one: the same name in other categories, then similar
// names in this category. If there are none, it takes similar names anywhere.
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
	for _, last := range symbol.NearestWhole(name, here, nearCount) {
		same = append(same, category+":"+last)
	}
	if len(same) > 0 {
		return same[:min(nearCount, len(same))]
	}
	return symbol.NearestWhole(category+":"+name, all, nearCount)
}
