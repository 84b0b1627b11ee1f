package recording

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/klauspost/compress/zstd"
)

// The file format. A line says what it is, and the version; the rest is compressed by zstd: sections, each with its
// number and length. Section 1 comes first, windows last, each a section of its own. One that is not known is skipped.
// Within a section are tables, see column.
//
// The memory that a file may take when it is read is bounded by its size: a hostile file of some kilobytes could claim
// gigabytes otherwise. What Write writes is padded if it compresses better than that.
const (
	// Version is the version of the format that Write writes. Later ones are refused, earlier ones are read.
	Version = 1

	// MaxFile is the most bytes that a file may have.
	MaxFile = 64 << 20
	// MaxMemory is the most bytes that the recording of a file may take in memory, as counted here (eventCost, …): some
	// four million events.
	MaxMemory = 256 << 20
	// perByte is how many of these bytes one byte of a file may bring. Recorded events have 10 to 20.
	perByte = 256

	magic = "whatif recording "
	// window is zstd's window, which a reader keeps in memory.
	window = 4 << 20
)

// What things count in memory. They are part of the format: a file that was small enough stays so.
const (
	eventCost  = 64
	threadCost = 128
	pointCost  = 32
	objectCost = 32
	frameCost  = 96
	stackCost  = 32
	placeCost  = 32
	nameCost   = 32
	windowCost = 64
	numberCost = 4 // of a list in a row
)

const (
	headSection = 1 + iota
	namesSection
	threadsSection
	pointsSection
	objectsSection
	framesSection
	stacksSection
	placesSection
	windowSection
)

// VersionError says that a recording is of a later version than this package knows.
type VersionError struct{ Version int }

func (e *VersionError) Error() string {
	return fmt.Sprintf("recording is version %d, this whatif reads up to %d", e.Version, Version)
}

// body is a recording on its way to or from its sections.
type body struct {
	*Recording
	names names
	cost  uint64 // in memory
}

func (b *body) head() []column {
	r, l, c := b.Recording, &b.Losses, &b.Costs
	return []column{
		field(1, plain, func(int) *int { return &r.Cores }),
		field(2, plain, func(int) *int64 { return &r.Period }),
		field(3, plain, func(int) *int64 { return &r.Began }),
		field(4, plain, func(int) *int64 { return &r.Length }),
		field(5, plain, func(int) *int64 { return &l.Events }),
		field(6, plain, func(int) *int64 { return &l.Repaired }),
		field(7, plain, func(int) *int64 { return &l.LeftOut }),
		field(8, plain, func(int) *int64 { return &l.Outside }),
		field(9, plain, func(int) *int64 { return &l.Stops }),
		field(10, plain, func(int) *int64 { return &c.Switch }),
		field(11, plain, func(int) *int64 { return &c.Wake }),
		field(12, plain, func(int) *int64 { return &c.Sample }),
		field(13, plain, func(int) *int64 { return &c.Visit }),
		field(14, plain, func(int) *int64 { return &c.Goroutine }),
		field(15, plain, func(int) *int64 { return &r.Cache }),
	}
}

// threads has the number of allowed cores in lengths.
func (b *body) threads(lengths []int64) []column {
	t := b.Threads
	return []column{
		field(1, delta, func(i int) *int32 { return &t[i].ID }),
		field(2, delta, func(i int) *int32 { return &t[i].Process }),
		b.names.column(3, func(i int) *string { return &t[i].Name }),
		b.names.column(4, func(i int) *string { return &t[i].Program }),
		yesNo(5, func(i int) *bool { return &t[i].Goroutine }),
		field(6, plain, func(i int) *int8 { return &t[i].Nice }),
		field(7, plain, func(i int) *int64 { return &lengths[i] }),
	}
}

func (b *body) points() []column {
	p := b.Points
	return []column{
		b.names.column(1, func(i int) *string { return &p[i].Name }),
		yesNo(2, func(i int) *bool { return &p[i].Latency }),
	}
}

func (b *body) objects() []column {
	o := b.Objects
	return []column{
		field(1, plain, func(i int) *ObjectKind { return &o[i].Kind }),
		field(2, delta, func(i int) *int32 { return &o[i].Process }),
		field(3, delta, func(i int) *uint64 { return &o[i].Address }),
	}
}

func (b *body) frames() []column {
	f := b.Frames
	return []column{
		b.names.column(1, func(i int) *string { return &f[i].Function }),
		b.names.column(2, func(i int) *string { return &f[i].File }),
		field(3, plain, func(i int) *int32 { return &f[i].Line }),
		b.names.column(4, func(i int) *string { return &f[i].Binary }),
		yesNo(5, func(i int) *bool { return &f[i].Kernel }),
		b.names.column(6, func(i int) *string { return &f[i].Short }),
		yesNo(7, func(i int) *bool { return &f[i].Inlined }),
		yesNo(8, func(i int) *bool { return &f[i].InScope }),
		yesNo(9, func(i int) *bool { return &f[i].Spins }),
		field(10, plain, func(i int) *Access { return &f[i].Access }),
		field(11, plain, func(i int) *uint8 { return &f[i].Nearby }),
	}
}

func (b *body) places() []column {
	p := b.Places
	return []column{
		field(1, delta, func(i int) *int32 { return &p[i].Stack }),
		field(2, delta, func(i int) *uint64 { return &p[i].Address }),
		field(3, delta, func(i int) *uint64 { return &p[i].Pointer }),
	}
}

// one is a table of a single column.
func one[N number](coding coding, list []N) []column {
	return []column{field(1, coding, func(i int) *N { return &list[i] })}
}

// times are the columns of all events of a window.
func times(e []Event) []column {
	return []column{
		field(1, plain, func(i int) *Kind { return &e[i].Kind }),
		field(2, delta, func(i int) *int64 { return &e[i].Time }),
	}
}

// fields are the other columns, of the events of one kind. Where something is guessed, it is the difference to that.
func fields(e []Event, at []int32, differences []guessed) []column {
	difference := func(id uint64, get func(d *guessed) int32, set func(e *Event) *int32) column {
		return column{id, plain,
			func(i int) int64 { return int64(get(&differences[at[i]])) },
			func(i int, n int64) bool {
				*set(&e[at[i]]) = int32(n)
				return int64(int32(n)) == n
			}}
	}
	return []column{
		field(1, plain, func(i int) *int16 { return &e[at[i]].CPU }),
		difference(2, func(d *guessed) int32 { return d.thread }, func(e *Event) *int32 { return &e.Thread }),
		field(3, plain, func(i int) *int32 { return &e[at[i]].Other }),
		difference(4, func(d *guessed) int32 { return d.place }, func(e *Event) *int32 { return &e.Place }),
		difference(5, func(d *guessed) int32 { return d.object }, func(e *Event) *int32 { return &e.Object }),
		field(6, plain, func(i int) *int32 { return &e[at[i]].Stack }),
		field(7, plain, func(i int) *int32 { return &e[at[i]].Point }),
		field(8, plain, func(i int) *Condition { return &e[at[i]].Condition }),
		field(9, plain, func(i int) *Cause { return &e[at[i]].Cause }),
		field(10, plain, func(i int) *Class { return &e[at[i]].Class }),
		field(11, plain, func(i int) *Role { return &e[at[i]].Role }),
		field(12, delta, func(i int) *uint64 { return &e[at[i]].Key }),
	}
}

// byKind lists the numbers of the events of each kind.
func byKind(events []Event) (lists [noKind][]int32) {
	var counts [noKind]int
	for i := range events {
		counts[events[i].Kind]++
	}
	for k, n := range counts {
		lists[k] = make([]int32, 0, n)
	}
	for i := range events {
		k := events[i].Kind
		lists[k] = append(lists[k], int32(i))
	}
	return lists
}

// Write writes a recording, which must be well-formed.
func Write(w io.Writer, r *Recording) error {
	if err := r.check(); err != nil {
		return fmt.Errorf("writing recording: %w", err)
	}
	var packed bytes.Buffer
	packed.WriteString(magic + strconv.Itoa(Version) + "\n")
	z, err := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
	if err != nil {
		return err
	}
	b := body{Recording: r, names: newNames(), cost: r.cost()}
	if b.cost <= MaxMemory {
		err = b.write(z)
	}
	if closing := z.Close(); err == nil {
		err = closing
	}
	if b.cost > MaxMemory {
		err = fmt.Errorf("it takes %d MiB in memory, and may take %d", b.cost>>20, MaxMemory>>20)
	}
	if err == nil {
		pad(&packed, int(b.cost/perByte)+1-packed.Len())
		if packed.Len() > MaxFile {
			err = fmt.Errorf("it takes %d MiB in a file, and may take %d", packed.Len()>>20, MaxFile>>20)
		}
	}
	if err != nil {
		return fmt.Errorf("writing recording: %w", err)
	}
	_, err = packed.WriteTo(w)
	return err
}

// pad appends so many bytes, or a few more, that zstd skips.
func pad(b *bytes.Buffer, n int) {
	if n <= 0 {
		return
	}
	b.Write(binary.LittleEndian.AppendUint32(nil, 0x184D2A50))
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(n)))
	b.Write(make([]byte, n))
}

// cost is what a recording takes in memory, without its names.
func (r *Recording) cost() uint64 {
	sum := len(r.Threads)*threadCost + len(r.Points)*pointCost + len(r.Objects)*objectCost + len(r.Frames)*frameCost +
		len(r.Stacks)*stackCost + len(r.Places)*placeCost
	for i := range r.Threads {
		sum += len(r.Threads[i].Allowed) * numberCost
	}
	for _, s := range r.Stacks {
		sum += len(s) * numberCost
	}
	for i := range r.Windows {
		sum += windowCost + len(r.Windows[i].Events)*eventCost
	}
	return uint64(sum)
}

func (b *body) write(w io.Writer) error {
	// Names come before what has them, and are known after it.
	tables := b.appendTables(nil)
	out := appendSection(nil, headSection, func(s []byte) []byte { return appendTable(s, 1, b.head()) })
	out = appendSection(out, namesSection, func(s []byte) []byte {
		s = binary.AppendUvarint(s, uint64(len(b.names.list)-1))
		for _, n := range b.names.list[1:] {
			s = append(binary.AppendUvarint(s, uint64(len(n))), n...)
			b.cost += nameCost + uint64(len(n))
		}
		return s
	})
	if _, err := w.Write(append(out, tables...)); err != nil {
		return err
	}
	g := newGuesser(len(b.Threads))
	for i := range b.Windows {
		out = appendSection(out[:0], windowSection, func(s []byte) []byte { return appendWindow(s, &b.Windows[i], g) })
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	return nil
}

func appendSection(b []byte, section uint64, f func(b []byte) []byte) []byte {
	return appendSized(binary.AppendUvarint(b, section), f)
}

func (b *body) appendTables(out []byte) []byte {
	add := func(section uint64, rows int, columns []column) {
		out = appendSection(out, section, func(s []byte) []byte {
			return appendTable(binary.AppendUvarint(s, uint64(rows)), rows, columns)
		})
	}
	addLists := func(section uint64, rows int, columns []column, values int, list []column) {
		out = appendSection(out, section, func(s []byte) []byte {
			s = appendTable(binary.AppendUvarint(s, uint64(rows)), rows, columns)
			return appendTable(s, values, list)
		})
	}
	lengths := make([]int64, len(b.Threads))
	var allowed []int16
	for i, t := range b.Threads {
		lengths[i] = int64(len(t.Allowed))
		allowed = append(allowed, t.Allowed...)
	}
	addLists(threadsSection, len(b.Threads), b.threads(lengths), len(allowed), one(delta, allowed))
	add(pointsSection, len(b.Points), b.points())
	add(objectsSection, len(b.Objects), b.objects())
	add(framesSection, len(b.Frames), b.frames())
	lengths = make([]int64, len(b.Stacks))
	for i, s := range b.Stacks {
		lengths[i] = int64(len(s))
	}
	frames := slices.Concat(b.Stacks...)
	addLists(stacksSection, len(b.Stacks), one(plain, lengths), len(frames), one(plain, frames))
	add(placesSection, len(b.Places), b.places())
	return out
}

func appendWindow(s []byte, w *Window, g *guesser) []byte {
	s = binary.AppendVarint(s, w.Begin)
	s = binary.AppendVarint(s, w.End)
	s = binary.AppendUvarint(s, uint64(len(w.Events)))
	s = appendTable(s, len(w.Events), times(w.Events))
	differences := make([]guessed, len(w.Events))
	for i := range w.Events {
		e := &w.Events[i]
		t := g.thread(e)
		place, object := g.place(e)
		differences[i] = guessed{e.Thread - t, e.Place - place, e.Object - object}
		g.learn(e)
	}
	for _, at := range byKind(w.Events) {
		s = appendTable(s, len(at), fields(w.Events, at, differences))
	}
	return s
}

// Read reads a recording that Write has written. Whatever the file is, the recording is well-formed, and takes no more
// memory than its size allows.
func Read(r io.Reader) (*Recording, error) {
	packed, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading recording: %w", err)
	}
	rec, err := read(packed)
	if err != nil {
		return nil, fmt.Errorf("reading recording: %w", err)
	}
	return rec, nil
}

func read(packed []byte) (*Recording, error) {
	if len(packed) > MaxFile {
		return nil, fmt.Errorf("it is larger than %d MiB", MaxFile>>20)
	}
	line, rest, _ := bytes.Cut(packed, []byte("\n"))
	number, ok := bytes.CutPrefix(line, []byte(magic))
	version, err := strconv.Atoi(string(number))
	switch {
	case !ok, err != nil, version < 1:
		return nil, fmt.Errorf("it is no recording of whatif")
	case version > Version:
		return nil, &VersionError{version}
	}
	z, err := zstd.NewReader(bytes.NewReader(rest), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(window), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	return readBody(z, min(MaxMemory, perByte*uint64(len(packed))))
}

// readBody reads the sections, and checks what they say.
func readBody(in io.Reader, budget uint64) (*Recording, error) {
	s := &source{in: bufio.NewReaderSize(in, 64<<10), budget: budget}
	b := body{Recording: new(Recording), names: newNames()}
	var g *guesser
	last := uint64(0)
	for s.err == nil {
		if _, err := s.in.Peek(1); err == io.EOF && last >= headSection { //nolint:errorlint // as bufio gives it
			break
		}
		section := s.unsigned()
		again := section == last && section != windowSection
		if s.err == nil && (section < last || again || last == 0 && section != headSection) {
			s.fail(damaged("section %d after section %d", section, last))
		}
		if last = section; section > windowSection {
			s.skip(s.size())
			continue
		}
		if section == windowSection && g == nil {
			g = newGuesser(len(b.Threads))
		}
		s.sized(func() { b.section(s, section, g) })
	}
	if s.err != nil {
		return nil, s.err
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return b.Recording, nil
}

func (b *body) section(s *source, section uint64, g *guesser) {
	switch section {
	case headSection:
		s.table(1, b.head())
	case namesSection:
		for range s.charge(s.unsigned(), nameCost) {
			n := s.charge(s.unsigned(), 1)
			if s.err != nil {
				return
			}
			b.names.list = append(b.names.list, string(s.bytes(n)))
		}
	case threadsSection:
		b.readThreads(s)
	case pointsSection:
		b.Points = list[Point](s, pointCost)
		s.table(len(b.Points), b.points())
	case objectsSection:
		b.Objects = list[Object](s, objectCost)
		s.table(len(b.Objects), b.objects())
	case framesSection:
		b.Frames = list[Frame](s, frameCost)
		s.table(len(b.Frames), b.frames())
	case stacksSection:
		b.readStacks(s)
	case placesSection:
		b.Places = list[Place](s, placeCost)
		s.table(len(b.Places), b.places())
	case windowSection:
		b.readWindow(s, g)
	}
}

// list makes a list with as many elements as the file says, if the budget has so much.
func list[T any](s *source, cost uint64) []T {
	n := s.charge(s.unsigned(), cost)
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

// lists reads the second table of a section, and gives each row its part.
func lists[N number](s *source, lengths []int64, coding coding, give func(row int, part []N)) {
	sum := uint64(0)
	for _, n := range lengths {
		if n < 0 || n > MaxMemory {
			s.fail(damaged("a list of %d", n))
		}
		sum += uint64(s.charge(uint64(n), numberCost))
	}
	if s.err != nil {
		return
	}
	all := make([]N, sum)
	s.table(len(all), one(coding, all))
	for i, n := range lengths {
		if n > 0 {
			give(i, all[:n:n])
			all = all[n:]
		}
	}
}

func (b *body) readThreads(s *source) {
	b.Threads = list[Thread](s, threadCost)
	lengths := make([]int64, len(b.Threads))
	s.table(len(b.Threads), b.threads(lengths))
	lists(s, lengths, delta, func(i int, part []int16) { b.Threads[i].Allowed = part })
}

func (b *body) readStacks(s *source) {
	b.Stacks = list[Stack](s, stackCost)
	lengths := make([]int64, len(b.Stacks))
	s.table(len(lengths), one(plain, lengths))
	lists(s, lengths, plain, func(i int, part []int32) { b.Stacks[i] = part })
}

func (b *body) readWindow(s *source, g *guesser) {
	s.charge(1, windowCost)
	w := Window{Begin: s.signed(), End: s.signed()}
	w.Events = list[Event](s, eventCost)
	s.table(len(w.Events), times(w.Events))
	for i := range w.Events {
		if k := w.Events[i].Kind; k >= noKind {
			s.fail(damaged("an event of kind %d", k))
		}
	}
	if s.err != nil {
		return
	}
	for _, at := range byKind(w.Events) {
		s.table(len(at), fields(w.Events, at, nil))
	}
	for i := range w.Events {
		e := &w.Events[i]
		if e.CPU < No {
			s.fail(damaged("core %d", e.CPU))
			return
		}
		e.Thread += g.thread(e)
		place, object := g.place(e)
		e.Place += place
		e.Object += object
		g.learn(e)
	}
	b.Windows = append(b.Windows, w)
}
