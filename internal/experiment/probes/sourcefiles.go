package probes

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/code/symbol/object"
	"whatif/internal/ledger"
	"whatif/internal/point/source"
	"whatif/internal/target"
)

// fileID is a file as stat has it. The next file that is given its number has another time.
type fileID struct {
	dev, inode uint64
	changed    unix.Timespec
}

// lookedInto is what is known of a file.
type lookedInto struct {
	is     ledger.File // zero: no ELF file
	counts ledger.CounterFile
}

// filesAtStart looks into files before the program runs, or before it counts. The caller holds mu.
func (c *counters) filesAtStart(paths []string) error {
	for _, path := range paths {
		var st unix.Stat_t
		if err := unix.Stat(path, &st); err != nil {
			continue // to open it fails, too, and that is told
		}
		// Where the kernel has another number for the file system it will ask.
		key := ledger.FileKey(ledger.File{Dev: kernelDev(st.Dev), Inode: st.Ino}, st.Ctim.Nano())
		if err := c.file(path, key, ledger.File{}); err != nil {
			return err
		}
	}
	return nil
}

// filesOf looks into all files with code that a process has mapped. A VM has more of them than the kernel side can ask
// about at a time, and its main may end before all are known.
func (c *counters) filesOf(process int) error {
	all, err := target.Maps(process)
	if err != nil {
		return err
	}
	var paths []string
	met := make(map[string]bool)
	for _, m := range all {
		if path, err := target.Reachable(process, m); err == nil && !met[path] {
			met[path] = true
			paths = append(paths, path)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.filesAtStart(paths)
}

// kernelDev is a device number as the kernel has it inside.
func kernelDev(dev uint64) uint32 { return unix.Major(dev)<<20 | unix.Minor(dev) }

// file tells the kernel side what a file counts. The kernel side knows the file by a key. The file has to be the one
// that is meant, unless that is zero.
func (c *counters) file(path string, key ledger.Place, meant ledger.File) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fmt.Errorf("looking at %s: %w", path, err)
	}
	id := fileID{st.Dev, st.Ino, st.Ctim}
	found, known := c.files[id]
	if !known {
		var err error
		found, err = c.look(path, meant)
		if errors.Is(err, ledger.ErrCountersFull) {
			c.warn("progress points of %s are not counted: %v", path, err)
		} else if err != nil {
			return err
		}
		c.files[id] = found
	}
	if err := meantFile(found.is, meant); err != nil {
		return err
	}
	return c.ledger.SetFile(key, found.counts)
}

// meantFile refuses a file that is another one than was meant: see SameFile. Files that are no ELF files are not told
// apart.
func meantFile(is, meant ledger.File) error {
	if none := (ledger.File{}); is != meant && is != none && meant != none {
		return ErrOtherFile
	}
	return nil
}

// look opens a file and finds what it counts.
func (c *counters) look(path string, meant ledger.File) (found lookedInto, err error) {
	f, err := object.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return found, err // its process is gone
	}
	if err != nil {
		c.options.Log.Debug("looking for progress points in the source", "path", path, "error", err)
		return found, nil
	}
	defer f.Close()
	if found.is, err = c.ledger.Identify(f.Image); err != nil {
		return found, err
	}
	if err := meantFile(found.is, meant); err != nil {
		return found, err
	}
	found.counts, err = c.read(path, f, found.is)
	return found, err
}

// read finds what an open file counts, and begins to count it.
func (c *counters) read(path string, f *object.File, is ledger.File) (none ledger.CounterFile, err error) {
	found := source.Read(f)
	for _, text := range found.Warnings {
		c.warn("%s", text)
	}
	all, timed := c.countersOf(path, found)
	if c.only && !found.None() {
		c.suggest(path, found.Counters)
	}
	added, err := c.ledger.AddCounters(all)
	if err != nil {
		return none, err
	}
	if err := c.time(f, is, added, timed); err != nil {
		c.warn("when progress points of %s are visited is not known, only how often: %v", path, err)
	}
	return ledger.CounterFile{From: found.Code.From, To: found.Code.To, Ahead: found.Code.Ahead, Counters: added}, nil
}

// countersOf are those of a file that count points of the run, and of these the sites with a moment that matters.
func (c *counters) countersOf(path string, found *source.Points) (all []ledger.Counter, timed []timedSite) {
	room := ledger.MaxCounters
	for _, at := range found.Tables {
		c.pending = true
		if room >= ledger.TableCounters {
			room -= ledger.TableCounters
			timed = append(timed, timedSite{number: len(all), table: true})
			all = append(all, ledger.Counter{Address: at})
		}
	}
	lost := 0
	for _, k := range found.Counters {
		points := c.points(k.Name, k.Event)
		if points == 0 {
			continue
		}
		if room == 0 {
			lost++
			continue
		}
		room--
		if points&c.timed != 0 {
			timed = append(timed, timedSite{number: len(all), Counter: k})
			c.hasKey(points, k.Keyed)
		}
		all = append(all, ledger.Counter{Address: k.Address, Site: k.Site, Points: points, Shards: k.Shards})
	}
	if lost > 0 {
		c.warn("%s has %d places too many that visit progress points in its source: they are not counted; %d can be",
			path, lost, ledger.MaxCounters)
	}
	return all, timed
}

// mapped tells the kernel side what a file that a process has mapped counts. If the process is gone, the next one that
// maps the file asks again.
func (c *counters) mapped(e ledger.Event) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	path, err := target.MappedFile(e.Process, e.Address)
	if err != nil {
		return errors.Join(err, c.ledger.ForgetFile(e.Place))
	}
	before := len(c.met)
	if err = c.file(path, e.Place, e.File()); errors.Is(err, os.ErrNotExist) || errors.Is(err, ErrOtherFile) {
		return errors.Join(err, c.ledger.ForgetFile(e.Place))
	}
	if _, gone := target.Executable(e.Process); gone != nil && len(c.met) > before {
		c.warn("a process with %s was gone before the progress points in its source were found: its visits are not counted",
			path)
	}
	return err
}

// suggest tells of points that were found when it was too late to measure by them.
func (c *counters) suggest(path string, found []source.Counter) {
	var names []string
	for _, k := range found {
		if !slices.Contains(names, k.Name) {
			names = append(names, k.Name)
		}
	}
	const enough = 5
	if len(names) > enough {
		names = append(names[:enough], "...")
	}
	c.warn("%s has progress points in its source, which were not known when it was started: "+
		"name those to count with -p NAME (%s)", path, strings.Join(names, ", "))
}
