package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/profile"
)

// on is estimates for a device on which the program waits for the disk.
func on() *analyze.Estimates {
	e := estimatesOf("")
	e.Units[0] = line("parse.c:118", 118, 60, 0.05, "request", analyze.Throughput)
	e.Units[4] = analyze.EstimatedUnit{Unit: profile.Unit{Kind: "wait", Name: "wait:disk"}, Waited: 80,
		Effects: line("x", 0, 0, 0.8, "request", analyze.Throughput).Effects}
	return e
}

func elsewhere() *There {
	here, there := analysed(made()), analysed(recorded())
	here.AddEstimates(estimatesOf(""))
	there.AddEstimates(on())
	there.Warnings.Add("device-ratio", "cpu is known to +-20%% only")
	return &There{Host: "laptop", Device: "phone\x1b[31m", Here: here, There: there,
		Factors: map[string]any{"host": "laptop", "device": "phone", "cores": []int{4, 8}, "classes": []any{
			map[string]any{"class": "cpu", "ratio": 0.5, "spread": 0.01, "normalised": 2, "speed_up": 0.5}}},
		Moves: []Answer{{Point: "request", Metric: analyze.Throughput,
			Gain: analyze.Estimate{Value: -131, Low: -158, High: -104, Known: true, Bounded: true}}},
		Tested: []analyze.Move{{Point: "request",
			Gain: analyze.Estimate{Value: -140, Low: -160, High: -120, Known: true, Bounded: true}}}}
}

// TestThere: the gains on a device beside those here, in all widths.
func TestThere(t *testing.T) {
	for name, opt := range map[string]Options{"there.txt": {}, "there_narrow.txt": {Width: 80, ASCII: true, Top: 3}} {
		var b bytes.Buffer
		if err := TextThere(&b, elsewhere(), opt); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		if clean(b.String()) != strings.ReplaceAll(b.String(), "\n", `\n`) {
			t.Errorf("not safe to print: %q", b.String())
		}
		for line := range strings.Lines(b.String()) {
			if opt.Width > 0 && width(strings.TrimSuffix(line, "\n")) > opt.Width {
				t.Errorf("a line of %d columns: %s", width(line), line)
			}
		}
	}
	if err := TextThere(&bytes.Buffer{}, elsewhere(), Options{Point: "none"}); err == nil {
		t.Error("no error for a point that is not there")
	}
}

// TestThereJSON: curve and estimate are those there; those here stand beside them, also of units that only count here.
func TestThereJSON(t *testing.T) {
	var b bytes.Buffer
	if err := JSONThere(&b, elsewhere(), Options{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "there.json", b.Bytes())
	var found struct {
		Targets []struct {
			Name     string
			RankHere int `json:"rank_here"`
			Points   []struct {
				Basis, Verdict string
				Refused        string
				Curve          []struct{ Speedup int }
				Estimate       []struct{ Gain float64 }
				Here           struct {
					Basis, Verdict string
					Curve          []struct{ Speedup int }
					Estimate       []struct{ Gain float64 }
				}
			}
		}
	}
	if err := json.Unmarshal(b.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	for _, target := range found.Targets {
		e := target.Points[0]
		if len(e.Curve) > 0 {
			t.Errorf("%s: a curve on a device on which nothing was tested", target.Name)
		}
		switch target.Name {
		case "parse.c:118":
			if e.Basis != "estimated" || e.Here.Basis != "both" || e.Estimate[9].Gain != 2.5 || e.Here.Estimate[9].Gain != 30 ||
				len(e.Here.Curve) == 0 || target.RankHere != 1 {
				t.Errorf("%+v", target)
			}
		case "log.c:30": // only tested
			if e.Basis != "none" || e.Refused == "" || e.Estimate == nil || e.Here.Basis != "tested" {
				t.Errorf("%+v", target)
			}
		}
	}
	if found.Targets[0].Name != "wait:disk" {
		t.Errorf("the first one is %s", found.Targets[0].Name)
	}
}

// TestAskThere: an answer about a device, and one about nothing but the move.
func TestAskThere(t *testing.T) {
	gain := analyze.Estimate{Value: 23.4, Low: 19, High: 27, Known: true, Bounded: true}
	e := elsewhere()
	asked := &Asked{Args: []string{"./server"}, Seconds: 5, Recorded: 2,
		Together: []AskedUnit{{profile.Unit{Kind: "line", Name: "parse.c:118"}, 50, 61.2, 0}},
		Points:   []Answer{{Point: "request", Metric: analyze.Throughput, Gain: gain}},
		On: &Elsewhere{Host: "laptop", Device: e.Device, Factors: e.Factors, Moves: e.Moves,
			Here:     []Answer{{Point: "request", Metric: analyze.Throughput, Gain: analyze.Estimate{Value: 12, Known: true}}},
			Warnings: e.There.Warnings}}
	var b, j bytes.Buffer
	if err := Ask(&b, asked, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	asked.Together, asked.Points = nil, e.Moves
	if err := Ask(&b, asked, Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	golden(t, "ask_there.txt", b.Bytes())
	if err := AskJSON(&j, asked); err != nil {
		t.Fatal(err)
	}
	golden(t, "ask_there.json", j.Bytes())
}

// TestThereForms: the table and the curves of both machines.
func TestThereForms(t *testing.T) {
	for name, write := range map[string]func(io.Writer, *There, Options) error{
		"there.csv": CSVThere, "there.svg": SVGThere,
	} {
		var b, one bytes.Buffer
		e := elsewhere()
		if err := write(&b, e, Options{Top: 2}); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
		if strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s has a character that controls terminals", name)
		}
		if err := write(&one, e, Options{Point: "none"}); err == nil {
			t.Errorf("%s: no error for a point that is not there", name)
		}
	}
	if err := SVGThere(&bytes.Buffer{}, elsewhere(), Options{Unit: "none"}); err == nil {
		t.Error("no error for a unit that is not there")
	}
	rows, err := csv.NewReader(strings.NewReader(csvOf(t, elsewhere()))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r[1] == "parse.c:118" && r[8] == "50" && (r[9] == "" || r[14] != "2.5" || r[13] == "" || r[18] == "") {
			t.Errorf("row %q", r)
		}
	}
	moved := Moved(elsewhere())
	if len(moved) == 0 || !strings.Contains(strings.Join(moved[0].Lines, " "), "times as long") {
		t.Errorf("%+v", moved)
	}
}

func csvOf(t *testing.T, e *There) string {
	var b strings.Builder
	if err := CSVThere(&b, e, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
