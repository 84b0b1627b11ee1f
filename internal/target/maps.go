package target

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
func Maps(pid int) (maps []Mapping, err error) {
	err = inMaps(pid, func(place string) (found bool, err error) {
		var lines int
		maps, lines, err = readMaps(place)
		return lines > 0, err
	})
	return maps, err
}

// mayReadMaps returns the error that Maps would return if whatif has not the right to read them. The kernel checks that
// when the file is opened.
func mayReadMaps(pid int) error {
	return inMaps(pid, func(place string) (bool, error) {
		f, err := os.Open(place + "/maps")
		if err != nil {
			return false, err
		}
		f.Close()
		return true, nil
	})
}

// inMaps calls read for the places of a process's mappings, until it has found some, or has not the right to.
func inMaps(pid int, read func(place string) (found bool, err error)) (err error) {
	privilege.InTarget(func() {
		for place := range placesOf(pid) {
			var found bool
			if found, err = read(place); err == nil && found || errors.Is(err, os.ErrPermission) {
				break
			}
		}
	})
	if err != nil {
		return fmt.Errorf("reading the mappings of process %d: %w", pid, err)
	}
	return nil
}

func readMaps(place string) (maps []Mapping, lines int, err error) {
	f, err := os.Open(place + "/maps")
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	return ParseMaps(f)
}

// A process can have as many mappings as the kernel allows, each of a file with a path of 4 KiB. What whatif keeps of
// them is bounded.
const (
	mostMappings = 1 << 18
	mostNames    = 16 << 20 // bytes
	longestLine  = 32 << 10 // a path of 4 KiB with each byte escaped, and the numbers
)

var errManyMappings = errors.New("it has more mappings, or longer paths in them, than whatif keeps")

// ParseMaps parses the text of /proc/PID/maps and returns the executable mappings of files, and the number of all
// lines. A line that cannot be parsed is an error, because without it addresses would be attributed to the wrong file.
func ParseMaps(text io.Reader) (maps []Mapping, lines int, err error) {
	in := bufio.NewScanner(text)
	in.Buffer(nil, longestLine)
	path, names := "", 0
	for in.Scan() {
		if len(in.Bytes()) == 0 {
			continue
		}
		m, keep, err := parseMapping(in.Text())
		if err != nil {
			return nil, 0, fmt.Errorf("line %q: %w", in.Text(), err)
		}
		if lines++; !keep {
			continue
		}
		if m.Path != path { // a file is usually mapped several times in a row
			path = strings.Clone(m.Path)
			names += len(path)
		}
		m.Path = path
		if maps = append(maps, m); len(maps) > mostMappings || names > mostNames {
			return nil, 0, errManyMappings
		}
	}
	if err := in.Err(); err != nil {
		return nil, 0, err
	}
	return maps, lines, nil
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
