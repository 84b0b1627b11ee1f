package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"whatif/internal/cli"
	"whatif/internal/recording"
	"whatif/internal/testing/synthetic"
)

// deviceFile writes the file of a device: its loops make so many operations a second, and its echo takes so long.
func deviceFile(t *testing.T, dir, name string, cores int, cpu, rtt float64) string {
	t.Helper()
	text := fmt.Sprintf(`{"format": "whatif-device", "version": 1, "name": %q, "kind": "measured",
"machine": {"arch": "amd64"}, "cores": %d, "measures": [
{"name": "cpu.integer.one", "unit": "1/s", "value": %g, "spread": 0.01, "rounds": 15},
{"name": "memory.latency.dram.one", "unit": "s", "value": 1e-7, "spread": 0.01, "rounds": 15},
{"name": "net.peer.rtt", "unit": "s", "value": %g, "spread": 0.02, "rounds": 15}]}`, name, cores, cpu, rtt)
	path := filepath.Join(dir, name+".json")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// effects is a report in JSON, as far as these tests need it.
type effects struct {
	Device  struct{ Host, Device string }
	Targets []struct {
		Name     string
		RankHere int `json:"rank_here"`
		Points   []struct {
			Basis    string
			Curve    []any
			Estimate []level
			Here     struct {
				Curve    []any
				Estimate []level
			}
		}
	}
	Warnings []struct{ Code, Text string }
}

type level struct {
	Speedup int
	Gain    float64
}

func (e *effects) gains(t *testing.T, unit string) (there, here float64) {
	t.Helper()
	for _, u := range e.Targets {
		if u.Name == unit {
			p := u.Points[0]
			if p.Basis != "estimated" || len(p.Curve) != 0 || len(p.Estimate) != 20 || len(p.Here.Estimate) != 20 {
				t.Fatalf("%s: %+v", unit, p)
			}
			return p.Estimate[9].Gain, p.Here.Estimate[9].Gain
		}
	}
	t.Fatalf("no %s in %+v", unit, e.Targets)
	return 0, 0
}

// TestReportOnDevice: on a device with a slow network, the report has other gains, and says what has changed.
func TestReportOnDevice(t *testing.T) {
	name := recordedProfile(t, synthetic.Asking(1500e6))
	out := whatif(t, "report", "--device", "net=0.25", "--format", "json", name)
	if err := checkContract(out); err != nil {
		t.Error(err)
	}
	var e effects
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatal(err)
	}
	if e.Device.Host != "h" || e.Device.Device != "net=0.25" || e.Targets[0].RankHere == 1 {
		t.Errorf("device %+v, first is %+v", e.Device, e.Targets[0])
	}
	for _, c := range []struct {
		unit        string
		there, here float64
	}{{"parse.c:20", 0, 27}, {"wait:net", 49, 0}} {
		if there, here := e.gains(t, c.unit); math.Abs(there-c.there) > 2 || math.Abs(here-c.here) > 2 {
			t.Errorf("%s: %.1f there and %.1f here, want %v and %v", c.unit, there, here, c.there, c.here)
		}
	}

	text := whatif(t, "report", "--device", "net=0.25", name)
	for _, want := range []string{"limited by net", "a visit takes 2.7", "times as long",
		"The bottleneck moves: here parse.c:20,", "memory", "~"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}

	same := whatif(t, "report", "--device", "cpu=0.5,net=0.5", name)
	if !strings.Contains(same, "The bottleneck is the same one: parse.c:20.") {
		t.Error(same)
	}
}

// TestMemoryOnDevice: time that waits for memory has a ratio of its own, where the recording says which time that is.
func TestMemoryOnDevice(t *testing.T) {
	r := synthetic.Asking(1500e6).Record()
	r.Cache = 2 << 20
	for i := range r.Frames {
		r.Frames[i].Access, r.Frames[i].Nearby = recording.BehindAccess, 21
	}
	for i := range r.Windows {
		for j := range r.Windows[i].Events {
			if e := &r.Windows[i].Events[j]; e.Kind == recording.Sample {
				e.Key = 400 | 80<<48
			}
		}
	}
	name := profileOf(t, r)
	out := whatif(t, "report", "--device", "mem=0.25", "--format", "json", name)
	if err := checkContract(out); err != nil {
		t.Error(err)
	}
	var e struct {
		effects
		Device struct {
			Memory struct{ Share, Low, High float64 }
			Moves  []struct{ Gain float64 }
		}
	}
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatal(err)
	}
	// 3.0 ms of parsing, beside 2.2 ms of the network.
	if m := e.Device.Memory; m.Share < 99 || m.Low >= m.Share || math.Abs(e.Device.Moves[0].Gain+300) > 10 {
		t.Errorf("%+v", e.Device)
	}
	text := whatif(t, "report", "--device", "mem=0.25", name)
	if !strings.Contains(text, "of the recorded CPU time waits for memory") ||
		!strings.Contains(text, "limited by memory") {
		t.Error(text)
	}
}

// TestFormatsOnDevice: the other formats show both machines, too.
func TestFormatsOnDevice(t *testing.T) {
	name := recordedProfile(t, synthetic.Asking(1500e6))
	for format, wants := range map[string][]string{
		"csv":  {"gain_here", "parse.c:20", "wait:net"},
		"svg":  {"parse.c:20", "on net=0.25", "here"},
		"html": {"The bottleneck moves", "here, on h", "on net=0.25"},
	} {
		out := whatif(t, "report", "--device", "net=0.25", "--format", format, name)
		for _, want := range wants {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in %d bytes: %.300s", format, want, len(out), out)
			}
		}
	}
}

// TestAskOnDevice: a question about changes there, one about the move alone, and one about a device file.
func TestAskOnDevice(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", dir)
	name := recordedProfile(t, synthetic.Asking(1500e6))
	ask := func(args ...string) (a struct {
		Points []struct {
			Gain float64
			CI   []float64
			Here *struct{ Gain float64 }
		}
		Device struct {
			Factors struct {
				Classes []struct {
					Class      string
					Normalised float64
				}
			}
		}
	}) {
		t.Helper()
		out := whatif(t, append([]string{"ask", "--format", "json", name}, args...)...)
		if err := json.Unmarshal([]byte(out), &a); err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := ask("--device", "net=0.25", "--together", "wait:net=50", "--together", "parse.c:20=50")
	if math.Abs(a.Points[0].Gain-49) > 2 || math.Abs(a.Points[0].Here.Gain-50) > 2 {
		t.Errorf("both faster: %+v", a.Points)
	}
	if a := ask("--device", "cpu=0.5"); math.Abs(a.Points[0].Gain+100) > 3 || a.Points[0].Here != nil {
		t.Errorf("half the processor: %+v", a.Points)
	}

	here := deviceFile(t, dir, "h", 2, 4e8, 1e-4)
	there := deviceFile(t, dir, "there", 2, 2e8, 4e-4)
	files := ask("--device", there, "--host", here)
	if math.Abs(files.Points[0].Gain+180) > 6 { // 8.4 ms instead of 3
		t.Errorf("by device files: %+v", files.Points)
	}
	whatif(t, "device", "add", here)
	if found := ask("--device", there); found.Points[0].Gain != files.Points[0].Gain {
		t.Errorf("with the host from the database: %+v", found.Points)
	}
	if c := files.Device.Factors.Classes; len(c) != 2 || c[0].Class != "cpu" || c[0].Normalised != 2 {
		t.Errorf("factors: %+v", c)
	}
	text := whatif(t, "ask", "--device", there, "--together", "wait:net=50", name)
	for _, want := range []string{"host h, device there", "limited by net", "it ran on there instead of h",
		"times as long", "falls by ", "memory has 1.00 of its speed here, the processor 0.50"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestWrongDevices: each has one clear line, and a remedy.
func TestWrongDevices(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_DATA_HOME", dir)
	name := recordedProfile(t, synthetic.Asking(1500e6))
	later := filepath.Join(dir, "later.json")
	if err := os.WriteFile(later, []byte(`{"format": "whatif-device", "version": 7}`), 0o644); err != nil {
		t.Fatal(err)
	}
	here, single := deviceFile(t, dir, "here", 2, 4e8, 1e-4), deviceFile(t, dir, "single", 1, 4e8, 1e-4)
	impossible := deviceFile(t, dir, "impossible", 2, 4e12, 1e-4)
	for _, c := range []struct {
		args       string
		status     int
		line, hint string
	}{
		{"--device " + later, 125, "later.json: it has version 7, this whatif reads 1", "measure it again"},
		{"--device cpu=43000", 125, "43000 is an impossible ratio", "half as fast is 0.5"},
		{"--device " + impossible + " --host " + here, 125, "cpu: 10000 is an impossible ratio", "half as fast"},
		{"--device gpu=2", 125, `"gpu" is no class of time`, "cpu, memory"},
		{"--device cpu=0.5,mem=0.2", 125, "the recording does not say which time waits for memory", "leave memory out"},
		{"--device single --host " + here, 125, `finding the device "single"`, "whatif device list"},
		{"--device " + single + " --host " + here, 125, "pins its threads to 2 cores, the device has 1", "record"},
		{"--device phone", 125, "the machine that was recorded, h, has not been measured", "whatif device --name h"},
		{"--device phone --host cpu=2", 125, "--host cpu=2 has only ratios", "whatif device"},
		{"--host " + here, 2, "--host without --device", ""},
		{"--format map --device cpu=0.5", 2, "--device is for --format text, json, csv, svg and html", ""},
	} {
		for _, command := range []string{"ask", "report"} {
			if command == "ask" && !strings.HasPrefix(c.args, "--device") {
				continue
			}
			var stdout, stderr bytes.Buffer
			args := append([]string{command, name}, strings.Fields(c.args)...)
			status := cli.Run(t.Context(), strings.NewReader(""), &stdout, &stderr, args)
			lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
			if status != c.status || stdout.Len() > 0 || !strings.Contains(lines[0], c.line) || len(lines) > 2 ||
				c.hint != "" && !strings.Contains(lines[len(lines)-1], c.hint) {
				t.Errorf("whatif %s: status %d\n%s%s", strings.Join(args, " "), status, stdout.String(), stderr.String())
			}
		}
	}
	plain := filepath.Join(t.TempDir(), "old.profile")
	text := `{"run":{"version":1,"id":"a","started":"2026-01-02T03:04:05Z","args":["x"],"host":"h","points":[]}}` + "\n"
	if err := os.WriteFile(plain, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	status := cli.Run(t.Context(), strings.NewReader(""), &stdout, &stderr, []string{"report", "--device", "phone", plain})
	if status != 125 || !strings.Contains(stderr.String(), "is simulated with a recording: ") ||
		!strings.Contains(stderr.String(), "hint: whatif record") {
		t.Errorf("without a recording: status %d, %s", status, stderr.String())
	}
	unused := whatif(t, "report", "--device", "disk=0.5", name)
	if !strings.Contains(unused, "disk=0.5 changes nothing: the recorded threads never waited for a disk") {
		t.Error(unused)
	}
}

// TestSlowestDevice: a ratio of one in a thousand is answered, also for a program with a thread that goes by the clock.
func TestSlowestDevice(t *testing.T) {
	p := synthetic.Asking(1500e6)
	build := p.Build
	p.Build = func(m *synthetic.Machine) {
		build(m)
		m.Thread("clock", synthetic.How{}, func(t *synthetic.Task) {
			for {
				t.Sleep(synthetic.Distribution{Mean: 1e6})
				t.Compute(1, synthetic.Distribution{Mean: 1e4})
			}
		})
	}
	p.Hardware.Cores = 3
	begin := time.Now()
	text := whatif(t, "ask", "--device", "cpu=0.001", "--together", "func:parse=50", recordedProfile(t, p))
	if !strings.Contains(text, "falls by ") || !strings.Contains(text, "times as long") {
		t.Error(text)
	}
	t.Logf("%v\n%s", time.Since(begin), text)
}
