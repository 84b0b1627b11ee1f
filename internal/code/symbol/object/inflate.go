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

// Bounds of decompressed sections, in bytes.
const (
	// maxInflated bounds one section. The debug information of the largest programs seen (browsers) is
	// a few gigabytes, but it is not compressed, because nobody could debug them then.
	maxInflated = 1 << 30
	// maxRatio is the most that deflate can make of a byte. Debug information grows by a factor of 3 to
	// 10, repetitive tables by some 30. A section that is large and claims more than largeRatio is
	// hostile.
	maxRatio   = 1032
	largeRatio = 64
	large      = 16 << 20
	// maxWindow bounds zstd's window, which it keeps in memory: the window of "zstd --long". Linkers
	// use 2 MiB. maxWindows bounds all windows together that are longer than usualWindow: a window
	// that grows takes up to twice its size.
	maxWindow   = 128 << 20
	maxWindows  = 128 << 20
	usualWindow = 8 << 20
	// inMemory is the size from which a section goes into a mapped file without a name. The kernel can
	// take that memory back.
	inMemory = 1 << 20
	// maxMemory bounds all sections in memory together, maxDisk all those in files. One section gets at
	// most half of the rest of maxDisk, so that one file cannot use all. It also gets at most a quarter
	// (freeShare) of the free space of the file system.
	maxMemory = 64 << 20
	maxDisk   = 4 << 30
	freeShare = 4
)

var (
	errHeader  = errors.New("its header is damaged")
	errTooLong = errors.New("it claims to be too long")
	errWindow  = errors.New("to decompress it takes too much memory")
)

// memory and disk count the bytes of all decompressed sections, windows those of zstd's long windows.
var memory, disk, windows atomic.Int64

// Inflated returns the bytes of all decompressed sections of all files, in memory and in temporary files.
func Inflated() (inMemory, onDisk int64) { return memory.Load(), disk.Load() }

// stream is a compressed section, which is decompressed as far as it is needed. Deflate and zstd must be
// read from the beginning, but need not be read to the end. The last units are there, and most of their
// code is never sampled.
type stream struct {
	data   []byte // of the stated size, zeros from done on
	done   uint64
	from   io.ReadCloser // nil when all is read
	window int64         // of from, in windows
	file   *os.File      // from which data is mapped; nil if data is in memory
	mapped bool
	used   bool // a caller has bytes of data
	err    error
}

// smallest is the number of compressed bytes that are read of any section.
const smallest = 64 << 10

// newStream prepares to decompress a section of a stated size.
func newStream(kind elf.CompressionType, packed []byte, size uint64) (*stream, error) {
	ratio := uint64(maxRatio)
	if size > large {
		ratio = largeRatio
	}
	if size > maxInflated || size > ratio*uint64(len(packed)) {
		return nil, errTooLong
	}
	// More bytes than that hold no contents. A hole, which costs the file's owner nothing, is an endless row
	// of zstd's empty blocks.
	packed = packed[:min(uint64(len(packed)), size+size/8+smallest)]
	from, window, err := decompressor(kind, packed)
	if err != nil {
		return nil, err
	}
	z := &stream{from: from, window: window}
	if size < inMemory {
		if memory.Add(int64(size)) <= maxMemory {
			z.data = make([]byte, size)
			return z, nil
		}
		memory.Add(-int64(size))
	}
	if before := disk.Add(int64(size)) - int64(size); int64(size) > (maxDisk-before)/2 {
		err = fmt.Errorf("with all such sections together it is longer than %d GiB", maxDisk>>30)
	} else {
		err = z.spill(int64(size))
	}
	if err != nil {
		disk.Add(-int64(size))
		z.finish()
		return nil, err
	}
	return z, nil
}

// spill makes data a mapped file without a name. The kernel can take its memory back, and removes the
// file when whatif ends, even by a signal.
func (z *stream) spill(size int64) (err error) {
	if z.file, err = unnamedFile(); err != nil {
		return err
	}
	if free, known := available(z.file); known && uint64(size) > free/freeShare {
		return fmt.Errorf("%d MiB are too much for the %d MiB that are free on the file system of %s",
			size>>20, free>>20, z.file.Name())
	}
	if err = z.file.Truncate(size); err != nil {
		return err
	}
	if z.data, err = mapped(z.file, size, syscall.MAP_SHARED); err != nil {
		return err
	}
	z.mapped = true
	return nil
}

// available returns the bytes that are free for users on a file's file system.
func available(f *os.File) (bytes uint64, known bool) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return 0, false
	}
	return fs.Bavail * uint64(fs.Bsize), true
}

// step is the least number of bytes that are decompressed at once, because a call has a cost.
const step = 256 << 10

// upto decompresses the bytes before end, or all.
func (z *stream) upto(end uint64) error {
	size := uint64(len(z.data))
	if z.from == nil || end <= z.done && end < size {
		return z.err
	}
	end = min(min(end, size)+step, size)
	if z.mapped {
		buffer := make([]byte, step)
		for z.done < end && z.err == nil {
			part := buffer[:min(step, size-z.done)]
			if _, z.err = io.ReadFull(z.from, part); z.err == nil {
				// Not written through the mapping: so a full disk is an error, and no fault.
				_, z.err = z.file.WriteAt(part, int64(z.done))
			}
			if z.err == nil {
				z.done += uint64(len(part))
			}
		}
	} else if z.done < end {
		if _, z.err = io.ReadFull(z.from, z.data[z.done:end]); z.err == nil {
			z.done = end
		}
	}
	if z.done == size && z.err == nil {
		z.err = atEnd(z.from)
	}
	if z.err != nil || z.done == size {
		z.finish()
	}
	return z.err
}

// finish closes the decompressor and the file.
func (z *stream) finish() {
	if z.from != nil {
		z.from.Close()
		z.from = nil
		windows.Add(-z.window)
	}
	if z.file != nil {
		z.file.Close()
		z.file = nil
	}
}

func (z *stream) free() {
	z.finish()
	if z.mapped {
		disk.Add(-int64(len(z.data)))
		_ = syscall.Munmap(z.data) // cannot fail for what was mapped
	} else {
		memory.Add(-int64(len(z.data)))
	}
	z.data = nil
}

// atEnd checks that a stream has ended: its checksum is compared only there.
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

// decompressor returns a reader of the contents of a stream. window is what it adds to windows.
func decompressor(kind elf.CompressionType, packed []byte) (from io.ReadCloser, window int64, err error) {
	switch kind {
	case elf.COMPRESS_ZLIB:
		from, err = zlib.NewReader(bytes.NewReader(packed))
		return from, 0, err
	case elf.COMPRESS_ZSTD:
		return unzstd(packed)
	}
	return nil, 0, fmt.Errorf("compression %v is not known", kind)
}

func unzstd(packed []byte) (from io.ReadCloser, charged int64, err error) {
	var h zstd.Header
	if err := h.Decode(packed); err != nil {
		return nil, 0, err
	}
	window := max(h.WindowSize, usualWindow)
	if h.SingleSegment { // all of it is the window
		window = max(h.FrameContentSize, usualWindow)
	}
	if window > maxWindow {
		return nil, 0, errWindow
	}
	if window > usualWindow {
		charged = int64(window)
	}
	if windows.Add(charged) > maxWindows {
		windows.Add(-charged)
		return nil, 0, errWindow
	}
	// Further frames of the stream get no longer window, nor frames of a single segment more memory.
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(window), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		windows.Add(-charged)
		return nil, 0, err
	}
	return z.IOReadCloser(), charged, nil
}

// unnamedFile creates a temporary file without a name: in /var/tmp if possible, because /tmp may be in
// memory.
func unnamedFile() (*os.File, error) {
	for _, dir := range []string{"/var/tmp", os.TempDir()} {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err == nil {
			return os.NewFile(uintptr(fd), dir), nil
		}
	}
	// The file system has no O_TMPFILE.
	f, err := os.CreateTemp("", "whatif-debug")
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
