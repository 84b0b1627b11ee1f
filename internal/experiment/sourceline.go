package experiment

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"whatif/internal/target"
)

// sourceLines reads what lines of source say, so that they can be known again in another
// build, where they have moved. Files are read once, as far as is needed.
type sourceLines struct {
	files map[string][]string
}

func newSourceLines() *sourceLines {
	return &sourceLines{files: map[string][]string{}}
}

const (
	longestSource = 64 << 20 // bytes: no source is longer
	longestText   = 200      // characters of a line that are kept
)

// text is the line without what surrounds it, or empty: where the file is not there, is
// newer than the binary, so that its lines may be others, or is not the user's
// to read: the path comes from a binary that may be anybody's.
func (s *sourceLines) text(file string, line int, binary string) string {
	if !strings.HasPrefix(file, "/") || line <= 0 {
		return ""
	}
	lines, ok := s.files[file]
	if !ok {
		lines = s.read(file, binary)
		s.files[file] = lines
	}
	if line > len(lines) {
		return ""
	}
	text := []rune(strings.ToValidUTF8(strings.TrimSpace(lines[line-1]), "?"))
	return string(text[:min(len(text), longestText)])
}

func (s *sourceLines) read(file, binary string) (lines []string) {
	f, err := openAsUser(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > longestSource {
		return nil
	}
	if b, err := os.Stat(binary); err != nil || info.ModTime().After(b.ModTime()) {
		return nil
	}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		lines = append(lines, in.Text())
	}
	return lines
}

// openAsUser opens a file with the rights of the user who called whatif; for root itself only
// what everybody may read.
func openAsUser(file string) (f *os.File, err error) {
	_, other, err := target.InvokingUser()
	if err != nil {
		return nil, err
	}
	err = target.AsInvokingUser(func() (err error) {
		f, err = os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		return err
	})
	if err != nil || other || os.Geteuid() != 0 {
		return f, err
	}
	if info, err := f.Stat(); err != nil || info.Mode().Perm()&0o004 == 0 {
		return nil, errors.Join(err, f.Close(), fs.ErrPermission)
	}
	return f, nil
}
