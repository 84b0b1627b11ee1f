package object

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"syscall"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/sys/unix"
)

const (
	// maxInflated bounds one section, decompressed. The debug information of
	// the largest programs seen (browsers) is a few gigabytes; that is not
	// compressed, or nobody could debug it.
	maxInflated = 1 << 30
	// maxRatio is what deflate can make of a byte at most. Debug information
	// gives 3 to 10; who claims more wants memory.
	maxRatio = 1032
	// maxWindow bounds what zstd looks back, which it keeps in memory: that of
	// "zstd --long". Linkers use 2 MiB.
	maxWindow = 128 << 20
	// inMemory is the size from which a section is put into a file without a
	// name and mapped, so that it does not take memory that nobody can take back.
	inMemory = 1 << 20
	// maxMemory bounds what all sections in memory take together, maxDisk
	// those in files.
	maxMemory = 64 << 20
	maxDisk   = 4 << 30
)

var (
	errHeader  = errors.New("its header is damaged")
	errTooLong = errors.New("it claims to be too long")
)

// memory and disk are what decompressed sections take at present.
var memory, disk atomic.Int64

// Inflated says how many bytes all decompressed sections of all files take at
// present, in memory and in temporary files.
func Inflated() (inMemory, onDisk int64) { return memory.Load(), disk.Load() }

// inflated is a decompressed section.
type inflated struct {
	data   []byte
	mapped bool // a mapped file, else memory
}

func (h inflated) free() {
	if h.mapped {
		disk.Add(-int64(len(h.data)))
		syscall.Munmap(h.data)
	} else {
		memory.Add(-int64(len(h.data)))
	}
}

// decompress unpacks a section of a stated size.
func decompress(kind elf.CompressionType, packed []byte, size uint64) (inflated, error) {
	if size > maxInflated || size > maxRatio*uint64(len(packed)) {
		return inflated{}, errTooLong
	}
	r, err := decompressor(kind, packed)
	if err != nil {
		return inflated{}, err
	}
	defer r.Close()
	if size < inMemory {
		if memory.Add(int64(size)) <= maxMemory {
			data := make([]byte, size)
			_, err := io.ReadFull(r, data)
			if err == nil {
				err = atEnd(r)
			}
			if err != nil {
				memory.Add(-int64(size))
				return inflated{}, err
			}
			return inflated{data: data}, nil
		}
		memory.Add(-int64(size))
	}
	if disk.Add(int64(size)) > maxDisk {
		disk.Add(-int64(size))
		return inflated{}, fmt.Errorf("all such sections together are longer than %d GiB", maxDisk>>30)
	}
	data, err := spill(r, int64(size))
	if err != nil {
		disk.Add(-int64(size))
		return inflated{}, err
	}
	return inflated{data: data, mapped: true}, nil
}

// atEnd makes sure that a stream has ended: only there is its checksum compared.
func atEnd(r io.Reader) error {
	switch _, err := io.ReadFull(r, make([]byte, 1)); err {
	case io.EOF:
		return nil
	case nil:
		return errTooLong
	default:
		return err
	}
}

func decompressor(kind elf.CompressionType, packed []byte) (io.ReadCloser, error) {
	switch kind {
	case elf.COMPRESS_ZLIB:
		return zlib.NewReader(bytes.NewReader(packed))
	case elf.COMPRESS_ZSTD:
		z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxInflated), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}
	return nil, fmt.Errorf("compression %v is not known", kind)
}

// spill writes size bytes to a file that has no name, and maps it: the kernel
// can take that memory back, and gives it back when whatif ends, however it does.
func spill(r io.Reader, size int64) ([]byte, error) {
	f, err := nameless()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	// Written, not mapped and filled: a full disk is then an error.
	if n, err := io.CopyBuffer(struct{ io.Writer }{f}, io.LimitReader(r, size), make([]byte, 1<<18)); err != nil {
		return nil, err
	} else if n < size {
		return nil, io.ErrUnexpectedEOF
	}
	if err := atEnd(r); err != nil {
		return nil, err
	}
	return mapped(f, size)
}

// nameless makes a temporary file without a name: in /var/tmp if possible,
// because /tmp may be in memory.
func nameless() (*os.File, error) {
	for _, dir := range []string{"/var/tmp", os.TempDir()} {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err == nil {
			return os.NewFile(uintptr(fd), dir), nil
		}
	}
	// Not all file systems can.
	f, err := os.CreateTemp("", "whatif-debug")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
