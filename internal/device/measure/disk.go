package measure

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/target"
)

const (
	mostFile = 64 << 20 // more than a disk's own cache for writing mostly has, and written within a second by most
	small    = 4 << 10
	large    = 1 << 20
)

// A scratch is an unnamed file, which is gone when whatif ends, in whatever way.
type scratch struct {
	fd     int
	size   int64 // what has been written, a multiple of large
	at     int64 // where sequential access is
	random *rand.Rand
	buf    []byte // aligned to a page, as direct access wants
}

// addDisk makes a file in dir with the rights of the invoking user, writes it for at most patience, and adds the
// measures of it.
func (b *bench) addDisk(dir string, patience time.Duration) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return hint.New(err, "choose a directory with --dir DIR")
	}
	if int64(fs.Bavail)*fs.Bsize < 4*mostFile {
		return hint.New(fmt.Errorf("only %d MiB are free, %d are needed", int64(fs.Bavail)*fs.Bsize>>20, 4*mostFile>>20),
			"choose another directory with --dir DIR")
	}
	switch fs.Type {
	case unix.TMPFS_MAGIC, unix.RAMFS_MAGIC:
		b.doubt("%s is in memory: the figures of the disk are those of no disk; choose a directory with --dir", dir)
	}
	var s *scratch
	err := target.AsInvokingUser(func() (err error) {
		s, err = newScratch(dir)
		return err
	})
	if err != nil {
		return hint.New(err, "choose a directory with --dir DIR in which you can write")
	}
	b.close = append(b.close, s.close)
	if !s.direct() {
		b.doubt("the file system of %s has no direct access: the figures of the disk are those of its cache in memory", dir)
	}
	begin := time.Now()
	for s.size < mostFile && (s.size == 0 || time.Since(begin) < patience) {
		if err := s.write(s.size, large); err != nil {
			return fmt.Errorf("writing: %w", err)
		}
		s.size += large
	}
	b.addAccess(s)
	return nil
}

// addAccess adds small accesses at random places, one at a time, and large ones in sequence.
func (b *bench) addAccess(s *scratch) {
	write := func(size int) func(int64) error { return func(at int64) error { return s.write(at, size) } }
	read := func(size int) func(int64) error { return func(at int64) error { return s.read(at, size) } }
	sync := func(size int) func(int64) error {
		return func(at int64) error {
			if err := s.write(at, size); err != nil {
				return err
			}
			_, err := retry(func() (int, error) { return 0, unix.Fdatasync(s.fd) })
			return err
		}
	}
	for _, a := range []struct {
		name   string
		access func(size int) func(at int64) error
	}{{"read", read}, {"write", write}, {"sync", sync}} {
		b.add("disk."+a.name+".4k", func(d time.Duration) (float64, error) {
			return accesses(d, a.access(small), func() int64 { return s.random.Int64N(s.size/small) * small })
		})
		b.add("disk."+a.name+".seq", func(d time.Duration) (float64, error) {
			x, err := accesses(d, a.access(large), func() int64 {
				at := s.at
				s.at = (s.at + large) % s.size
				return at
			})
			return x * large, err
		})
	}
}

// accesses does accesses for about d, and returns how many there are in a second. That is the mean, as a program waits
// for the slow ones, too.
func accesses(d time.Duration, access func(at int64) error, next func() int64) (float64, error) {
	begin := time.Now()
	for n := 1; ; n++ {
		if err := access(next()); err != nil {
			return 0, err
		}
		if took := time.Since(begin); took >= d {
			return float64(n) / took.Seconds(), nil
		}
	}
}

func newScratch(dir string) (*scratch, error) {
	buf, err := unix.Mmap(-1, 0, large, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("allocating a buffer: %w", err)
	}
	s := &scratch{random: rand.New(rand.NewPCG(3, 4)), buf: buf}
	// Disks with compression would make something else of zeros.
	words := unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(buf))), large/8)
	for i := range words {
		words[i] = s.random.Uint64()
	}
	if s.fd, err = unnamed(dir); err != nil {
		_ = unix.Munmap(buf)
		return nil, err
	}
	return s, nil
}

// unnamed opens a file without a name in dir, with direct access where there is such.
func unnamed(dir string) (fd int, err error) {
	const flags = unix.O_RDWR | unix.O_CLOEXEC
	for _, direct := range []int{unix.O_DIRECT, 0} {
		fd, err = unix.Open(dir, flags|unix.O_TMPFILE|direct, 0o600)
		if err == nil {
			return fd, nil
		}
		if !errors.Is(err, unix.EOPNOTSUPP) && !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EINVAL) {
			return -1, err
		}
	}
	// The file system knows no files without a name.
	f, err := os.CreateTemp(dir, ".whatif-device-*")
	if err != nil {
		return -1, err
	}
	path := f.Name()
	defer os.Remove(path)
	defer f.Close()
	for _, direct := range []int{unix.O_DIRECT, 0} {
		if fd, err = unix.Open(filepath.Clean(path), flags|unix.O_NOFOLLOW|direct, 0); err == nil {
			return fd, nil
		}
	}
	return -1, err
}

func (s *scratch) direct() bool {
	flags, err := unix.FcntlInt(uintptr(s.fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_DIRECT != 0
}

func (s *scratch) write(at int64, size int) error {
	n, err := retry(func() (int, error) { return unix.Pwrite(s.fd, s.buf[:size], at) })
	if err == nil && n != size {
		err = unix.ENOSPC
	}
	return err
}

func (s *scratch) read(at int64, size int) error {
	n, err := retry(func() (int, error) { return unix.Pread(s.fd, s.buf[:size], at) })
	if err == nil && n != size {
		err = fmt.Errorf("%d of %d bytes", n, size)
	}
	return err
}

func (s *scratch) close() {
	unix.Close(s.fd)
	_ = unix.Munmap(s.buf)
}
