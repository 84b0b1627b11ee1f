package experiment

import (
	"fmt"
	"log/slog"

	"whatif/internal/hint"
	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/recording"
)

// recorder owns the data of a run, in memory and in the profile's file.
type recorder struct {
	data    *profile.Data
	out     *profile.Writer // nil: nothing is written
	log     *slog.Logger
	units   describer
	sources *sourceLines
	told    map[uint32]bool // units that are in the file
	warned  map[string]bool // codes and texts of warnings that are in the file
	lost    error           // why a record could not be written; of the first such record
}

// describer says what units are.
type describer interface {
	unit(id uint32) profile.Unit
	buildOf(binary string) string
	ownerOf(binary string) uint32
}

// newRecorder begins a run. It fails if that cannot be written: nothing is measured yet, so it is better now than at
// the end.
func newRecorder(run profile.Run, out *profile.Writer, log *slog.Logger, units describer) (*recorder, error) {
	r := &recorder{
		data: &profile.Data{
			Run: run, Units: make(map[uint32]profile.Unit),
			Sources: make(map[string]string), Binaries: make(map[string]string),
		},
		out: out, log: log, units: units, sources: newSourceLines(),
		told: make(map[uint32]bool), warned: make(map[string]bool),
	}
	r.write(profile.Record{Run: &run})
	return r, r.lost
}

// write puts a record into the file. The first failure is kept, to be returned at the end, and nothing more is written;
// measuring goes on, for the table.
func (r *recorder) write(record profile.Record) {
	if r.lost != nil || r.out == nil {
		return
	}
	if err := r.out.Write(record); err != nil {
		r.lost = hint.New(err, "choose another file with -o FILE; what the present one has of this run can be read")
	}
}

// warn tells the user of a doubt, once, and leaves it in the profile.
func (r *recorder) warn(code, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.warned[code+text] {
		return
	}
	r.log.Warn(text, "code", code)
	r.note(code, "%s", text)
}

// note leaves a doubt in the profile, for the table, and does not interrupt for it.
func (r *recorder) note(code, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.warned[code+text] {
		return
	}
	r.warned[code+text] = true
	w := profile.Warning{Code: code, Text: text}
	r.data.Warnings = append(r.data.Warnings, w)
	r.write(profile.Record{Warning: &w})
}

// keep puts an experiment into the data, after the units that it mentions. there: it is about another machine.
func (r *recorder) keep(e *profile.Experiment, there bool) {
	for id := range e.UnitSamples {
		r.tell(id)
	}
	for id := range e.UnitWaitedNS {
		r.tell(id)
	}
	for id := range e.UnitWaits {
		r.tell(id)
	}
	if e.Unit != 0 {
		r.tell(e.Unit)
	}
	if there {
		e.Index = len(r.data.There)
		r.data.There = append(r.data.There, *e)
		r.write(profile.Record{There: e})
		return
	}
	e.Index = len(r.data.Experiments)
	r.data.Experiments = append(r.data.Experiments, *e)
	r.write(profile.Record{Experiment: e})
}

// tell puts a unit into the data, once.
func (r *recorder) tell(id uint32) {
	if r.told[id] {
		return
	}
	r.told[id] = true
	u := r.units.unit(id)
	if u.Kind == "line" {
		u.Text = r.sources.text(u.File, u.Line, u.Binary, r.units.ownerOf(u.Binary))
	}
	r.tellBinary(u.Binary)
	r.data.Units[id] = u
	r.write(profile.Record{Unit: &u})
	r.tellSource(u.File, r.units.ownerOf(u.Binary))
}

// tellBinary puts a binary's build into the data, before the first unit in it.
func (r *recorder) tellBinary(path string) {
	if _, known := r.data.Binaries[path]; known || r.data.Run.BuildIDs[path] != "" {
		return
	}
	id := r.units.buildOf(path)
	if id == "" {
		return
	}
	r.data.Binaries[path] = id
	r.write(profile.Record{Binary: &profile.Binary{Path: path, BuildID: id}})
}

// tellSource says what a unit's source file is now, so that it is known later whether it has changed. That a file is
// not here, or cannot be read, is no error.
func (r *recorder) tellSource(file string, owner uint32) {
	if _, known := r.data.Sources[file]; known || file == "" {
		return
	}
	r.data.Sources[file] = "" // it is looked at once only
	sum := r.sources.sum(file, owner)
	if sum == "" {
		return
	}
	source := profile.Source{File: file, Sum: sum}
	r.data.Sources[file] = source.Sum
	r.write(profile.Record{Source: &source})
}

// addFound adds points that were found in the source while the program ran, and the latencies between them.
func (r *recorder) addFound(points []point.Spec, latencies []profile.Latency) {
	for _, spec := range points {
		p := profilePoint(spec)
		r.data.Run.Points = append(r.data.Run.Points, p)
		r.write(profile.Record{Point: &p})
	}
	for _, l := range latencies {
		r.data.Run.Latencies = append(r.data.Run.Latencies, l)
		r.write(profile.Record{Latency: &l})
	}
}

// profilePoint is a progress point as profiles have it.
func profilePoint(spec point.Spec) profile.Point {
	return profile.Point{Name: spec.Name, Kind: string(spec.Kind), Spec: spec.Text}
}

// keepRecording puts the recording of a part of the run into the data.
func (r *recorder) keepRecording(made *recording.Recording) {
	r.data.SetRecording(made)
	if r.lost != nil || r.out == nil {
		return
	}
	if err := r.out.WriteRecording(made); err != nil {
		r.lost = fmt.Errorf("writing the recording: %w", err)
	}
}

// end completes the data.
func (r *recorder) end(e profile.End) {
	r.data.End = &e
	r.write(profile.Record{End: &e})
}
