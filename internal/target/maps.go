package target

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/privilege"
)

// A Mapping is an executable part of a file in a process's memory.
type Mapping struct {
	Start, End uint64 // addresses, End exclusive
	Offset     uint64 // of Start in the file
	Dev        uint64 // as in stat, with the exceptions of leadsTo
	Inode      uint64
	Path       string // in the process's own mount namespace
	Deleted    bool   // Path no longer leads to this file
}

// Maps lists the executable file mappings of a process, sorted by address. A zombie has none.
func Maps(pid int) ([]Mapping, error) {
	var text []byte
	var err error
	privilege.InTarget(func() {
		for place := range placesOf(pid) {
			if text, err = os.ReadFile(place + "/maps"); err == nil && len(text) > 0 || errors.Is(err, os.ErrPermission) {
				break
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading the mappings of process %d: %w", pid, err)
	}
	maps, err := ParseMaps(text)
	if err != nil {
		return nil, fmt.Errorf("reading the mappings of process %d: %w", pid, err)
	}
	return maps, nil
}

// ParseMaps parses the text of /proc/PID/maps and returns the executable mappings of files. A line that cannot be
// parsed is an error, because without it addresses would be attributed to the wrong file.
func ParseMaps(text []byte) ([]Mapping, error) {
	var maps []Mapping
	for len(text) > 0 {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if len(line) == 0 {
			continue
		}
		m, keep, err := parseMapping(string(line))
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		if keep {
			maps = append(maps, m)
		}
	}
	return maps, nil
}

const deletedMark = " (deleted)"

// parseMapping parses a line such as
//
//	55d0c8a00000-55d0c8a9e000 r-xp 0000b000 fe:01 1234      /usr/bin/sh
//
// The path begins after the blanks behind the inode, and may contain blanks.
func parseMapping(line string) (m Mapping, keep bool, err error) {
	addresses, rest, _ := strings.Cut(line, " ")
	perms, rest, _ := strings.Cut(rest, " ")
	offset, rest, _ := strings.Cut(rest, " ")
	dev, rest, _ := strings.Cut(rest, " ")
	inode, rest, _ := strings.Cut(rest, " ")
	start, end, dash := strings.Cut(addresses, "-")
	major, minor, colon := strings.Cut(dev, ":")
	if len(perms) != 4 || !dash || !colon {
		return m, false, errors.New("not a mapping")
	}
	var p fieldParser
	m.Start, m.End, m.Offset = p.parse(start, 16, 64), p.parse(end, 16, 64), p.parse(offset, 16, 64)
	m.Dev = unix.Mkdev(uint32(p.parse(major, 16, 32)), uint32(p.parse(minor, 16, 32)))
	m.Inode = p.parse(inode, 10, 64)
	if p.err != nil {
		return m, false, p.err
	}
	if m.Start >= m.End {
		return m, false, errors.New("it ends before it starts")
	}
	// The kernel escapes only the byte that would end the line.
	m.Path = strings.ReplaceAll(strings.TrimLeft(rest, " "), `\012`, "\n")
	m.Path, m.Deleted = strings.CutSuffix(m.Path, deletedMark)
	return m, perms[2] == 'x' && m.Inode != 0 && strings.HasPrefix(m.Path, "/"), nil
}

// fieldParser parses several numbers and keeps the first error.
type fieldParser struct{ err error }

func (p *fieldParser) parse(text string, base, bits int) uint64 {
	n, err := strconv.ParseUint(text, base, bits)
	if err != nil && p.err == nil {
		p.err = err
	}
	return n
}
