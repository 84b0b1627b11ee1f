package experiment

import (
	"os"
	"strings"
	"time"

	"whatif/internal/code/sourcefile"
	"whatif/internal/openfile"
	"whatif/internal/target"
)

// sourceLines reads the text of source lines, by which they are recognized in another build, where they have moved. It
// also sums up the files, by which it is known whether they have changed. Files are read once.
type sourceLines struct {
	files map[ownedName]*sourceText
}

// ownedName is a file's name that a binary gives.
type ownedName struct {
	file  string
	owner uint32 // of the binary
}

type sourceText struct {
	lines    []string
	sum      string // of the content; "" if it cannot be read
	modified time.Time
}

func newSourceLines() *sourceLines {
	return &sourceLines{files: map[ownedName]*sourceText{}}
}

const longestText = 200 // characters of a line that are kept

// text is the line without the blanks around it. It is empty where the file is not there; where it is newer than the
// binary, as its lines may be others; and where the user may not read it: the path comes from a binary that may belong
// to anybody.
func (s *sourceLines) text(file string, line int, binary string, owner uint32) string {
	of := s.of(file, owner)
	if line <= 0 || line > len(of.lines) {
		return ""
	}
	if b, err := os.Stat(binary); err != nil || of.modified.After(b.ModTime()) {
		return ""
	}
	text := []rune(strings.ToValidUTF8(strings.TrimSpace(of.lines[line-1]), "?"))
	return string(text[:min(len(text), longestText)])
}

// sum identifies the file's content; empty: it cannot be read. owner is that of the binary that names it.
func (s *sourceLines) sum(file string, owner uint32) string { return s.of(file, owner).sum }

func (s *sourceLines) of(file string, owner uint32) *sourceText {
	key := ownedName{file, owner}
	known, ok := s.files[key]
	if !ok {
		known = readSource(file, owner)
		s.files[key] = known
	}
	return known
}

// readSource gives what may be known of a file: nothing, if it is not there or is no source.
func readSource(file string, owner uint32) *sourceText {
	of := &sourceText{}
	if !strings.HasPrefix(file, "/") {
		return of
	}
	f, everybodys, err := openAsUser(file, owner)
	if err != nil {
		return of
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return of
	}
	text, err := sourcefile.From(f)
	if err != nil {
		return of
	}
	of.sum, of.modified = sourcefile.Sum(text), info.ModTime()
	if everybodys {
		of.lines = strings.Split(string(text), "\n")
	}
	return of
}

// openAsUser opens a file with the rights of the user who called whatif. For root itself it takes those of the owner of
// the binary that names the file; then the file may be shown only if everybody may read it.
func openAsUser(file string, owner uint32) (f *os.File, everybodys bool, err error) {
	_, other, err := target.InvokingUser()
	if err != nil {
		return nil, false, err
	}
	rights := openfile.Owner(owner)
	if other {
		rights = openfile.Invoker()
	}
	f, err = openfile.Regular(rights, "", file)
	if err != nil || other || os.Geteuid() != 0 {
		return f, err == nil, err
	}
	info, err := f.Stat()
	return f, err == nil && info.Mode().Perm()&0o004 != 0, nil
}
