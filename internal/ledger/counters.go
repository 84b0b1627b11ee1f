package ledger

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// MaxCounters is how many counters of the points in the source one file can have
// that are counted, those of a table included.
const MaxCounters = int(bpf.LedgerLimitMAX_VALUES)

// TableCounters is how many of them a table takes.
const TableCounters = int(bpf.LedgerLimitTABLE_VALUES)

// CounterFile says of a file where it counts the points in its source.
type CounterFile struct {
	From, To uint64 // offsets of its code in the file
	Ahead    uint64 // by how much addresses are ahead of offsets there
	Counters []Counter
}

// Counter is where in its memory a program counts visits of a point, or a table of
// such places, whose points have names.
type Counter struct {
	Address uint64 // as the file has it
	Point   int    // not of a table
	Shards  int    // 0: it is a table
}

// sources is what the kernel side knows of points in the source.
type sources struct {
	mu    sync.Mutex
	count int                 // of the array
	named map[int][]uint64    // by point
	known map[uint64]struct{} // given out
}

// Name is one that a program gave a point while it ran.
type Name struct {
	Text  []byte
	Event int // see source.Event
	hash  uint64
}

// count makes the programs count points in the source, or spares what it costs.
func count(spec *ebpf.CollectionSpec, counting bool) error {
	if !counting {
		for _, name := range []string{"sources", "files", "counters", "names"} {
			spec.Maps[name].MaxEntries = 1
		}
		return nil
	}
	if err := spec.Variables["counting"].Set(uint32(1)); err != nil {
		return fmt.Errorf("setting the kernel programs to count: %w", err)
	}
	return nil
}

// counting are the programs that counting needs, of those that the kernel has the
// tracepoint for: without the first, what other threads of the parent count during a
// fork can be lost for the child; without the second, what a process counts in its last
// millisecond before it runs another program.
func (p *programs) counting() []string {
	return slices.DeleteFunc([]string{"on_fault", "on_prepare_exec"}, func(name string) bool {
		return !p.types.HasTracepoint(p.spec.Programs[name].AttachTo)
	})
}

// ErrCountersFull says that the memory for counters in the kernel is used up.
var ErrCountersFull = errors.New("the kernel side's memory for progress points in the source is full")

// SetFile says where a file counts; without counters, that it does not.
func (l *Ledger) SetFile(dev uint32, inode uint64, f CounterFile) error {
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	value := bpf.LedgerCounterFile{State: uint32(bpf.LedgerFileStateFILE_PLAIN)}
	if len(f.Counters) > 0 {
		if l.sources.count+len(f.Counters) > int(bpf.LedgerLimitMAX_SOURCES) {
			return ErrCountersFull
		}
		value = bpf.LedgerCounterFile{
			State: uint32(bpf.LedgerFileStateFILE_COUNTS),
			First: uint32(l.sources.count), Sources: uint32(len(f.Counters)),
			From: f.From, To: f.To, Ahead: f.Ahead,
		}
	}
	for i, c := range f.Counters {
		s := bpf.LedgerSource{Address: c.Address, Point: uint32(c.Point + 1), Shards: uint32(c.Shards), Value: value.Values}
		value.Values++
		if c.Shards == 0 {
			s.Point = 0
			value.Values = s.Value + uint32(TableCounters)
		}
		if err := l.maps.Sources.Put(value.First+uint32(i), s); err != nil {
			return fmt.Errorf("telling the kernel where a program counts: %w", err)
		}
	}
	l.sources.count += len(f.Counters)
	if err := l.maps.Files.Put(bpf.LedgerPlace{Inode: inode, Dev: dev}, value); err != nil {
		return fmt.Errorf("telling the kernel whether a file counts: %w", err)
	}
	return nil
}

// ForgetFile lets the kernel ask again, because nothing could be said now.
func (l *Ledger) ForgetFile(p Place) error {
	p.Offset = 0
	if err := l.maps.Files.Delete(p); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting a file: %w", err)
	}
	return nil
}

// NewNames gives the names that were met and not given before.
func (l *Ledger) NewNames() ([]Name, error) {
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	if l.sources.known == nil {
		l.sources.known = make(map[uint64]struct{})
		l.sources.named = make(map[int][]uint64)
	}
	var names []Name
	var hash uint64
	var value bpf.LedgerPointName
	all := l.maps.Names.Iterate()
	for all.Next(&hash, &value) {
		if _, known := l.sources.known[hash]; known || value.Complete == 0 {
			continue // an incomplete one is told when it is complete
		}
		l.sources.known[hash] = struct{}{}
		name := &value.Name
		text := make([]byte, 0, len(name.Text))
		for _, c := range name.Text[:min(int(name.Length), len(name.Text))] {
			text = append(text, byte(c))
		}
		names = append(names, Name{text, int(name.Event), hash})
	}
	if err := all.Err(); err != nil && !errors.Is(err, ebpf.ErrIterationAborted) {
		return names, fmt.Errorf("reading the names of progress points: %w", err)
	}
	// The map has no order; a run's points should.
	slices.SortFunc(names, func(a, b Name) int { return slices.Compare(a.Text, b.Text) })
	return names, nil
}

// SetName says which point a name is of; negative: it is not to be counted.
func (l *Ledger) SetName(n Name, point int) error {
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	answer := bpf.LedgerNameAnswer{Hash: n.hash, Point: ^uint32(0)}
	if point >= 0 {
		answer.Point = uint32(point + 1)
		l.sources.named[point] = append(l.sources.named[point], n.hash)
	}
	program, err := l.programs.get("answer_name")
	if err != nil {
		return err
	}
	status, err := program.Run(&ebpf.RunOptions{Context: answer})
	if err == nil && status != 0 {
		err = fmt.Errorf("status %d", int32(status))
	}
	if err != nil {
		return fmt.Errorf("telling the kernel the point of a name: %w", err)
	}
	return nil
}

// earlyVisits are those of a point from before its name was known.
func (l *Ledger) earlyVisits(point int) int64 {
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	var sum int64
	for _, hash := range l.sources.named[point] {
		var value bpf.LedgerPointName
		if l.maps.Names.Lookup(hash, &value) == nil {
			sum += int64(value.Early)
		}
	}
	return sum
}
