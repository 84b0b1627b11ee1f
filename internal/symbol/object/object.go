// Package object maps ELF files and gives the contents of their sections,
// decompressed. A file may be an executable, a library, or one of the files
// that hold debug information for them: separate, supplementary (dwz's), .dwo,
// .dwp.
//
// Open reads headers only; Section gives a view of the mapped file, or
// decompresses when it is first asked for. Close ends the use of all that was
// given. A File is not safe for concurrent use.
//
// Nobody vouches for the files: a section that cannot be read is nil, and
// Problem says why. A file that is cut short while it is mapped faults, and
// that is the caller's to catch.
package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"whatif/internal/openfile"
)

// File is a mapped ELF file.
type File struct {
	// Path is how the file was named; below Root, if that is not empty.
	Path, Root string
	// Image is the file, mapped read-only.
	Image []byte
	ELF   *elf.File

	mapped   bool
	opened   *os.File
	owner    uint32
	streams  map[string]*stream // by the section's name; nil: it cannot be read
	joined   map[string][]byte
	together []string // see Together
	problem  error
	touched  uint64 // bytes since the last Release
}

// Open maps the ELF file at path, which the user or the kernel named.
func Open(path string) (*File, error) { return OpenIn(openfile.Own(), "", path) }

// OpenIn maps the file at path below root, another root directory: symbolic
// links lead where they lead for a process that has it, and never out of it.
// An empty root is the caller's own. A path that another file names is opened with that one's Rights.
func OpenIn(rights openfile.Rights, root, path string) (f *File, err error) {
	opened, err := openfile.Regular(rights, root, path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			opened.Close()
		}
	}()
	info, err := opened.Stat()
	if err != nil {
		return nil, err
	}
	image, err := mapped(opened, info.Size(), syscall.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	if f, err = New(path, image); err != nil {
		syscall.Munmap(image)
		return nil, err
	}
	f.Root, f.mapped, f.opened = root, true, opened
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		f.owner = st.Uid
	}
	return f, nil
}

// Opened is the file that is mapped, nil if it was in memory already. Its name may lead elsewhere by now.
func (f *File) Opened() *os.File { return f.opened }

// Owner is the user that the file belongs to; nobody, if it was in memory.
func (f *File) Owner() uint32 { return f.owner }

// Rights are those with which names in the file are opened: its owner's.
func (f *File) Rights() openfile.Rights { return openfile.Owner(f.owner) }

// New gives a File of what is in memory already.
func New(path string, image []byte) (f *File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged file: %v", r)
		}
	}()
	if err := checkHeaders(image); err != nil {
		return nil, err
	}
	e, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, err
	}
	return &File{Path: path, Image: image, ELF: e, owner: openfile.Nobody}, nil
}

// mapped maps a file, in small pages: in large ones, which kernels since 6.16
// have for files on ext4, a byte here and there maps a gigabyte.
func mapped(f *os.File, size int64, flags int) ([]byte, error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, flags)
	if err == nil {
		_ = syscall.Madvise(data, syscall.MADV_NOHUGEPAGE) // a kernel without them says EINVAL
	}
	return data, err
}

// Real is the path, below root, that path leads to when all symbolic links are
// followed; path itself if that cannot be found out.
func Real(root, path string) string {
	if root == "" {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		return path
	}
	real, err := openfile.Real(root, path)
	if err != nil || !filepath.IsAbs(real) {
		return path
	}
	// Of a root in this mount namespace the kernel gives the whole path; of
	// one in another, the path in that.
	if prefix, err := filepath.EvalSymlinks(root); err == nil && prefix != "/" {
		if rest, err := filepath.Rel(prefix, real); err == nil && filepath.IsLocal(rest) {
			return "/" + rest
		}
	}
	return real
}

// Problem is why a section could not be read, nil if none was asked for in vain.
func (f *File) Problem() error { return f.problem }

// maxTouched is how much of a mapped file may stay in memory after reading. The kernel
// would take it back when needed, but until then it counts as ours.
const maxTouched = 16 << 20

// faultAround is what the kernel maps when one page of a file is touched that
// it has in memory.
const faultAround = 64 << 10

// Touch notes that n bytes in a row are read, and lets go of what was read before when
// it is much.
func (f *File) Touch(n uint64) {
	if f.touched += max(n, faultAround); f.touched > maxTouched {
		f.Release()
	}
}

// Release lets go of the memory that reading took: what is needed again comes
// from the page cache. Until then it would count as the caller's.
func (f *File) Release() {
	f.touched = 0
	// Only advice: if it is refused nothing is lost.
	if f.mapped {
		_ = syscall.Madvise(f.Image, syscall.MADV_DONTNEED)
	}
	for _, z := range f.streams {
		if z != nil && z.mapped {
			_ = syscall.Madvise(z.data, syscall.MADV_DONTNEED)
		}
	}
}

// Close unmaps the file and everything that was given of it.
func (f *File) Close() error {
	for _, z := range f.streams {
		if z != nil {
			z.free()
		}
	}
	for _, data := range f.joined {
		memory.Add(-int64(len(data)))
	}
	f.streams, f.joined = nil, nil
	if !f.mapped {
		return nil
	}
	f.mapped = false
	return errors.Join(syscall.Munmap(f.Image), f.opened.Close())
}
