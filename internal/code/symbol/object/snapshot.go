package object

import (
	"bytes"
	"slices"
)

// snapshot reads an image of which parts stay as they were when they were kept.
type snapshot struct {
	image []byte
	kept  []kept
}

type kept struct {
	at   uint64
	data []byte
}

// keep copies n bytes of the image, which must have them, and returns the copy. Of overlapping parts the
// one that was kept first counts.
func (s *snapshot) keep(at, n uint64) []byte {
	data := bytes.Clone(s.image[at : at+n])
	s.kept = append(s.kept, kept{at, data})
	return data
}

// forget drops the copies.
func (s *snapshot) forget() { s.kept = nil }

// ReadAt implements io.ReaderAt.
func (s *snapshot) ReadAt(p []byte, off int64) (n int, err error) {
	n, err = bytes.NewReader(s.image).ReadAt(p, off)
	for _, k := range slices.Backward(s.kept) {
		from, to := max(off, int64(k.at)), min(off+int64(n), int64(k.at)+int64(len(k.data)))
		if from < to {
			copy(p[from-off:to-off], k.data[from-int64(k.at):])
		}
	}
	return n, err
}
