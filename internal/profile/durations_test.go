package profile

import (
	"strings"
	"testing"
)

// TestBins: bins follow each other, and none is wider than 1/16 of its start.
func TestBins(t *testing.T) {
	for bin := range MaxBins {
		start, end := BinStart(bin), BinStart(bin+1)
		if !(start < end) || bin > 0 && end-start > max(1, start/binOctave) {
			t.Fatalf("bin %d is from %v to %v", bin, start, end)
		}
	}
	for bin, want := range map[int]float64{0: 0, 15: 15, 16: 16, 31: 31, 32: 32, 33: 34, 47: 62, 48: 64,
		16 * 17: 1 << 20} {
		if got := BinStart(bin); got != want {
			t.Errorf("bin %d starts at %v, want %v", bin, got, want)
		}
	}
}

func TestReadLatencies(t *testing.T) {
	const run = `{"run":{"version":1,"id":"a","points":[{"name":"r/begin"},{"name":"r"}],` +
		`"latencies":[{"name":"r","begin":0,"end":1}]}}` + "\n"
	const points = `"points":[{"count":1,"weight":1,"window_ns":1},{"count":1,"weight":1,"window_ns":1}]`
	read := func(run, latencies string) ([]*Data, error) {
		return Read("test", strings.NewReader(run+`{"experiment":{"real_ns":1,`+points+latencies+`}}`+"\n"))
	}
	runs, err := read(run,
		`,"latencies":[{"in_system":-1,"begun":2,"ended":3,"area_ns":-4,"matched":3,"total_ns":5,"bins":[[0,1],[639,2]]}]`)
	if err != nil || len(runs) != 1 || len(runs[0].Experiments[0].Latencies[0].Bins) != 2 {
		t.Fatalf("%+v, %v", runs, err)
	}
	if _, err := read(run, ""); err != nil {
		t.Errorf("an experiment without durations: %v", err)
	}
	for _, wrong := range []string{
		`,"latencies":[{},{}]`,
		`,"latencies":[{"begun":-1}]`,
		`,"latencies":[{"area_ns":1e30}]`,
		`,"latencies":[{"matched":-1}]`,
		`,"latencies":[{"bins":[[640,1]]}]`,
		`,"latencies":[{"bins":[[-1,1]]}]`,
		`,"latencies":[{"bins":[[3,1],[3,1]]}]`,
		`,"latencies":[{"bins":[[3,0]]}]`,
		`,"latencies":[{"bins":[[3,5000000000]]}]`,
	} {
		if _, err := read(run, wrong); err == nil ||
			!strings.Contains(err.Error(), "latencies") && !strings.Contains(err.Error(), "durations") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
	for _, ends := range []string{`"begin":0,"end":0`, `"begin":0,"end":2`, `"begin":-1,"end":1`} {
		if _, err := read(strings.Replace(run, `"begin":0,"end":1`, ends, 1), ""); err == nil {
			t.Errorf("%s: no error", ends)
		}
	}
}
