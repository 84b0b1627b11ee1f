// Package object maps ELF files and returns the contents of their sections, decompressed. A file may be an
// executable, a library, or a file with debug information for these: separate, supplementary (dwz's),
// .dwo or .dwp.
//
// Call Open, which reads only headers, then Section, which returns a part of the mapped file or
// decompresses it when it is first needed. After Close no returned bytes may be used. A File is not safe
// for concurrent use.
//
// The files are not trusted. A section that cannot be read is nil, and Problem says why. If a mapped file
// shrinks, reading its contents faults: the caller must defer Guard.
package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"whatif/internal/openfile"
)

// File is a mapped ELF file.
type File struct {
	// Path is the path that was opened: below Root, if that is not empty.
	Path, Root string
	// Image is the read-only mapping of the file.
	Image []byte
	ELF   *elf.File

	mapped   bool
	opened   *os.File
	owner    uint32
	named    map[string]named   // see byName
	streams  map[string]*stream // by the section's name; nil: it cannot be read
	joined   map[string][]byte
	together []string // see DecompressTogether
	problem  error
	touched  uint64 // bytes since the last Release
}

// Open maps the ELF file at a path from the user or the kernel.
func Open(path string) (*File, error) { return OpenIn(openfile.Own(), "", path) }

// OpenIn maps the file at path below root, another root directory. Symbolic links lead where they lead for
// a process with that root, and never out of it. An empty root is the caller's own. If another file names
// the path, rights should be that file's Rights.
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

// Opened returns the open file, nil if the File is from New. Its path may by now lead to another file.
func (f *File) Opened() *os.File { return f.opened }

// Owner returns the user id of the file's owner; nobody's, if the File is from New.
func (f *File) Owner() uint32 { return f.owner }

// Rights returns the rights with which paths in the file should be opened: its owner's.
func (f *File) Rights() openfile.Rights { return openfile.Owner(f.owner) }

// ErrScript is what opening a script fails with: a text that another program executes.
var ErrScript = errors.New("it is a script, and no ELF file")

// New returns a File for an image in memory.
func New(path string, image []byte) (f *File, err error) {
	defer Guard("", &err)()
	if bytes.HasPrefix(image, []byte("#!")) {
		return nil, ErrScript
	}
	checked, err := checkHeaders(image)
	if err != nil {
		return nil, err
	}
	e, err := elf.NewFile(checked)
	if err != nil {
		return nil, err
	}
	checked.forget() // sections may be read through it
	return &File{Path: path, Image: image, ELF: e, named: byName(e.Sections), owner: openfile.Nobody}, nil
}

// mapped maps a file in small pages. With large pages, which kernels since 6.16 use for files on ext4,
// reading a few bytes here and there would map a gigabyte.
func mapped(f *os.File, size int64, flags int) ([]byte, error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, flags)
	if err == nil {
		_ = syscall.Madvise(data, syscall.MADV_NOHUGEPAGE) // a kernel without them says EINVAL
	}
	return data, err
}

// Real returns the path, below root, to which a path leads when all symbolic links are followed; the path
// itself if that is not known.
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
	// For a root in this mount namespace the kernel returns the whole path, else the path below the root.
	if prefix, err := filepath.EvalSymlinks(root); err == nil && prefix != "/" {
		if rest, err := filepath.Rel(prefix, real); err == nil && filepath.IsLocal(rest) {
			return "/" + rest
		}
	}
	return real
}

// Problem returns why a section could not be read, nil if all could.
func (f *File) Problem() error { return f.problem }

// maxTouched bounds the bytes of a mapped file that stay in memory after reading. The kernel would take
// them back when needed, but until then they count as whatif's memory.
const maxTouched = 16 << 20

// faultAround is the number of bytes that the kernel maps when one cached page of a file is touched.
const faultAround = 64 << 10

// Touch says that n bytes in a row are read. If much was read since the last Release, it calls Release.
func (f *File) Touch(n uint64) {
	if f.touched += max(n, faultAround); f.touched > maxTouched {
		f.Release()
	}
}

// Release releases the memory that reading took, so that it no longer counts as whatif's. Bytes that are
// needed again come from the page cache.
func (f *File) Release() {
	f.touched = 0
	// This is only advice: a refusal does no harm.
	if f.mapped {
		_ = syscall.Madvise(f.Image, syscall.MADV_DONTNEED)
	}
	for _, z := range f.streams {
		if z != nil && z.mapped {
			_ = syscall.Madvise(z.data, syscall.MADV_DONTNEED)
		}
	}
}

// Close unmaps the file and all sections.
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
