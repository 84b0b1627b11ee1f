package jit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A File is what a Follower reads: an open file that another process may write to, or cut short, at any time.
type File interface {
	io.ReaderAt
	Size() (int64, error)
}

// Follower reads a file as it grows.
type Follower struct {
	file   File
	table  *Table
	format format
	offset int64
}

// A format takes in a piece of the file. It returns how many bytes it has used up, and how many it has to have before
// it can go on. The bytes that it has not used are given to it again, with more behind them.
type format interface {
	take(t *Table, text []byte) (used, needs int, err error)
	restart()
}

const (
	// mostAtOnce is how much of a file is read in one call of Follow.
	mostAtOnce = 4 << 20
	// pieceBytes is how much is read in one piece; a piece grows where a format asks for more.
	pieceBytes = 64 << 10
)

// errFormat is returned for a file that is not of its format. It is not read any further.
var errFormat = errors.New("not of this format")

// MapFile is where a process writes its perf-PID.map, by its number in its own namespace.
func MapFile(process int) string { return "/tmp/perf-" + strconv.Itoa(process) + ".map" }

// FollowMap follows a perf-PID.map.
func FollowMap(f File, t *Table) *Follower { return &Follower{file: f, table: t, format: &perfMap{}} }

// FollowDump follows a jitdump.
func FollowDump(f File, t *Table) *Follower { return &Follower{file: f, table: t, format: &dump{}} }

// Follow reads what is new, up to a limit. changed reports whether the table may have changed, more whether there is
// more to read.
func (f *Follower) Follow() (changed, more bool, err error) {
	if f.format == nil {
		return false, false, nil
	}
	size, err := f.file.Size()
	if err != nil {
		return false, false, fmt.Errorf("reading what a runtime has written of its code: %w", err)
	}
	if size < f.offset { // it was written anew
		f.table.clear()
		f.format.restart()
		f.offset, changed = 0, true
	}
	stop := f.offset + mostAtOnce
	want := pieceBytes
	for f.offset < size && f.offset < stop {
		text := make([]byte, min(int64(want), size-f.offset))
		n, err := f.file.ReadAt(text, f.offset)
		if n == 0 && err != nil && !errors.Is(err, io.EOF) {
			return changed, false, fmt.Errorf("reading what a runtime has written of its code: %w", err)
		}
		used, needs, err := f.format.take(f.table, text[:n])
		f.offset += int64(used)
		changed = changed || used > 0
		if err != nil {
			f.format = nil
			return changed, false, err
		}
		if used == 0 {
			if needs <= n || f.offset+int64(needs) > size {
				return changed, false, nil // the rest is still to be written
			}
			want = needs
			continue
		}
		want = pieceBytes
	}
	return changed, f.offset < size, nil
}

// longestLine bounds a line of a perf-PID.map. A longer one is left out.
const longestLine = 16 << 10

// perfMap reads lines such as
//
//	7f479effbcc0 2c4 JS:*hot /home/u/app.js:2:13
//
// with the address and the size of the code, in hexadecimal digits, and its name.
type perfMap struct {
	skipping bool // the rest of a line that is too long
}

func (p *perfMap) restart() { p.skipping = false }

func (p *perfMap) take(t *Table, text []byte) (used, needs int, err error) {
	for used < len(text) {
		end := bytes.IndexByte(text[used:], '\n')
		if end < 0 {
			if len(text)-used > longestLine || p.skipping {
				p.skipping = true
				used = len(text)
			}
			break
		}
		if !p.skipping {
			p.line(t, text[used:used+end])
		}
		p.skipping = false
		used += end + 1
	}
	return used, len(text) - used + 1, nil
}

func (p *perfMap) line(t *Table, text []byte) {
	first, rest, _ := bytes.Cut(text, []byte(" "))
	second, name, _ := bytes.Cut(rest, []byte(" "))
	start, ok := hex(first)
	size, ok2 := hex(second)
	if ok && ok2 && len(name) > 0 && plausible(start, size) {
		t.add(start, size, &Body{Function: Clean(string(name[:min(len(name), longestName)]))})
	}
}

// longestName bounds a function's name.
const longestName = 4 << 10

// largestCode bounds the code of one function. The largest that compilers make are a few megabytes.
const largestCode = 1 << 30

// plausible reports whether there can be code of a program at an address.
func plausible(start, size uint64) bool {
	const kernel = 1 << 63
	return size > 0 && size <= largestCode && start < kernel
}

func hex(text []byte) (n uint64, ok bool) {
	text = bytes.TrimPrefix(text, []byte("0x"))
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		n = n<<4 | uint64(c)
	}
	return n, len(text) > 0 && len(text) <= 16
}
