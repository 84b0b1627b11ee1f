package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"

	"whatif/internal/outfile"
)

// Writer appends records to a profile. Several goroutines may use it.
type Writer struct {
	mu      sync.Mutex
	file    *os.File
	regular bool
	size    int64 // of a regular file; the lock keeps other writers away
	torn    bool  // the file ends in the middle of a line
	runs    int   // number of runs that the file has already
	anew    bool  // the first record replaces the content of the file
	broken  error // set for good when the file can no longer be kept whole
}

// Append opens path to add a run to the runs that it holds. The file is created if it is not there;
// otherwise it must be a profile, or empty. If it ends in a torn line, the first record starts on a
// line of its own, and Read recognises the torn line.
func Append(path string) (*Writer, error) {
	w, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("opening profile %s: %w", path, err)
	}
	return w, nil
}

// Overwrite opens path as Append does, for a run that replaces the runs that it holds. The old runs
// go when the first record is written, so a run that cannot start leaves them.
func Overwrite(path string) (*Writer, error) {
	w, err := Append(path)
	if err == nil {
		w.anew, w.runs = w.regular, 0
	}
	return w, err
}

// Number is the number of the run that is being written, from 1.
func (w *Writer) Number() int { return w.runs + 1 }

func open(path string) (*Writer, error) {
	f, err := outfile.Append(path)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: f}
	if err := w.prepare(); err != nil {
		f.Close()
		return nil, pathless(err)
	}
	return w, nil
}

// prepare locks the file, and finds out what it holds and how it ends. A device has neither a lock
// nor an end.
func (w *Writer) prepare() error {
	fi, err := w.file.Stat()
	if err != nil {
		return err
	}
	if w.regular = fi.Mode().IsRegular(); !w.regular {
		return nil
	}
	// The lock goes away with the process, however that ends.
	if err := flock(w.file); err != nil {
		return err
	}
	if fi, err = w.file.Stat(); err != nil {
		return err
	}
	if w.size = fi.Size(); w.size == 0 {
		return nil
	}
	if w.runs, err = countRuns(w.file.Name(), io.NewSectionReader(w.file, 0, w.size)); err != nil {
		return err
	}
	var last [1]byte
	if _, err := w.file.ReadAt(last[:], w.size-1); err != nil {
		return err
	}
	w.torn = last[0] != '\n'
	return nil
}

func flock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrInUse
		case errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.EOPNOTSUPP):
			return nil // the file system has no locks: better no lock than no profile
		}
		return err
	}
}

// pathless drops the path from an error that is about to be wrapped with it.
func pathless(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// Write appends one record as one line with one write(2), so that a process that is killed leaves
// at most its last line torn. If a write is cut short (a full disk), its bytes are taken back, and
// a later Write may succeed. If they cannot be taken back, every later Write returns the error.
func (w *Writer) Write(r Record) error {
	if n := r.kinds(); n != 1 {
		return fmt.Errorf("writing profile record: %d kinds of record in it, want 1", n)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return w.broken
	}
	line, err := encode(r, w.torn && !w.anew)
	if err != nil {
		return fmt.Errorf("encoding profile record: %w", err)
	}
	if w.anew {
		if err := w.file.Truncate(0); err != nil {
			return fmt.Errorf("emptying profile %s: %w", w.file.Name(), pathless(err))
		}
		w.anew, w.size = false, 0
	}
	n, err := w.file.Write(line)
	if err == nil {
		w.size += int64(n)
		w.torn = false
		return w.finish(r)
	}
	err = fmt.Errorf("writing profile %s: %w", w.file.Name(), pathless(err))
	if n > 0 && !w.takeBack(int64(n)) {
		w.broken = err
	}
	return err
}

// finish makes sure that a run that has ended is on the disk, not only in memory.
func (w *Writer) finish(r Record) error {
	if r.End == nil || !w.regular {
		return nil
	}
	if err := w.file.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return fmt.Errorf("writing profile %s to the disk: %w", w.file.Name(), pathless(err))
	}
	return nil
}

// takeBack removes the n bytes that were written of a line. If the file has grown by more than
// these, which a file system without locks allows, another writer appended to it, and nothing is
// cut off.
func (w *Writer) takeBack(n int64) bool {
	if !w.regular {
		return false
	}
	fi, err := w.file.Stat()
	return err == nil && fi.Size() == w.size+n && w.file.Truncate(w.size) == nil
}

// encode gives the line of r, on a new line if the file's last line is torn.
func encode(r Record, torn bool) ([]byte, error) {
	var b bytes.Buffer
	if torn {
		b.WriteByte('\n')
	}
	enc := json.NewEncoder(&b) // ends the value with a newline
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	if b.Len() > MaxLine {
		return nil, fmt.Errorf("record of %d bytes, the longest line is %d", b.Len(), MaxLine)
	}
	return b.Bytes(), nil
}

// kinds counts the fields of r that are set.
func (r *Record) kinds() int {
	n := 0
	for _, set := range []bool{r.Run != nil, r.Binary != nil, r.Unit != nil, r.Experiment != nil, r.There != nil,
		r.Point != nil, r.Latency != nil, r.Source != nil, r.Recording != nil, r.Warning != nil, r.End != nil} {
		if set {
			n++
		}
	}
	return n
}

// Close closes the file. Nothing is buffered, so nothing has to be flushed.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.file.Close(); err != nil {
		return fmt.Errorf("closing profile %s: %w", w.file.Name(), pathless(err))
	}
	return nil
}
