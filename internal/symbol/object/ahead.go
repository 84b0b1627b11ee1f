package object

import (
	"debug/elf"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
)

// Ahead decompresses sections that will be asked for, all at the same time. Each is one
// stream, which one core has to go through, but there are several; and the one that takes
// the longest is then all there is to wait for.
func (f *File) Ahead(names ...string) {
	type section struct {
		*elf.Section
		inflated
		err error
	}
	var todo []*section
	for _, name := range names {
		if s := f.find(name); s != nil && f.Compressed(name) {
			if _, done := f.inflated[s.Name]; !done {
				todo = append(todo, &section{Section: s})
			}
		}
	}
	var all sync.WaitGroup
	for _, s := range todo {
		all.Go(func() {
			// A fault is a goroutine's own: see the caller's about damaged files.
			debug.SetPanicOnFault(true)
			defer func() {
				if r := recover(); r != nil {
					s.err = fmt.Errorf("damaged file: %v", r)
				}
			}()
			s.inflated, s.err = f.inflate(s.Section, f.Raw(s.Section))
		})
	}
	all.Wait()
	for _, s := range todo {
		f.keep(s.Section, s.inflated, s.err)
	}
}

// Compressed reports whether a section has to be decompressed before it can be read.
func (f *File) Compressed(name string) bool {
	s := f.find(name)
	return s != nil && (s.Flags&elf.SHF_COMPRESSED != 0 || strings.HasPrefix(s.Name, ".z"))
}
