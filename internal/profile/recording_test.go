package profile

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"whatif/internal/recording"
)

// sampleRecording is of one thread that runs.
func sampleRecording() *recording.Recording {
	return &recording.Recording{
		Cores: 1, Period: 1e6, Length: 2e6,
		Threads: []recording.Thread{{ID: 5, Process: 5, Name: "main", Program: "./a"}},
		Frames:  []recording.Frame{{Function: "f", File: "/src/a.c", Line: 3, Binary: "/bin/a"}},
		Stacks:  []recording.Stack{{0}},
		Windows: []recording.Window{{End: 2e6, Events: []recording.Event{
			{Kind: recording.State, Condition: recording.Running},
			{Time: 1e6, Kind: recording.Sample},
		}}},
	}
}

// TestRecording: a recording is in the profile of its run, and of no other one.
func TestRecording(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p")
	run := sampleRun("one")
	write(t, path, run[:len(run)-1])
	w, err := Append(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRecording(sampleRecording()); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRecording(&recording.Recording{}); err == nil || !strings.Contains(err.Error(), "number of cores") {
		t.Errorf("a recording that is none: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path, run[len(run)-1:])
	write(t, path, sampleRun("two"))
	runs, err := ReadFiles([]string{path})
	if err != nil || len(runs) != 2 || runs[0].End == nil || runs[0].Unknown != 0 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	r, err := runs[0].Recording()
	if err != nil || !reflect.DeepEqual(r, sampleRecording()) || !runs[0].HasRecording() {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := runs[1].Recording(); !errors.Is(err, ErrNoRecording) || runs[1].HasRecording() {
		t.Errorf("the second run: %v", err)
	}
	runs[1].SetRecording(r)
	if again, err := runs[1].Recording(); err != nil || again != r || !runs[1].HasRecording() {
		t.Errorf("one that was set: %v", err)
	}
}

// TestRecordingParts: parts are put together; without one of them, there is an error, and the rest of the profile is
// read all the same.
func TestRecordingParts(t *testing.T) {
	var file bytes.Buffer
	if err := recording.Write(&file, sampleRecording()); err != nil {
		t.Fatal(err)
	}
	parts := split(file.Bytes(), 20)
	n := len(parts)
	if n < 4 || parts[n-1].Parts != n {
		t.Fatalf("%d parts", n)
	}
	later := bytes.Replace(file.Bytes(), []byte("recording 1\n"), []byte("recording 2\n"), 1)
	without := append(append([]Recording{}, parts[:1]...), parts[2:]...)
	for _, c := range []struct {
		name  string
		parts []Recording
		want  string // error; empty: none
	}{
		{"all", parts, ""},
		{"written again after a failure", append(append([]Recording{}, parts[:2]...), parts...), ""},
		{"cut short", parts[:n-1], "not whole"},
		{"one is missing", without, "not whole"},
		{"the first is missing", parts[1:], "not whole"},
		{"one comes twice", append(append([]Recording{}, parts[:2]...), parts[1:n-1]...), "not whole"},
		{"of two recordings", []Recording{{1, 2, parts[0].Data}, {2, 3, parts[1].Data}}, "not whole"},
		{"damaged", []Recording{{1, 1, []byte("nothing")}}, "no recording of whatif"},
		{"of a later version", split(later, 1000), "recording is version 2, this whatif reads up to 1"},
	} {
		run := sampleRun("one")
		var text bytes.Buffer
		records := append([]Record{}, run[:2]...)
		for i := range c.parts {
			records = append(records, Record{Recording: &c.parts[i]})
		}
		for _, r := range append(records, run[2:]...) {
			line, err := encode(r, false)
			if err != nil {
				t.Fatal(err)
			}
			text.Write(line)
		}
		runs, err := Read("p", &text)
		if err != nil || len(runs) != 1 || len(runs[0].Experiments) != 2 || runs[0].End == nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		r, err := runs[0].Recording()
		if c.want == "" {
			if err != nil || !reflect.DeepEqual(r, sampleRecording()) {
				t.Errorf("%s: %+v, %v", c.name, r, err)
			}
		} else if err == nil || !strings.HasPrefix(err.Error(), "p:1: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

// TestRecordingDamage: a part that nothing can have written is damage.
func TestRecordingDamage(t *testing.T) {
	run := `{"run":{"version":1,"points":[]}}` + "\n"
	for line, want := range map[string]string{
		`{"recording":{"part":0,"parts":1,"data":""}}`:  "p:2: part 0 of 1 of a recording",
		`{"recording":{"part":3,"parts":2,"data":""}}`:  "p:2: part 3 of 2 of a recording",
		`{"recording":{"part":1,"parts":1,"data":"?"}}`: "p:2: not a profile record: illegal base64",
	} {
		if _, err := Read("p", strings.NewReader(run+line+"\n"+`{"warning":{}}`+"\n")); err == nil ||
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

// TestWriteAnonymous: the copy has the recording, and nothing that says which program it was. Points are matched with
// the recording's by name, so a latency's ends are named as before: alike but for "/begin".
func TestWriteAnonymous(t *testing.T) {
	r := sampleRecording()
	r.Points = []recording.Point{{Name: "request", Latency: true}}
	d := &Data{
		Run: Run{
			Version: Version, ID: "secret", Args: []string{"./server", "--secret"}, Host: "secret", Kernel: "6.18",
			CPUs: 2, Unit: "func", Waiting: []string{"disk"}, BuildIDs: map[string]string{"./server": "secret"},
			Points:    []Point{{Name: "request/begin", Kind: "func", Spec: "func:secret"}, {Name: "request"}, {Name: "secret"}},
			Latencies: []Latency{{Name: "request", Spec: "secret", Begin: 0, End: 1}},
		},
		End: &End{RealNS: 5, Visits: []int64{1, 2, 3}, Losses: map[string]int64{"secret": 1}},
	}
	d.SetRecording(r)
	var b bytes.Buffer
	if err := d.WriteAnonymous(&b); err != nil {
		t.Fatal(err)
	}
	runs, err := Read("copy", bytes.NewReader(b.Bytes()))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%d runs: %v", len(runs), err)
	}
	is := runs[0]
	copied, err := is.Recording()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(copied, recording.Anonymous(r)) {
		t.Errorf("recorded: %+v", copied)
	}
	name := copied.Points[0].Name
	if p := is.Run.Points; len(p) != 3 || p[0].Name != name+"/begin" || p[1].Name != name || p[2].Name == name {
		t.Errorf("points %+v, in the recording %q", p, name)
	}
	if is.Run.CPUs != 2 || is.Run.Unit != "func" || len(is.Run.Waiting) != 1 || is.End == nil || is.End.Visits[2] != 3 ||
		len(is.Run.Latencies) != 1 || is.Run.Latencies[0].Name != name {
		t.Errorf("run %+v, end %+v", is.Run, is.End)
	}
	for _, secret := range []string{"secret", "server", "request", "6.18"} {
		if bytes.Contains(b.Bytes(), []byte(secret)) {
			t.Errorf("%q is still there: %s", secret, b.Bytes())
		}
	}
	if err := (&Data{}).WriteAnonymous(&b); !errors.Is(err, ErrNoRecording) {
		t.Errorf("without a recording: %v", err)
	}
}
