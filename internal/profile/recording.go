package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"whatif/internal/recording"
)

// Recording is a part of a run's recording, as package recording writes it. A recording is in the profile because
// that is one file to hand over. A whatif that does not know this kind of record skips it, and a recording of a later
// version does not keep the rest of the profile from being read.
type Recording struct {
	Part  int    `json:"part"` // from 1; the parts follow one another, with other records between them
	Parts int    `json:"parts"`
	Data  []byte `json:"data"`
}

// partSize is how many bytes of a recording are in one record. A line has them in base64, so it has room for many more.
const partSize = 4 << 20

// ErrNoRecording is the error for a run that has no recording.
var ErrNoRecording = errors.New("the run has no recording")

// WriteRecording appends a recording to the profile, before the end of its run. If there are several, the last one
// counts.
func (w *Writer) WriteRecording(r *recording.Recording) error {
	parts, err := partsOf(r)
	if err != nil {
		return err
	}
	for _, part := range parts {
		if err := w.Write(Record{Recording: &part}); err != nil {
			return err
		}
	}
	return nil
}

// partsOf encodes a recording in parts.
func partsOf(r *recording.Recording) ([]Recording, error) {
	var data bytes.Buffer
	if err := recording.Write(&data, r); err != nil {
		return nil, err
	}
	return split(data.Bytes(), partSize), nil
}

func split(data []byte, size int) []Recording {
	var parts []Recording
	for n := (len(data) + size - 1) / size; len(data) > 0; data = data[min(size, len(data)):] {
		parts = append(parts, Recording{Part: len(parts) + 1, Parts: n, Data: data[:min(size, len(data))]})
	}
	return parts
}

// recorded is the parts of a recording that were read so far.
type recorded struct {
	data   [][]byte
	parts  int  // that it should have; 0: there is no recording
	broken bool // one of them is missing: its line could not be written
	made   *recording.Recording
}

func (d *Data) addRecording(p Recording) error {
	if p.Part < 1 || p.Part > p.Parts {
		return fmt.Errorf("part %d of %d of a recording", p.Part, p.Parts)
	}
	r := &d.recorded
	if p.Part == 1 {
		*r = recorded{}
	}
	if p.Part != len(r.data)+1 || p.Part > 1 && p.Parts != r.parts {
		r.broken = true
	}
	r.parts, r.data = p.Parts, append(r.data, p.Data)
	return nil
}

// SetRecording gives a run that is being made its recording; WriteRecording puts it into the file.
func (d *Data) SetRecording(r *recording.Recording) { d.recorded = recorded{made: r} }

// HasRecording says whether the run has a recording, or a part of one.
func (d *Data) HasRecording() bool { return d.recorded.parts > 0 || d.recorded.made != nil }

// Recording reads the run's recording. That takes time and memory, so it is not done when a profile is read. The error
// is ErrNoRecording if there is none, and a recording.VersionError if it is of a later version.
func (d *Data) Recording() (*recording.Recording, error) {
	r := &d.recorded
	if r.made != nil {
		return r.made, nil
	}
	if r.parts == 0 {
		return nil, fmt.Errorf("%s:%d: %w", d.File, d.Line, ErrNoRecording)
	}
	if r.broken || len(r.data) != r.parts {
		return nil, fmt.Errorf("%s:%d: the run's recording is not whole: not all of its %d parts were written", d.File,
			d.Line, r.parts)
	}
	readers := make([]io.Reader, len(r.data))
	for i, part := range r.data {
		readers[i] = bytes.NewReader(part)
	}
	rec, err := recording.Read(io.MultiReader(readers...))
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", d.File, d.Line, err)
	}
	return rec, nil
}

// WriteAnonymous writes a profile that has the run's recording and nothing else, without what says which program it is
// of: see recording.Anonymous. Of the run itself it has what estimates need.
func (d *Data) WriteAnonymous(w io.Writer) error {
	was, err := d.Recording()
	if err != nil {
		return err
	}
	r := recording.Anonymous(was)
	parts, err := partsOf(r)
	if err != nil {
		return err
	}
	run := d.anonymousRun(was.Points, r.Points)
	records := []Record{{Run: &run}}
	for _, part := range parts {
		records = append(records, Record{Recording: &part})
	}
	if d.End != nil {
		records = append(records, Record{End: &End{RealNS: d.End.RealNS, Visits: d.End.Visits}})
	}
	for _, r := range records {
		line, err := encode(r, false)
		if err != nil {
			return fmt.Errorf("encoding profile record: %w", err)
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// anonymousRun is the run of an anonymous recording. Its points have other names than those of the real one.
func (d *Data) anonymousRun(were, are []recording.Point) Run {
	run := Run{
		Version: d.Run.Version, ID: "anonymous", Args: []string{"program"}, Subject: d.Run.Subject,
		CPUs: d.Run.CPUs, PeriodNS: d.Run.PeriodNS, Speedups: d.Run.Speedups, WholeRuns: d.Run.WholeRuns,
		Waiting: d.Run.Waiting, Unit: d.Run.Unit,
	}
	names := make(map[string]string)
	for i := range were {
		names[were[i].Name] = are[i].Name
		names[were[i].Name+"/begin"] = are[i].Name + "/begin" // the two ends of a latency are one point of a recording
	}
	for i, p := range d.Run.Points {
		name, known := names[p.Name]
		if !known {
			name = fmt.Sprintf("point not recorded %d", i+1)
		}
		run.Points = append(run.Points, Point{Name: name, Kind: p.Kind})
	}
	for _, l := range d.Run.Latencies {
		run.Latencies = append(run.Latencies, Latency{Name: run.Points[l.End].Name, Begin: l.Begin, End: l.End})
	}
	return run
}
