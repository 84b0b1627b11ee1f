package profile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"whatif/internal/hint"
)

func sampleRun(id string) []Record {
	return []Record{
		{Run: &Run{Version: Version, ID: id, Started: time.Unix(1e9, 0).UTC(), Args: []string{"./a<b>", "\x1b[31m"}, CPUs: 2,
			Speedups: []int{0, 50}, Points: []Point{{Name: "request", Kind: "func", Spec: "func:request"}}}},
		{Unit: &Unit{ID: 7, Kind: "line", Name: "a.c:3", File: "/src/a.c", Line: 3, Func: "f", Binary: "/bin/a"}},
		{Binary: &Binary{Path: "/bin/a", BuildID: "abc"}},
		{Source: &Source{File: "/src/a.c", Sum: "0123"}},
		{Experiment: &Experiment{Index: 0, RealNS: 200e6, Points: []Visits{{Count: 3, Weight: 2.5, WindowNS: 190e6}},
			Samples:     9,
			UnitSamples: map[uint32]int64{7: 4}, Pair: 1}},
		{Experiment: &Experiment{Index: 1, Unit: 7, Speedup: 50, RealNS: 200e6, DelayNS: 1e6, Points: []Visits{{}},
			SetAside: "steal", Pair: 1}},
		{Warning: &Warning{Code: "foreign-cpu", Text: "busy"}},
		{End: &End{RealNS: 400e6, Status: 3, Visits: []int64{3}}},
	}
}

func write(t *testing.T, path string, records []Record) {
	t.Helper()
	w, err := Append(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	first, second := sampleRun("one"), sampleRun("two")
	write(t, path, first)
	write(t, path, second)
	runs, err := ReadFiles([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 {
		t.Fatalf("%d runs, want 2", len(runs))
	}
	for i, records := range [][]Record{first, second} {
		want := &Data{Run: *records[0].Run, Units: map[uint32]Unit{7: *records[1].Unit},
			Sources: map[string]string{"/src/a.c": "0123"}, Binaries: map[string]string{"/bin/a": "abc"},
			Experiments: []Experiment{*records[4].Experiment, *records[5].Experiment},
			Warnings:    []Warning{*records[6].Warning}, End: records[7].End, File: path, Line: 1 + 8*i}
		if !reflect.DeepEqual(runs[i], want) {
			t.Errorf("run %d:\n got %+v\nwant %+v", i, runs[i], want)
		}
	}
}

// TestTorn cuts a file with a run at every byte, as a kill may, and appends another run.
func TestTorn(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	write(t, whole, sampleRun("one"))
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "torn")
	for cut := range text {
		if err := os.WriteFile(path, text[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		lines := bytes.Count(text[:cut], []byte("\n"))
		runs, err := ReadFiles([]string{path})
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		// A line that lacks only its newline is complete.
		complete := cut > 0 && text[cut-1] != '\n' && text[cut] == '\n'
		if complete {
			lines++
		}
		checkTorn(t, cut, runs, lines, cut > 0 && text[cut-1] != '\n' && !complete)
		write(t, path, sampleRun("two"))
		runs, err = ReadFiles([]string{path})
		if err != nil {
			t.Fatalf("cut at %d and appended to: %v", cut, err)
		}
		if last := runs[len(runs)-1]; last.Run.ID != "two" || last.Torn || last.End == nil {
			t.Errorf("cut at %d: appended run is %+v", cut, last)
		}
		checkTorn(t, cut, runs[:len(runs)-1], lines, cut > 0 && text[cut-1] != '\n' && !complete)
	}
}

func checkTorn(t *testing.T, cut int, runs []*Data, lines int, torn bool) {
	t.Helper()
	if lines == 0 {
		if len(runs) != 0 {
			t.Errorf("cut at %d: %d runs, want none", cut, len(runs))
		}
		return
	}
	if len(runs) != 1 {
		t.Fatalf("cut at %d: %d runs, want 1", cut, len(runs))
	}
	d := runs[0]
	got := 1 + len(d.Units) + len(d.Binaries) + len(d.Sources) + len(d.Experiments) + len(d.Warnings)
	if d.End != nil {
		got++
	}
	if got != lines || d.Torn != torn {
		t.Errorf("cut at %d: %d records (torn %v), want %d (%v)", cut, got, d.Torn, lines, torn)
	}
}

func TestDamage(t *testing.T) {
	const run = `{"run":{"version":1,"points":[{"name":"p"}]}}` + "\n"
	const unit = `{"unit":{"id":1,"kind":"line","name":"a.c:1"}}` + "\n"
	const exp = `{"experiment":{"points":[{}]}}` + "\n"
	for _, test := range []struct{ name, text, want string }{
		{"in the middle", run + unit + "{\"exp\n" + exp, "f:3: not a profile record: unexpected end"},
		{"twice", run + "{\n{\n", "f:2: not a profile record"},
		{"one line of something else", "hello", "f:1: not a profile record: invalid character"},
		{"binary", "\x7fELF\n\x00\x01\n", "f:1: not a profile record: invalid character"},
		{"no run", unit, "f:1: record before the first run"},
		{"wrong type", run + `{"unit":{"id":"x"}}` + "\n", "f:2: not a profile record: json: cannot unmarshal"},
		{"unknown kind and more", run + `{"lemma":{},"theorem":{}}` + "\n", "f:2: not a profile record: 0 known kinds"},
		{"no kind", run + `{}` + "\n", "f:2: not a profile record: 0 known kinds"},
		{"nothing of a known kind", run + `{"Unit":null}` + "\n", "f:2: not a profile record: 0 known kinds"},
		{"unknown kind without a run", `{"lemma":{}}` + "\n" + run, "f:1: not a profile record: of no known kind"},
		{"unknown kind behind damage", run + "{\"exp\n" + `{"lemma":{}}` + "\n", "f:2: not a profile record: unexpected end"},
		{"two kinds", run + `{"unit":{"id":1},"warning":{}}` + "\n", "f:2: not a profile record: 2 known kinds"},
		{"unknown unit", run + `{"experiment":{"unit":9,"points":[{}]}}` + "\n",
			"f:2: experiment 0: unit 9 was not introduced"},
		{"unknown unit's samples", run + `{"experiment":{"points":[{}],"unit_samples":{"4":1}}}` + "\n",
			"f:2: experiment 0: 1 samples of unknown unit 4"},
		{"points", run + `{"experiment":{"n":5,"points":[]}}` + "\n", "f:2: experiment 5: 0 points, its run has 1"},
		{"speedup", run + `{"experiment":{"speedup":101,"points":[{}]}}` + "\n", "f:2: experiment 0: speed-up of 101%"},
		{"visits", run + `{"experiment":{"points":[{"weight":-1}]}}` + "\n", "f:2: experiment 0: impossible visits"},
		{"there", run + `{"there":{"speedup":101,"points":[{}]}}` + "\n", "f:2: experiment 0: speed-up of 101%"},
		{"together", `{"run":{"version":1,"together":[{"target":"a.c:1","percent":120}]}}` + "\n" + run,
			`f:1: "a.c:1" is sped up by 120%`},
		{"standing", `{"run":{"version":1,"device":{"net":1}}}` + "\n" + run, "f:1: a standing speed-up of 1"},
		{"huge", run + `{"experiment":{"points":[{"weight":1e300}]}}` + "\n", "f:2: experiment 0: impossible visits"},
		{"unit 0", run + `{"unit":{}}` + "\n", "f:2: unit with id 0"},
		{"unit redefined", run + unit + `{"unit":{"id":1,"name":"b"}}` + "\n", "f:3: unit 1 is both a.c:1 and b"},
		{"after end", run + `{"end":{}}` + "\n" + exp, "f:3: record after the end"},
		{"version 0", `{"run":{}}` + "\n", "f:1: run of version 0"},
		{"long", run + strings.Repeat("x", MaxLine+100<<10), "f:2: line longer than 16 MiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			runs, err := Read("f", strings.NewReader(test.text))
			var damage *DamageError
			if !errors.As(err, &damage) || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want a DamageError %q", err, test.want)
			}
			if strings.HasPrefix(test.text, run) && len(runs) != 1 {
				t.Errorf("%d runs saved, want 1", len(runs))
			}
		})
	}
}

func TestNewerVersion(t *testing.T) {
	old := `{"run":{"version":1}}` + "\n"
	for _, newer := range []string{
		`{"run":{"version":2,"points":"shaped otherwise"}}`,
		`{ "run": {"version": 2}}`,
	} {
		runs, err := Read("f", strings.NewReader(old+newer+"\n"))
		var version *VersionError
		if !errors.As(err, &version) || version.Version != 2 || version.Line != 2 {
			t.Errorf("%s: error %v, want a VersionError for version 2", newer, err)
		} else if want := "f:2: profile is version 2, this whatif reads up to 1"; err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
		if len(runs) != 1 {
			t.Errorf("%d runs saved, want 1", len(runs))
		}
	}
}

// TestUnknownKinds: records of kinds that a later whatif added are ignored and counted.
func TestUnknownKinds(t *testing.T) {
	text := `{"run":{"version":1,"points":[{"name":"p"}]}}
{"lemma":{"of":["any","shape"]}}
{"experiment":{"points":[{}]}}
{"theorem":7}
{"end":{}}
{"corollary":null}
{"run":{"version":1}}
`
	runs, err := Read("f", strings.NewReader(text))
	if err != nil || len(runs) != 2 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if d := runs[0]; d.Unknown != 3 || len(d.Experiments) != 1 || d.End == nil || d.Torn || runs[1].Unknown != 0 {
		t.Errorf("%+v, %+v", runs[0], runs[1])
	}
}

func TestMissingFile(t *testing.T) {
	_, err := ReadFiles([]string{"/nonexistent/p"})
	if !errors.Is(err, os.ErrNotExist) || err.Error() != "reading profile: /nonexistent/p: no such file or directory" {
		t.Errorf("error %v", err)
	}
	_, err = Append("/nonexistent/p")
	if !errors.Is(err, os.ErrNotExist) || err.Error() != "opening profile /nonexistent/p: no such file or directory" {
		t.Errorf("error %v", err)
	}
}

func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	write(t, path, sampleRun("one"))
	w, err := Append(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Append(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a file in use: %v, want ErrInUse", err)
	}
	if runs, err := ReadFiles([]string{path}); err != nil || len(runs) != 1 {
		t.Errorf("file in use has %d runs (%v), want 1", len(runs), err)
	}
	w.Close()
	if w, err = Append(path); err != nil {
		t.Fatal(err)
	}
	w.Close()
}

// TestAppendsToProfilesOnly: a run is appended to whatever a profile can look like after kills, and
// to nothing else.
func TestAppendsToProfilesOnly(t *testing.T) {
	const run = `{"run":{"version":1,"points":[{"name":"p"}]}}` + "\n"
	report := "{\n  \"version\": 1,\n  \"points\": []\n}\n"
	path := filepath.Join(t.TempDir(), "p")
	for _, test := range []struct {
		name, text string
		number     int // of the added run; 0: the file is refused
	}{
		{"empty", "", 1},
		{"blank", "\n\n", 1},
		{"one run", run, 2},
		{"three runs", run + `{"end":{}}` + "\n" + run + run, 4},
		{"a torn end", run + run + `{"experiment":{"n":0,"sta`, 3},
		{"torn at once", `{"ru`, 1},
		{"torn at once, and a run", `{"run":{"version":1,"id` + "\n" + run, 2},
		{"torn in the middle", run + `{"run":{"ver` + "\n" + run, 3},
		{"damaged behind its first run", run + "{\n{\n" + run, 3},
		{"spaces", `{ "run": {"version": 1}}` + "\n", 2},
		{"a later version", `{"run":{"version":99,"points":"shaped otherwise"}}` + "\n" + run, 3},
		{"text", "int main(void)\n{\n}\n", 0},
		{"text without an end", "hello", 0},
		{"ELF", "\x7fELF\x02\x01\x01\n\x00\x01\n", 0},
		{"zeros", string(make([]byte, 17<<20)), 0},
		{"a report in JSON", report, 0},
		{"other JSON lines", `{"type":"x"}` + "\n" + `{"type":"y"}` + "\n", 0},
		{"another program's run", `{"run":"npm test"}` + "\n", 0},
		{"a record without a run", `{"end":{}}` + "\n" + run, 0},
		{"a brace, and a run later", "{\n}\n" + run, 0},
		{"a profile of COZ", "startup\ttime=1\nexperiment\tselected=a.c:3\tspeedup=0.5\tduration=1\tselected-samples=1\n", 0},
		{"a later profile of COZ", `{"type":"startup","time":1}` + "\n", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, open := range map[string]func(string) (*Writer, error){"append": Append, "overwrite": Overwrite} {
				if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
					t.Fatal(err)
				}
				w, err := open(path)
				if test.number == 0 {
					if err == nil || err.Error() != "opening profile "+path+": it is not empty, and no profile of whatif" ||
						hint.Of(err) == "" {
						t.Errorf("%s: %v", name, err)
					}
					if text, _ := os.ReadFile(path); string(text) != test.text {
						t.Errorf("%s: the file has changed", name)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				want := test.number
				if name == "overwrite" {
					want = 1
				}
				if got := w.Number(); got != want {
					t.Errorf("%s: run %d, want %d", name, got, want)
				}
				if text, _ := os.ReadFile(path); string(text) != test.text {
					t.Errorf("%s: the file has changed before the first record", name)
				}
				w.Close()
			}
		})
	}
}

// TestOverwrite: the first record of the new run removes the old ones, even if they end in a torn
// line.
func TestOverwrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	write(t, path, append(sampleRun("one"), sampleRun("two")...))
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, int64(len(read(t, path))-5)); err != nil {
		t.Fatal(err)
	}
	w, err := Overwrite(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Append(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a file in use: %v", err)
	}
	for _, r := range sampleRun("three") {
		if err := w.Write(r); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	runs, err := ReadFiles([]string{path})
	if err != nil || len(runs) != 1 || runs[0].Run.ID != "three" || runs[0].End == nil || runs[0].Line != 1 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o640 {
		t.Errorf("mode %v, %v", fi.Mode(), err)
	}
	if w, err = Overwrite("/dev/full"); err != nil {
		t.Fatal(err)
	}
	w.Close()
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestFullDisk(t *testing.T) {
	w, err := Append("/dev/full")
	if err != nil {
		t.Skipf("no /dev/full: %v", err)
	}
	defer w.Close()
	err = w.Write(sampleRun("one")[0])
	if err == nil || err.Error() != "writing profile /dev/full: no space left on device" {
		t.Errorf("error %v", err)
	}
}

func TestRefusesNonsense(t *testing.T) {
	w, err := Append(filepath.Join(t.TempDir(), "p"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	run := sampleRun("one")
	if err := w.Write(Record{}); err == nil {
		t.Error("empty record written")
	}
	if err := w.Write(Record{Run: run[0].Run, End: run[7].End}); err == nil {
		t.Error("record of two kinds written")
	}
	zero := 0.0
	if err := w.Write(Record{Experiment: &Experiment{Points: []Visits{{Weight: zero / zero}}}}); err == nil {
		t.Error("NaN written")
	}
}

func TestConcurrentWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	w, err := Append(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(sampleRun("one")[0]); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if err := w.Write(Record{Warning: &Warning{Code: fmt.Sprint(g, i), Text: strings.Repeat("x", 100*i)}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	w.Close()
	runs, err := ReadFiles([]string{path})
	if err != nil || len(runs) != 1 || len(runs[0].Warnings) != 400 {
		t.Errorf("read back %d runs: %v", len(runs), err)
	}
}

// FuzzRead checks that no bytes make Read panic, and that accepted data can be written and read
// again and have the properties that later code relies on.
func FuzzRead(f *testing.F) {
	var good bytes.Buffer
	for _, r := range append(sampleRun("one"), sampleRun("two")...) {
		line, err := encode(r, false)
		if err != nil {
			f.Fatal(err)
		}
		good.Write(line)
	}
	f.Add(good.Bytes())
	f.Add(good.Bytes()[:good.Len()*2/3])
	f.Add([]byte("{\"run\":{\"version\":1}}\n{\"un\n{\"run\":{\"version\":2}}"))
	f.Add([]byte("\x00\n\n{\"end\":null}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		runs, err := Read("f", bytes.NewReader(text))
		var again bytes.Buffer
		for _, d := range runs {
			for i := range d.Experiments {
				e := &d.Experiments[i]
				if _, ok := d.Units[e.Unit]; len(e.Points) != len(d.Run.Points) || (!ok && e.Unit != 0) {
					t.Errorf("experiment %+v does not fit its run", e)
				}
			}
			if d.Line < 1 || d.Run.Version < 1 || d.Run.Version > Version {
				t.Errorf("run %+v accepted", d.Run)
			}
			rewrite(t, &again, d)
		}
		runs2, err2 := Read("f", &again)
		if err2 != nil || len(runs2) != len(runs) {
			t.Errorf("%d runs (%v) read as %d runs (%v) when written again", len(runs), err, len(runs2), err2)
		}
	})
}

func rewrite(t *testing.T, b *bytes.Buffer, d *Data) {
	records := []Record{{Run: &d.Run}}
	for _, u := range d.Units {
		records = append(records, Record{Unit: &u})
	}
	for i := range d.Experiments {
		records = append(records, Record{Experiment: &d.Experiments[i]})
	}
	if d.End != nil {
		records = append(records, Record{End: d.End})
	}
	for _, r := range records {
		line, err := encode(r, false)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
	}
}
