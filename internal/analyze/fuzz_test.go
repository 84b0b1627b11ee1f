package analyze

import (
	"math"
	"reflect"
	"testing"

	"whatif/internal/profile"
)

// FuzzAnalyze feeds Analyze experiments made of arbitrary numbers. Nothing may panic, and no known
// number of the result may be NaN or infinite.
func FuzzAnalyze(f *testing.F) {
	f.Add([]byte("nothing"), true, false)
	seed := make([]byte, 400)
	for i := range seed {
		seed[i] = byte(i * i)
	}
	f.Add(seed, false, false)
	f.Add(seed, true, true)
	f.Add(make([]byte, 200), false, true)
	f.Fuzz(func(t *testing.T, raw []byte, whole, named bool) {
		if len(raw) > 4000 {
			return
		}
		d := &profile.Data{Units: map[uint32]profile.Unit{1: {ID: 1, Line: 1}, 2: {ID: 2, Line: 2}, 3: {ID: 3, Line: 1}},
			Run: profile.Run{WholeRuns: whole, PeriodNS: 1e6, CPUs: 2,
				Points: []profile.Point{{Name: "p"}, {Name: "q"}, {Name: "p"}}}}
		if named {
			d.Run.Targets = []string{"x"}
		}
		for i := 0; i+8 <= len(raw); i += 8 {
			d.Experiments = append(d.Experiments, arbitrary(raw[i:i+8]))
		}
		res := Analyze([]*profile.Data{d, d}, Options{})
		checkFinite(t, reflect.ValueOf(*res), "result")
	})
}

// arbitrary makes an experiment of 8 bytes; exponents make extremes likely.
func arbitrary(b []byte) profile.Experiment {
	big := func(x byte) float64 { return math.Ldexp(float64(x&15), int(x>>4)*4-8) }
	e := profile.Experiment{Unit: uint32(b[0] & 3), Speedup: int(b[1]) * 100 / 255, RealNS: int64(big(b[2])),
		DelayNS: int64(big(b[3])),
		Samples: int64(big(b[4])), UnitSamples: map[uint32]int64{1: int64(b[5]), 2: int64(big(b[6]))}, Pair: int(b[7] >> 6),
		Points: []profile.Visits{
			{Count: int64(b[5]), Weight: big(b[5]), WindowNS: big(b[6])},
			{Count: 1, Weight: big(b[7]), WindowNS: big(b[2])},
			{},
		}}
	if b[0] > 250 {
		e.SetAside = "fuzz"
	}
	return e
}

// checkFinite walks through all numbers that a renderer may print.
func checkFinite(t *testing.T, v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Float64:
		if x := v.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("%s is %v", path, x)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[Estimate]() {
			e := v.Interface().(Estimate)
			if !e.Known {
				return
			}
			if !e.Bounded {
				v = reflect.ValueOf(struct{ Value float64 }{e.Value})
			} else if !(e.Low <= e.Value && e.Value <= e.High) {
				t.Errorf("%s: %+v is not inside its interval", path, e)
			}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				checkFinite(t, v.Field(i), path+"."+v.Type().Field(i).Name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkFinite(t, v.Index(i), path)
		}
	}
}
