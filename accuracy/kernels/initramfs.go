package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
)

// file is a file in the machine's root directory.
type file struct {
	name string
	path string // on the host
}

// Modes of files.
const (
	regular   = 0o100755
	directory = 0o040755
	device    = 0o020600
)

// writeInitramfs writes the files with which a kernel starts, in the kernel's cpio format "newc": the console, and
// files.
func writeInitramfs(path string, files []file) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the machine's files: %w", err)
	}
	defer f.Close()
	w := &cpio{w: bufio.NewWriter(f)}
	w.add("dev", directory, 0, 0, nil)
	w.add("dev/console", device, 5, 1, nil)
	for _, file := range files {
		content, err := os.ReadFile(file.path)
		if err != nil {
			return fmt.Errorf("writing the machine's files: %w", err)
		}
		w.add(file.name, regular, 0, 0, content)
	}
	w.add("TRAILER!!!", 0, 0, 0, nil)
	if err := w.w.Flush(); err != nil {
		return fmt.Errorf("writing the machine's files: %w", err)
	}
	return f.Close()
}

// cpio writes an archive. Its bufio.Writer keeps the first error.
type cpio struct {
	w      *bufio.Writer
	inode  int
	length int
}

func (c *cpio) add(name string, mode, major, minor int, content []byte) {
	c.inode++
	// Magic, inode, mode, owner, group, links, time, size, device of the file, device that the file is, length of the
	// name, checksum.
	c.write(fmt.Sprintf("070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%s\x00",
		c.inode, mode, 0, 0, 1, 0, len(content), 0, 0, major, minor, len(name)+1, 0, name))
	c.pad()
	n, _ := c.w.Write(content)
	c.length += n
	c.pad()
}

func (c *cpio) write(s string) {
	n, _ := io.WriteString(c.w, s)
	c.length += n
}

// pad writes zeros up to a multiple of 4 bytes.
func (c *cpio) pad() {
	for c.length%4 != 0 {
		c.write("\x00")
	}
}
