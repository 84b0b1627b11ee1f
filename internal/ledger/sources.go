package ledger

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cilium/ebpf"

	"whatif/bpf"
)

// MaxCounters is how many counters of points in the source can be counted of one file, those of tables included.
const MaxCounters = int(bpf.LedgerLimitMAX_VALUES)

// TableCounters is how many of them a table takes.
const TableCounters = int(bpf.LedgerLimitTABLE_VALUES)

// CounterFile says where a file counts the points in its source.
type CounterFile struct {
	From, To uint64 // the part of the file that is code, by offsets
	Ahead    uint64 // addresses minus offsets in that part
	Counters Counters
}

// Counter is where a program counts visits of points in its memory. Or it is a table of such places, whose points get
// their names while the program runs.
type Counter struct {
	Address uint64 // as the file has it
	Site    uint64 // the address of the instruction that is passed before each visit
	Points  Points // of a table: none
	Shards  int    // 0: it is a table
}

// Points is a set of points, a bit each.
type Points uint32

// Counters are the counters of one call of AddCounters. The zero Counters are none.
type Counters struct {
	first, count int
	values       uint32
}

// Source is the number of the i-th counter, for Probe.Source.
func (c Counters) Source(i int) int { return c.first + i + 1 }

// sources is the part of a Ledger that tells the kernel side of progress points in the program's source.
type sources struct {
	*kernelSide
	counters, files, names *ebpf.Map

	mu      sync.Mutex
	added   int                 // counters
	hashes  map[int][]uint64    // of names, by the point that they are of
	taken   map[uint64]struct{} // hashes of the names that NewNames has returned
	numbers []Points            // the sets of points that have a number, from firstSet on
}

func newSources(k *kernelSide) *sources {
	return &sources{
		kernelSide: k, counters: k.maps.Sources, files: k.maps.Files, names: k.maps.Names,
		hashes: make(map[int][]uint64), taken: make(map[uint64]struct{}),
	}
}

// The kernel side's numbers of sets: 0 is not known, then comes the empty set, then those that are made of points.
const (
	emptySet = 1
	firstSet = 2
	mostSets = int(bpf.LedgerLimitMAX_SETS) - firstSet
)

// set is the number of a set of points.
func (s *sources) set(p Points) (uint32, error) {
	if p == 0 {
		return emptySet, nil
	}
	i := slices.Index(s.numbers, p)
	if i < 0 {
		if i = len(s.numbers); i >= mostSets {
			return 0, fmt.Errorf("counting points in the source: they overlap in more than %d ways", mostSets)
		}
		s.numbers = append(s.numbers, p)
		s.page.pointSets[firstSet+i] = uint32(p)
	}
	return uint32(firstSet + i), nil
}

// Name is a name that a program has given a point while it ran.
type Name struct {
	Text  []byte
	Event int // see source.Event
	hash  uint64
}

// ErrCountersFull is returned when the kernel side's memory for counters is used up.
var ErrCountersFull = errors.New("the kernel side's memory for progress points in the source is full")

// AddCounters gives the kernel side the counters of a file. The result is for SetFile, by each identity of the file.
func (s *sources) AddCounters(all []Counter) (Counters, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	added := Counters{first: s.added, count: len(all)}
	if added.first+added.count > int(bpf.LedgerLimitMAX_SOURCES) {
		return Counters{}, ErrCountersFull
	}
	for i, c := range all {
		value := bpf.LedgerSource{
			Address: c.Address, Site: c.Site, Shards: uint32(c.Shards), Value: added.values,
		}
		added.values++
		if c.Shards == 0 {
			added.values = value.Value + uint32(TableCounters)
		} else {
			var err error
			if value.Set, err = s.set(c.Points); err != nil {
				return Counters{}, err
			}
		}
		if err := s.counters.Put(uint32(added.first+i), value); err != nil {
			return Counters{}, fmt.Errorf("telling the kernel where a program counts: %w", err)
		}
	}
	s.added += len(all)
	return added, nil
}

// FileKey is how the kernel side identifies a file that may have points in its source. changed is the time of its last
// change, in which the next file with the same number differs.
func FileKey(f File, changed int64) Place {
	return Place{Dev: f.Dev, Inode: f.Inode, Offset: uint64(changed)}
}

// SetFile says where a file counts. The key is a FileKey or the Place of an event. Without counters, the file does not
// count.
func (s *sources) SetFile(key Place, f CounterFile) error {
	value := bpf.LedgerCounterFile{State: uint32(bpf.LedgerFileStateFILE_PLAIN)}
	if f.Counters.count > 0 {
		value = bpf.LedgerCounterFile{
			State: uint32(bpf.LedgerFileStateFILE_COUNTS),
			First: uint32(f.Counters.first), Sources: uint32(f.Counters.count), Values: f.Counters.values,
			From: f.From, To: f.To, Ahead: f.Ahead,
		}
	}
	if err := s.files.Put(key, value); err != nil {
		return fmt.Errorf("telling the kernel whether a file counts: %w", err)
	}
	return nil
}

// ForgetFile makes the kernel side ask about a file again, because there is no answer now.
func (s *sources) ForgetFile(key Place) error {
	if err := s.files.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
		return fmt.Errorf("forgetting a file: %w", err)
	}
	return nil
}

// NewNames returns the names that programs have given points since the last call.
func (s *sources) NewNames() ([]Name, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []Name
	var hash uint64
	var value bpf.LedgerPointName
	all := s.names.Iterate()
	for all.Next(&hash, &value) {
		if _, taken := s.taken[hash]; taken || value.Complete == 0 {
			continue // there will be another event when the name is complete
		}
		s.taken[hash] = struct{}{}
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
	// The map has no order, but the points of a run need one.
	slices.SortFunc(names, func(a, b Name) int { return slices.Compare(a.Text, b.Text) })
	return names, nil
}

// SetName says which points a name is of. A name of no points is not counted.
func (s *sources) SetName(n Name, points Points) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	set, err := s.set(points)
	if err != nil {
		return err
	}
	answer := bpf.LedgerNameAnswer{Hash: n.hash, Set: set}
	for point := range MaxPoints {
		if points>>point&1 != 0 {
			s.hashes[point] = append(s.hashes[point], n.hash)
		}
	}
	program, err := s.programs.get("answer_name")
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

// earlyVisits are a point's visits from before its names were known.
func (s *sources) earlyVisits(point int) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum int64
	for _, hash := range s.hashes[point] {
		var value bpf.LedgerPointName
		if s.names.Lookup(hash, &value) == nil {
			sum += int64(value.Early)
		}
	}
	return sum
}
