package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// contract is the part of the JSON report that other programs rely on. Fields may be added to the report; none of these
// may be renamed. Pointers are fields that must be present.
type contract struct {
	Version *int             `json:"version"`
	Points  *[]pointContract `json:"points"`
	Targets *[]struct {
		Unit    *string           `json:"unit"`
		Name    *string           `json:"name"`
		File    *string           `json:"file"`
		Line    *int              `json:"line"`
		Func    *string           `json:"func"`
		Binary  *string           `json:"binary"`
		Share   *float64          `json:"share"`
		Samples *int64            `json:"samples"`
		Points  *[]effectContract `json:"points"`
	} `json:"targets"`
	Warnings *[]struct {
		Code *string `json:"code"`
		Text *string `json:"text"`
	} `json:"warnings"`
}

type pointContract struct {
	Name   *string `json:"name"`
	Kind   *string `json:"kind"`
	Visits *int64  `json:"visits"`
}

type effectContract struct {
	Name    *string         `json:"name"`
	Metric  *string         `json:"metric"`
	Verdict *string         `json:"verdict"`
	Slope   json.RawMessage `json:"slope"` // may be null
	CI      json.RawMessage `json:"slope_ci"`
	Tried   *int            `json:"experiments"`
	Curve   *[]struct {
		Speedup *int            `json:"speedup"`
		Gain    *float64        `json:"gain"`
		CI      json.RawMessage `json:"ci"`
		Tried   *int            `json:"experiments"`
	} `json:"curve"`
}

// contractCommand is `contract FILE...`: each file is one JSON object that satisfies the contract.
func contractCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: contract FILE...")
	}
	for _, name := range args {
		if err := checkContract(ts.ReadFile(name)); err != nil {
			ts.Fatalf("%s: %v", name, err)
		}
	}
}

func checkContract(text string) error {
	in := json.NewDecoder(strings.NewReader(text))
	var c contract
	if err := in.Decode(&c); err != nil {
		return err
	}
	if _, err := in.Token(); err != io.EOF {
		return fmt.Errorf("more than one value: %v", err)
	}
	if c.Version == nil || *c.Version != 1 || c.Points == nil || c.Targets == nil || c.Warnings == nil {
		return fmt.Errorf("version, points, targets or warnings missing")
	}
	var names []string
	for _, p := range *c.Points {
		if p.Name == nil || p.Kind == nil || p.Visits == nil || *p.Visits < 0 {
			return fmt.Errorf("a point lacks something: %+v", p)
		}
		names = append(names, *p.Name)
	}
	for _, w := range *c.Warnings {
		if w.Code == nil || w.Text == nil || *w.Code == "" || *w.Text == "" {
			return fmt.Errorf("a warning lacks something: %+v", w)
		}
	}
	for _, t := range *c.Targets {
		if t.Unit == nil || t.Name == nil || t.File == nil || t.Line == nil || t.Func == nil || t.Binary == nil ||
			t.Share == nil || *t.Share < 0 || *t.Share > 100 || t.Samples == nil || *t.Samples < 0 || t.Points == nil {
			return fmt.Errorf("a target lacks something: %+v", t)
		}
		if *t.Unit == "line" && (*t.Line <= 0 || !strings.HasSuffix(*t.Name, fmt.Sprintf(":%d", *t.Line))) {
			return fmt.Errorf("line %s has number %d", *t.Name, *t.Line)
		}
		for _, e := range *t.Points {
			if err := e.check(names); err != nil {
				return fmt.Errorf("target %s: %w", *t.Name, err)
			}
		}
	}
	return nil
}

func (e *effectContract) check(points []string) error {
	if e.Name == nil || !slices.Contains(points, *e.Name) || e.Metric == nil || e.Tried == nil || e.Curve == nil {
		return fmt.Errorf("an effect lacks something: %+v", e)
	}
	if !slices.Contains([]string{"throughput", "latency", "p50", "p95", "p99"}, *e.Metric) {
		return fmt.Errorf("metric %s", *e.Metric)
	}
	if e.Verdict == nil || !slices.Contains([]string{"faster", "slower", "none", "unsure"}, *e.Verdict) {
		return fmt.Errorf("a wrong verdict: %+v", e)
	}
	if err := e.checkNumbers(); err != nil {
		return err
	}
	last := -1
	for _, l := range *e.Curve {
		if l.Speedup == nil || *l.Speedup <= last || *l.Speedup > 100 || l.Gain == nil || *l.Gain > 100 || l.Tried == nil {
			return fmt.Errorf("a level of the curve lacks something: %+v", l)
		}
		last = *l.Speedup
		if low, high, known, err := interval(l.CI); err != nil || known && (low > *l.Gain || high < *l.Gain) {
			return fmt.Errorf("at %d%%: %v is not in %s: %v", last, *l.Gain, l.CI, err)
		}
	}
	return nil
}

func (e *effectContract) checkNumbers() error {
	var slope *float64
	if e.Slope == nil || json.Unmarshal(e.Slope, &slope) != nil {
		return fmt.Errorf("slope %s", e.Slope)
	}
	low, high, known, err := interval(e.CI)
	if err != nil || known && (slope == nil || low > *slope || high < *slope) {
		return fmt.Errorf("slope %s with interval %s: %v", e.Slope, e.CI, err)
	}
	return nil
}

// interval reads [low, high] or null.
func interval(text json.RawMessage) (low, high float64, known bool, err error) {
	var ends []float64
	if text == nil {
		return 0, 0, false, fmt.Errorf("missing")
	}
	if err := json.Unmarshal(text, &ends); err != nil || ends == nil {
		return 0, 0, false, err
	}
	if len(ends) != 2 {
		return 0, 0, false, fmt.Errorf("%d ends", len(ends))
	}
	return ends[0], ends[1], true, nil
}
