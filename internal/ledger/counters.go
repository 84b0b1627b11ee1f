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
	Counters Counters
}

// Counter is where in its memory a program counts visits of points, or a table of
// such places, whose points have names.
type Counter struct {
	Address uint64 // as the file has it
	Site    uint64 // the same of the instruction that is passed before each visit
	Points  Points // not of a table
	Shards  int    // 0: it is a table
}

// Points is a set of points, a bit each.
type Points uint32

// Counters are some that AddCounters was given. The zero Counters are none.
type Counters struct {
	first, count int
	values       uint32
}

// Source is the number of the i-th, for Probe.Source.
func (c Counters) Source(i int) int { return c.first + i + 1 }

// sources is what the kernel side knows of points in the source.
type sources struct {
	mu    sync.Mutex
	count int                 // of the array
	named map[int][]uint64    // by point
	known map[uint64]struct{} // given out
	sets  []Points            // those from the kernel side's second on
}

// set is the number of a set of points on the kernel side.
func (l *Ledger) set(p Points) (uint32, error) {
	if p == 0 {
		return emptySet, nil
	}
	i := slices.Index(l.sources.sets, p)
	if i < 0 {
		if i = len(l.sources.sets); i >= mostSets {
			return 0, fmt.Errorf("counting points in the source: they overlap in more than %d ways", mostSets)
		}
		l.sources.sets = append(l.sources.sets, p)
		l.page.pointSets[firstSet+i] = uint32(p)
	}
	return uint32(firstSet + i), nil
}

// The kernel side's sets: unknown, empty, and those that are made of points.
const (
	emptySet = 1
	firstSet = 2
	mostSets = int(bpf.LedgerLimitMAX_SETS) - firstSet
)

// Name is one that a program gave a point while it ran.
type Name struct {
	Text  []byte
	Event int // see source.Event
	hash  uint64
}

// count makes the programs count points in the source, or spares what it costs.
func count(spec *ebpf.CollectionSpec, on bool) error {
	if !on {
		for _, name := range []string{"sources", "files", "counters", "names"} {
			spec.Maps[name].MaxEntries = 1
		}
		return nil
	}
	return setVariable(spec, "counting", uint32(1))
}

// counting are the programs that counting needs, where there is the
// tracepoint for them: without the first, what other threads of the parent count during a
// fork can be lost for the child; without the second, what a process counts in its last
// millisecond before it runs another program.
var counting = []string{"on_fault", "on_prepare_exec"}

// ErrCountersFull says that the memory for counters in the kernel is used up.
var ErrCountersFull = errors.New("the kernel side's memory for progress points in the source is full")

// AddCounters gives the kernel side the counters of a file, which is to be named to
// SetFile, by as many numbers as it has.
func (l *Ledger) AddCounters(all []Counter) (Counters, error) {
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	added := Counters{first: l.sources.count, count: len(all)}
	if added.first+added.count > int(bpf.LedgerLimitMAX_SOURCES) {
		return Counters{}, ErrCountersFull
	}
	for i, c := range all {
		s := bpf.LedgerSource{Address: c.Address, Site: c.Site, Shards: uint32(c.Shards), Value: added.values}
		added.values++
		if c.Shards == 0 {
			added.values = s.Value + uint32(TableCounters)
		} else {
			var err error
			if s.Set, err = l.set(c.Points); err != nil {
				return Counters{}, err
			}
		}
		if err := l.maps.Sources.Put(uint32(added.first+i), s); err != nil {
			return Counters{}, fmt.Errorf("telling the kernel where a program counts: %w", err)
		}
	}
	l.sources.count += len(all)
	return added, nil
}

// FileKey is what the kernel side knows a file by that may have points in its source: the next
// that is given its number was changed at another time.
func FileKey(f File, changed int64) Place {
	return Place{Dev: f.Dev, Inode: f.Inode, Offset: uint64(changed)}
}

// SetFile says where a file counts, by FileKey or as an event has it; without counters, that it does not.
func (l *Ledger) SetFile(file Place, f CounterFile) error {
	value := bpf.LedgerCounterFile{State: uint32(bpf.LedgerFileStateFILE_PLAIN)}
	if f.Counters.count > 0 {
		value = bpf.LedgerCounterFile{
			State: uint32(bpf.LedgerFileStateFILE_COUNTS),
			First: uint32(f.Counters.first), Sources: uint32(f.Counters.count), Values: f.Counters.values,
			From: f.From, To: f.To, Ahead: f.Ahead,
		}
	}
	if err := l.maps.Files.Put(file, value); err != nil {
		return fmt.Errorf("telling the kernel whether a file counts: %w", err)
	}
	return nil
}

// ForgetFile lets the kernel ask again, because nothing could be said now.
func (l *Ledger) ForgetFile(p Place) error {
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

// SetName says which points a name is of; none: it is not to be counted.
func (l *Ledger) SetName(n Name, points Points) error {
	l.sources.mu.Lock()
	defer l.sources.mu.Unlock()
	set, err := l.set(points)
	if err != nil {
		return err
	}
	answer := bpf.LedgerNameAnswer{Hash: n.hash, Set: set}
	for point := range MaxPoints {
		if points>>point&1 != 0 {
			l.sources.named[point] = append(l.sources.named[point], n.hash)
		}
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
