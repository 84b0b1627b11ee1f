package recorder

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"sync"

	"whatif/bpf"
	"whatif/internal/code/sourcepath"
	"whatif/internal/code/symbol"
	"whatif/internal/code/symbol/scope"
	"whatif/internal/code/unwind"
	"whatif/internal/ledger"
	"whatif/internal/recording"
	"whatif/internal/target"
)

// code knows the binaries that stacks lead to. It answers the kernel side's questions, in a goroutine of its own, and
// resolves frames at the end.
type code struct {
	kernel    *kernelSide
	log       *slog.Logger
	questions chan question
	done      sync.WaitGroup
	once      sync.Once

	found func(*symbol.Binary) // see Options.Found
	made  Made                 // see Options.Made; nil: nothing is known of such code
	scope *scope.Scope
	paths sourcepath.Map
	mains map[string]bool // see Options.Programs
	any   bool            // see Options.AnyProgram

	binaries map[ledger.File]*symbol.Binary // nil: no ELF file
	files    map[uint16]ledger.File         // by the kernel side's numbers
	vdso     *symbol.VDSO
}

// question is one of the kernel side's: which file is this, or how are callers found in a page of it.
type question struct {
	table   bool
	number  uint16 // of the file
	process int
	place   ledger.Place
	address uint64
}

// mostQuestions may wait for an answer. More are asked again by the kernel side, or their stacks end there.
const mostQuestions = 1 << 14

func newCode(k *kernelSide, o *Options) *code {
	log := o.Log
	c := &code{
		kernel: k, log: log, found: o.Found, made: o.Made, scope: &o.Scope, paths: o.Paths, mains: make(map[string]bool),
		any:       o.AnyProgram,
		questions: make(chan question, mostQuestions),
		binaries:  make(map[ledger.File]*symbol.Binary), files: make(map[uint16]ledger.File),
	}
	for _, name := range o.Programs {
		c.mains[name] = true
	}
	c.done.Go(func() {
		for q := range c.questions {
			if err := c.answer(q); err != nil {
				log.Debug("resolving code", "process", q.process, "table", q.table, "error", err)
			}
		}
	})
	return c
}

// ask has a question answered.
func (c *code) ask(q question) {
	select {
	case c.questions <- q:
	default:
		if q.table {
			c.kernel.Maps["tables"].Delete(q.place) // it may be asked again
		}
	}
}

// isMain tells whether a binary is a program's own, and no library.
func (c *code) isMain(name string) bool { return c.mains[name] }

// finish waits until all questions are answered. There are no more.
func (c *code) finish() {
	c.once.Do(func() { close(c.questions) })
	c.done.Wait()
}

func (c *code) answer(q question) error {
	file := ledger.File{Dev: q.place.Dev, Inode: q.place.Inode}
	if isMade(file) {
		return c.answerMade(file, q)
	}
	if !q.table {
		c.files[q.number] = file
		_, err := c.binary(file, q)
		return err
	}
	rows, err := c.rows(file, q)
	if errors.Is(err, os.ErrNotExist) {
		c.kernel.Maps["tables"].Delete(q.place)
		return err
	}
	table := make([]ledger.Row, 0, len(rows))
	for _, r := range rows {
		table = append(table, ledger.Row{Offset: uint16(r.Offset - q.place.Offset), Rule: r.Rule})
	}
	t, full := c.kernel.tables.Put(table)
	if putting := c.kernel.Maps["tables"].Put(q.place, t); putting != nil {
		return fmt.Errorf("giving the kernel a table of %d rows: %w", len(rows), putting)
	}
	return errors.Join(err, full)
}

// isMade tells whether a file stands for the code that a process has made in memory of no file, or interprets.
func isMade(f ledger.File) bool {
	return f.Dev == uint32(bpf.RecordRecordLimitRECORD_GENERATED) || f.Dev == uint32(bpf.RecordRecordLimitRECORD_BYTECODE)
}

// Both kernel sides have the same numbers for such code.
var (
	_ = [1]struct{}{}[int64(bpf.RecordRecordLimitRECORD_GENERATED)-int64(bpf.LedgerSharedNumberNUMBER_GENERATED)]
	_ = [1]struct{}{}[int64(bpf.RecordRecordLimitRECORD_BYTECODE)-int64(bpf.LedgerSharedNumberNUMBER_BYTECODE)]
)

// answerMade has a question about code answered that a process has made.
func (c *code) answerMade(file ledger.File, q question) error {
	switch {
	case !q.table:
		c.files[q.number] = file
		return nil
	case c.made == nil:
		return c.kernel.setRule(q.place, unwind.Rule{Kind: unwind.FramePointer})
	}
	return c.made.Met(q.process, q.place, q.address)
}

// rows are the rules of a page.
func (c *code) rows(file ledger.File, q question) (rows []symbol.UnwindRow, err error) {
	if file.Inode == 0 {
		if c.vdso == nil {
			if c.vdso, err = symbol.OpenVDSO(); err != nil {
				return nil, err
			}
		}
		return c.vdso.Unwind(q.place.Offset, ledger.TableBytes)
	}
	b, err := c.binary(file, q)
	if err != nil {
		return nil, err
	}
	if b == nil { // no ELF file: generated code
		return []symbol.UnwindRow{{Offset: q.place.Offset, Rule: unwind.Rule{Kind: unwind.FramePointer}}}, nil
	}
	return b.Unwind(q.place.Offset, ledger.TableBytes)
}

// binary opens a binary that a process has mapped, once. A file that is no ELF file is remembered as nil.
func (c *code) binary(file ledger.File, q question) (*symbol.Binary, error) {
	if b, known := c.binaries[file]; known {
		return b, nil
	}
	path, err := target.MappedFile(q.process, q.address)
	if err != nil {
		return nil, errors.Join(os.ErrNotExist, err) // the process is gone
	}
	b, err := symbol.OpenAs(path, target.Inside(q.process, path))
	if errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		c.log.Debug("opening a binary", "path", path, "error", err)
		b = nil
	} else {
		is, err := ledger.IdentifyBy(c.kernel.Programs["identify"], b.Image())
		if err == nil && is != file {
			err = fmt.Errorf("opening %s: the process has another file there by now: %w", path, os.ErrNotExist)
		}
		if err != nil {
			b.Close()
			return nil, err
		}
	}
	c.binaries[file] = b
	if b != nil && c.any && target.Runs(q.process, b.Name()) {
		c.mains[b.Name()] = true
	}
	if b != nil && c.found != nil {
		c.found(b)
	}
	return b, nil
}

// frames are the frames at an offset in a file, the innermost first: at least one. sampled says that a sample met the
// instruction there. It is called after finish.
func (c *code) frames(number uint16, offset uint64, sampled bool) []recording.Frame {
	if number == uint16(bpf.RecordRecordLimitRECORD_FILE_VDSO) {
		return []recording.Frame{{Binary: "[vdso]"}}
	}
	file, known := c.files[number]
	if known && isMade(file) && c.made != nil {
		return c.madeFrames(ledger.Place{Dev: file.Dev, Inode: file.Inode, Offset: offset})
	}
	b := c.binaries[file]
	if !known || b == nil {
		return []recording.Frame{{}}
	}
	found, err := b.Frames(offset)
	if err != nil {
		c.log.Debug("resolving a frame", "binary", b.Path(), "offset", offset, "error", err)
	}
	spins, err := b.SpinWaits(offset)
	if err != nil {
		c.log.Debug("looking for a busy-waiting loop", "binary", b.Path(), "offset", offset, "error", err)
	}
	frames := make([]recording.Frame, 0, len(found))
	if len(found) == 0 {
		found = []symbol.Frame{{}}
	}
	origin := b.Origin(c.isMain(b.Name()))
	for i, f := range found {
		frames = append(frames, recording.Frame{
			Function: f.Func, Short: f.Short, File: c.paths.Apply(f.File), Line: int32(f.Line), Binary: b.Name(),
			Inlined: i+1 < len(found), InScope: c.scope.WhyOutside(origin, f) == "", Spins: spins && i == 0,
		})
	}
	if sampled {
		frames[0].Access, frames[0].Nearby = c.access(b, offset)
	}
	return frames
}

// madeFrames are the frames at a place in code that a process has made.
func (c *code) madeFrames(at ledger.Place) []recording.Frame {
	origin, program, found := c.made.Frames(at)
	if len(found) == 0 {
		return []recording.Frame{{}}
	}
	frames := make([]recording.Frame, 0, len(found))
	for i, f := range found {
		frames = append(frames, recording.Frame{
			Function: f.Func, Short: f.Short, File: c.paths.Apply(f.File), Line: int32(f.Line), Binary: program,
			Inlined: i+1 < len(found), InScope: c.scope.WhyOutside(origin, f) == "",
		})
	}
	return frames
}

// access tells whether an access of memory ends before an instruction, and how many percent of those around it are
// alike.
func (c *code) access(b *symbol.Binary, offset uint64) (recording.Access, uint8) {
	behind, share, err := b.Access(offset)
	switch {
	case err != nil:
		c.log.Debug("looking for an access of memory", "binary", b.Path(), "offset", offset, "error", err)
		return recording.UnknownAccess, 0
	case share < 0:
		return recording.UnknownAccess, 0
	case behind:
		return recording.BehindAccess, uint8(1 + math.Round(100*share))
	}
	return recording.NoAccess, uint8(1 + math.Round(100*share))
}

func (c *code) close() error {
	c.finish()
	var errs []error
	for _, b := range c.binaries {
		if b != nil {
			errs = append(errs, b.Close())
		}
	}
	return errors.Join(errs...)
}
