package target

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"whatif/internal/privilege"
)

// Inner is what a process is for itself.
type Inner struct {
	PID int    // its number in its own namespace
	UID uint32 // the user to which the files belong that it makes, as whatif sees the number
}

// InnerOf reads it.
func InnerOf(pid int) (i Inner, err error) {
	var text []byte
	privilege.InTarget(func() { text, err = os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) })
	if err == nil {
		i, err = parseInner(string(text))
	}
	if err != nil {
		return Inner{}, fmt.Errorf("finding the user of process %d: %w", pid, err)
	}
	return i, nil
}

// parseInner reads two lines of a /proc/PID/status. A kernel without namespaces has no NSpid.
func parseInner(status string) (i Inner, err error) {
	err = errors.New("this is no /proc/PID/status")
	var p fieldParser
	for line := range strings.Lines(status) {
		key, rest, _ := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		switch {
		case key == "Pid" && len(fields) == 1 && i.PID == 0:
			i.PID = int(p.parse(fields[0], 10, 31))
		case key == "NSpid" && len(fields) > 0:
			i.PID = int(p.parse(fields[len(fields)-1], 10, 31))
		case key == "Uid" && len(fields) == 4: // real, effective, saved, of the file system
			i.UID, err = uint32(p.parse(fields[3], 10, 32)), nil
		}
	}
	if i.PID == 0 && err == nil {
		err = errors.New("this is no /proc/PID/status")
	}
	return i, errors.Join(err, p.err)
}
