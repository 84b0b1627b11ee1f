// Package sourcefile reads the source files that a profile names, and detects changes. A run reads
// each file with From and records its Sum; the page reads the file again with Read, and says so if
// the sum differs.
//
// Paths come from debug information and profiles, which are not trusted. So the package reads only
// plain text of at most MaxSize.
package sourcefile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"whatif/internal/openfile"
)

// MaxSize is the size, in bytes, of the largest source file that is read.
const MaxSize = 8 << 20

// Read reads a source file with the rights of the user that called whatif.
func Read(path string) ([]byte, error) {
	f, err := openfile.Regular(openfile.Invoker(), "", path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer f.Close()
	return From(f)
}

// From reads a source file that is open. It refuses FIFOs and devices, so that it never waits.
func From(f *os.File) ([]byte, error) {
	path := f.Name()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("reading source %s: not a regular file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, fmt.Errorf("reading source %s: larger than %d MiB", path, MaxSize>>20)
	}
	if !isText(text) {
		return nil, fmt.Errorf("reading source %s: %w", path, errNoText)
	}
	return text, nil
}

var errNoText = errors.New("it is no text")

// isText reports whether a content has no byte 0 and is UTF-8. Up to 1% of the bytes may be
// wrong, as in a comment with a name in Latin-1.
func isText(text []byte) bool {
	if bytes.IndexByte(text, 0) >= 0 {
		return false
	}
	bad := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		i += n
	}
	return bad*100 <= len(text)
}

// Sum returns a checksum that identifies a content.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
