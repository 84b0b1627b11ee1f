package profile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"whatif/internal/openfile"
)

// MaxLine is the longest line, in bytes, that is written or read. The longest that occurs is an
// experiment with samples in many thousands of units, some 15 bytes each. The limit keeps a file
// that is no profile from filling memory.
const MaxLine = 16 << 20

// runStart is the beginning of the line of a run record.
const runStart = `{"run":`

// ReadFiles reads the runs of several files, in that order. With an error, it returns the runs that
// could be read before.
func ReadFiles(paths []string) ([]*Data, error) {
	var all []*Data
	for _, path := range paths {
		runs, err := readFile(path)
		all = append(all, runs...)
		if err != nil {
			return all, fmt.Errorf("reading profile: %w", err)
		}
	}
	return all, nil
}

func readFile(path string) ([]*Data, error) {
	f, err := openfile.Named(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, pathless(err))
	}
	defer f.Close()
	return Read(path, f)
}

// Read reads the runs of one file. name is the file's name in errors. A run may lack its end, and
// its last line may be torn, also in the middle of the file if another run was appended. A record
// of unknown kind is ignored. Any other line that cannot be understood is a *DamageError, and a run
// of a later version a *VersionError. Both are returned with the runs read before, the last one as
// far as it was good.
//
// A file without a run is no error: a run that is killed at once leaves one.
//
// A profile of COZ is recognised by its first line, and read too.
func Read(name string, r io.Reader) ([]*Data, error) {
	rd := reader{name: name}
	in := bufio.NewReaderSize(r, 64<<10)
	if isCoz(in) {
		return rd.readCoz(in)
	}
	for {
		line, err := rd.next(in)
		if errors.Is(err, io.EOF) {
			return rd.runs, rd.settle() // an unreadable last line was cut short
		}
		if err != nil {
			return rd.runs, err
		}
		if err := rd.take(line); err != nil {
			return rd.runs, err
		}
	}
}

// Is tells whether the file at path is a profile with runs in it.
func Is(path string) bool {
	f, err := openfile.Regular(openfile.Invoker(), "", path)
	if err != nil {
		return false
	}
	defer f.Close()
	n, err := countRuns(path, f)
	return err == nil && n > 0
}

// countRuns counts the runs of a file, including those of later versions. A file that does not
// begin as a profile is an error, damage after its first run is not.
func countRuns(name string, r io.Reader) (int, error) {
	rd := reader{name: name}
	in := bufio.NewReaderSize(r, 64<<10)
	var version *VersionError
	var damage *DamageError
	for len(rd.runs) == 0 && version == nil {
		line, err := rd.next(in)
		if errors.Is(err, io.EOF) {
			if rd.settle() != nil {
				return 0, errNoProfile
			}
			return 0, nil
		}
		if err == nil {
			err = rd.take(line)
		}
		switch {
		case errors.As(err, &damage):
			return 0, errNoProfile
		case err != nil && !errors.As(err, &version):
			return 0, err
		}
	}
	for n := 1; ; {
		line, err := rd.next(in)
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &damage):
			return n, nil
		case err != nil:
			return 0, err
		case bytes.HasPrefix(line, []byte(runStart)) && json.Valid(line):
			n++
		}
	}
}

// A reader is the state between two lines.
type reader struct {
	name string
	line int
	buf  []byte
	runs []*Data
	// bad is the error of the previous line. If a run or the end of the file follows, the line was
	// torn; otherwise the file is damaged.
	bad      *DamageError
	badIsRun bool // the bad line begins as a run record does
}

// next returns the next line that is not empty, without its newline. It is valid until the next
// call.
func (rd *reader) next(in *bufio.Reader) ([]byte, error) {
	for {
		rd.buf = rd.buf[:0]
		rd.line++
		var err error
		for {
			var part []byte
			part, err = in.ReadSlice('\n')
			rd.buf = append(rd.buf, part...)
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
			if len(rd.buf) > MaxLine {
				return nil, rd.damage(fmt.Errorf("line longer than %d MiB: not a whatif profile", MaxLine>>20))
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:%d: %w", rd.name, rd.line, pathless(err))
		}
		if line := bytes.TrimSpace(rd.buf); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (rd *reader) damage(err error) *DamageError {
	return &DamageError{File: rd.name, Line: rd.line, Err: err}
}

// settle accepts the unreadable line, if any, as the torn end of its run, or as the torn start of a
// run that left nothing else.
func (rd *reader) settle() error {
	bad := rd.bad
	rd.bad = nil
	switch {
	case bad == nil:
	case len(rd.runs) > 0:
		rd.runs[len(rd.runs)-1].Torn = true
	case !rd.badIsRun:
		return bad // the only line, and not one of a profile
	}
	return nil
}

// take adds one line to the runs.
func (rd *reader) take(line []byte) error {
	rec, err := rd.parse(line)
	var version *VersionError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &version):
		return err
	case rd.bad != nil: // the error of the line before comes first
	case errors.Is(err, errUnknown) && len(rd.runs) > 0:
		rd.runs[len(rd.runs)-1].Unknown++
		return nil
	case err != nil && !errors.As(err, &syntax):
		return rd.damage(err)
	case err != nil:
		n := min(len(line), len(runStart))
		rd.badIsRun = string(line[:n]) == runStart[:n]
	}
	return rd.put(rec.Run != nil, err, func() error { return rd.add(rec) })
}

// put adds what a line says, if err is nil. An unreadable line was cut short if a run (starts) or
// the end of the file follows.
func (rd *reader) put(starts bool, err error, add func() error) error {
	switch {
	case rd.bad != nil && (err != nil || !starts):
		return rd.bad
	case err != nil:
		rd.bad = rd.damage(err)
		return nil
	}
	if err := rd.settle(); err != nil {
		return err
	}
	if err := add(); err != nil {
		return rd.damage(err)
	}
	return nil
}

// parse decodes a line. It checks the version of a run before anything else, because the rest may
// have another form in a later version.
func (rd *reader) parse(line []byte) (Record, error) {
	var rec Record
	if bytes.HasPrefix(line, []byte(runStart)) {
		var peek struct {
			Run struct {
				Version int `json:"version"`
			} `json:"run"`
		}
		if json.Unmarshal(line, &peek) == nil && peek.Run.Version > Version {
			return rec, &VersionError{File: rd.name, Line: rd.line, Version: peek.Run.Version, Supported: Version}
		}
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return rec, fmt.Errorf("not a profile record: %w", err)
	}
	if rec.Run != nil && rec.Run.Version > Version {
		return rec, &VersionError{File: rd.name, Line: rd.line, Version: rec.Run.Version, Supported: Version}
	}
	switch n := rec.kinds(); {
	case n == 0 && isUnknown(line):
		return rec, errUnknown
	case n != 1:
		return rec, fmt.Errorf("not a profile record: %d known kinds in it, want 1", n)
	}
	return rec, nil
}

// errUnknown is the error for a record of a kind that this version does not know.
var errUnknown = errors.New("not a profile record: of no known kind")

// isUnknown says whether a line is a record that a later whatif may have written: it has one kind,
// which is not one of the known ones, as those would have been empty.
func isUnknown(line []byte) bool {
	var kinds map[string]json.RawMessage
	if json.Unmarshal(line, &kinds) != nil || len(kinds) != 1 {
		return false
	}
	known := reflect.TypeFor[Record]()
	for i := range known.NumField() {
		name, _, _ := strings.Cut(known.Field(i).Tag.Get("json"), ",")
		for kind := range kinds {
			if strings.EqualFold(kind, name) { // package json ignores case too
				return false
			}
		}
	}
	return true
}

// add puts a record where it belongs, after checking the properties that later code relies on.
func (rd *reader) add(rec Record) error {
	if rec.Run != nil {
		if rec.Run.Version < 1 {
			return fmt.Errorf("run of version %d", rec.Run.Version)
		}
		for _, l := range rec.Run.Latencies {
			if err := rec.Run.check(l); err != nil {
				return err
			}
		}
		if err := rec.Run.checkFaster(); err != nil {
			return err
		}
		rd.runs = append(rd.runs, &Data{Run: *rec.Run, Units: map[uint32]Unit{}, Sources: map[string]string{},
			Binaries: map[string]string{}, File: rd.name, Line: rd.line})
		return nil
	}
	if len(rd.runs) == 0 {
		return errors.New("record before the first run record")
	}
	d := rd.runs[len(rd.runs)-1]
	switch {
	case d.End != nil:
		return errors.New("record after the end of its run")
	case rec.Binary != nil:
		d.Binaries[rec.Binary.Path] = rec.Binary.BuildID
	case rec.Unit != nil:
		return d.addUnit(*rec.Unit)
	case rec.Experiment != nil:
		return d.addExperiment(&d.Experiments, *rec.Experiment)
	case rec.There != nil:
		return d.addExperiment(&d.There, *rec.There)
	case rec.Point != nil:
		d.Run.Points = append(d.Run.Points, *rec.Point)
	case rec.Latency != nil:
		if err := d.Run.check(*rec.Latency); err != nil {
			return err
		}
		d.Run.Latencies = append(d.Run.Latencies, *rec.Latency)
	case rec.Source != nil:
		d.Sources[rec.Source.File] = rec.Source.Sum
	case rec.Recording != nil:
		return d.addRecording(*rec.Recording)
	case rec.Warning != nil:
		d.Warnings = append(d.Warnings, *rec.Warning)
	case rec.End != nil:
		d.End = rec.End
	}
	return nil
}

// check says whether a latency's ends are among the points.
func (r *Run) check(l Latency) error {
	if n := len(r.Points); l.Begin < 0 || l.End < 0 || l.Begin >= n || l.End >= n || l.Begin == l.End {
		return fmt.Errorf("latency from point %d to %d, its run has %d points", l.Begin, l.End, n)
	}
	return nil
}

// checkFaster says whether what is sped up together, and on another machine, can be, and whether that machine's limits
// are some.
func (r *Run) checkFaster() error {
	for _, p := range r.Together {
		if !(p.Percent > 0 && p.Percent <= 100) {
			return fmt.Errorf("%q is sped up by %v%%", p.Target, p.Percent)
		}
	}
	if k := r.Knobs; k != nil {
		for _, limit := range []float64{k.NetBytes, float64(k.RoundTripNS), k.ReadOps, k.WriteOps, k.ReadBytes,
			k.WriteBytes} {
			if !(limit >= 0) {
				return fmt.Errorf("a limit of %v", limit)
			}
		}
	}
	if s := r.Device; s != nil {
		for _, by := range []float64{s.CPU, s.Disk, s.Net, s.Clock} {
			if !(by >= 0 && by < 1) {
				return fmt.Errorf("a standing speed-up of %v", by)
			}
		}
	}
	return nil
}

func (d *Data) addUnit(u Unit) error {
	if u.ID == 0 {
		return errors.New("unit with id 0")
	}
	if old, ok := d.Units[u.ID]; ok && old != u {
		return fmt.Errorf("unit %d is both %s and %s", u.ID, old.Name, u.Name)
	}
	d.Units[u.ID] = u
	return nil
}

// addExperiment adds an experiment to others of its run.
func (d *Data) addExperiment(to *[]Experiment, e Experiment) error {
	if _, ok := d.Units[e.Unit]; e.Unit != 0 && !ok {
		return fmt.Errorf("experiment %d: unit %d was not introduced", e.Index, e.Unit)
	}
	if len(e.Points) != len(d.Run.Points) {
		return fmt.Errorf("experiment %d: %d points, its run has %d", e.Index, len(e.Points), len(d.Run.Points))
	}
	if e.Speedup < 0 || e.Speedup > 100 {
		return fmt.Errorf("experiment %d: speed-up of %d%%", e.Index, e.Speedup)
	}
	if e.RealNS < 0 || e.Samples < 0 || e.TooSoon < 0 || e.Ticks < 0 {
		return fmt.Errorf("experiment %d: negative time, samples or ticks", e.Index)
	}
	for _, v := range e.Points {
		// JSON has no NaN, but a sum of huge numbers would be one.
		if v.Count < 0 || !within(v.Weight) || !within(v.WindowNS) {
			return fmt.Errorf("experiment %d: impossible visits %+v", e.Index, v)
		}
	}
	if len(e.Latencies) != len(d.Run.Latencies) && len(e.Latencies) != 0 {
		return fmt.Errorf("experiment %d: %d latencies, its run has %d", e.Index, len(e.Latencies), len(d.Run.Latencies))
	}
	for i := range e.Latencies {
		if err := e.Latencies[i].check(); err != nil {
			return fmt.Errorf("experiment %d: %w", e.Index, err)
		}
	}
	for id, n := range e.UnitSamples {
		if _, ok := d.Units[id]; !ok || n < 0 {
			return fmt.Errorf("experiment %d: %d samples of unknown unit %d", e.Index, n, id)
		}
	}
	if err := d.checkWaits(&e); err != nil {
		return fmt.Errorf("experiment %d: %w", e.Index, err)
	}
	*to = append(*to, e)
	return nil
}

func (d *Data) checkWaits(e *Experiment) error {
	for id, ns := range e.UnitWaits {
		if _, ok := d.Units[id]; !ok || ns < 0 {
			return fmt.Errorf("%d ns of waiting in unknown unit %d", ns, id)
		}
	}
	for id := range e.UnitWaitedNS {
		if _, ok := d.Units[id]; !ok {
			return fmt.Errorf("waiting in unknown unit %d", id)
		}
	}
	return nil
}

// within says that x can be a number of visits or of nanoseconds. Squares of sums of such numbers
// stay finite.
func within(x float64) bool { return x >= 0 && x <= math.MaxInt64 }
