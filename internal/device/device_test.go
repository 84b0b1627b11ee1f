package device

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"whatif/internal/hint"
)

// made is a device with one figure for each of some measures.
func made(name string, values map[string]float64) *Device {
	d := &Device{Format: Format, Version: Version, Name: name, Kind: Measured, Cores: 4, Machine: Machine{Arch: "amd64"}}
	for _, n := range Names() {
		if v, ok := values[n]; ok {
			unit, _ := UnitOf(n)
			d.Measures = append(d.Measures, Measure{Name: n, Unit: unit, Value: v, Spread: 0.03, Rounds: 5})
		}
	}
	return d
}

func text(t *testing.T, d *Device) string {
	t.Helper()
	var b strings.Builder
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestWriteParse(t *testing.T) {
	d := made("one", map[string]float64{"cpu.integer.one": 4e8, "memory.latency.dram.one": 95e-9})
	d.Machine.Caches = map[string]int64{"l1": 32768}
	d.Warnings = []string{"busy"}
	again, err := Parse([]byte(text(t, d)))
	if err != nil {
		t.Fatal(err)
	}
	if text(t, again) != text(t, d) {
		t.Errorf("written, read and written:\n%s\nwant\n%s", text(t, again), text(t, d))
	}
}

func TestWrongFiles(t *testing.T) {
	good := text(t, made("one", map[string]float64{"cpu.integer.one": 4e8, "disk.read.4k": 9000}))
	for _, c := range []struct{ old, new, want string }{
		{`"whatif-device"`, `"other"`, "no device file"},
		{`{`, `[`, "no device file"},
		{`"version": 1`, `"version": 2`, "it has version 2, this whatif reads 1"},
		{`"version": 1`, `"version": 0`, "it has version 0"},
		{`"name": "one"`, `"name": "../one"`, "no name of a device"},
		{`"name": "one"`, `"name": "-o"`, "no name of a device"},
		{`"measured"`, `"guessed"`, `its kind is "guessed"`},
		{`"cores": 4`, `"cores": 0`, "it has 0 cores"},
		{`"cores": 4`, `"cores": "four"`, "it is damaged"},
		{`400000000`, `-1`, "cpu.integer.one is -1, which is no speed"},
		{`400000000`, `0`, "which is no speed"},
		{`"spread": 0.03`, `"spread": -3`, "has the spread -3"},
		{`"spread": 0.03`, `"spread": 1e300`, "has the spread 1e+300"},
		{`"disk.read.4k"`, `"cpu.integer.one"`, "it has cpu.integer.one twice"},
		{`"unit": "1/s"`, `"unit": "s"`, `cpu.integer.one is in "s", not in "1/s"`},
		{`"cpu.integer.one"`, `"net.other"`, "no measure of the class cpu"},
	} {
		changed := strings.Replace(good, c.old, c.new, 1)
		if changed == good {
			t.Fatalf("nothing to replace: %s", c.old)
		}
		_, err := Parse([]byte(changed))
		if err == nil || !strings.Contains(err.Error(), c.want) || hint.Of(err) == "" || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v (hint %q), want %q and a hint", c.new, err, hint.Of(err), c.want)
		}
	}
	if _, err := Parse([]byte(strings.Replace(good, `"unit"`, `"later": 1, "unit"`, 1))); err != nil {
		t.Errorf("a field that came later: %v", err)
	}
}

func TestByHand(t *testing.T) {
	d, err := ParseByHand("cpu=0.43, net=0.18,mem=2")
	if err != nil {
		t.Fatal(err)
	}
	if d.Ratios[CPU] != 0.43 || d.Ratios[Net] != 0.18 || d.Ratios[Memory] != 2 || len(d.Ratios) != 3 {
		t.Errorf("%v", d.Ratios)
	}
	for in, want := range map[string]string{
		"cpu=0":          "impossible ratio",
		"cpu=-1":         "impossible ratio",
		"cpu=NaN":        "impossible ratio",
		"cpu=1e9":        "impossible ratio",
		"cpu=fast":       "no ratio",
		"cpu=0.5,cpu=1":  "given twice",
		"mem=1,memory=1": "given twice",
		"cpu=0.5,":       "no class of time",
		"gpu=0.5":        "no class of time",
	} {
		if _, err := ParseByHand(in); err == nil || !strings.Contains(err.Error(), want) || hint.Of(err) == "" {
			t.Errorf("%s: %v (hint %q), want %q", in, err, hint.Of(err), want)
		}
	}
	if _, err := ParseByHand("dsk=1"); !strings.Contains(hint.Of(err), "did you mean disk?") {
		t.Errorf("dsk: %v, %q", err, hint.Of(err))
	}
}

// TestCompare compares with ratios that are worked out by hand.
func TestCompare(t *testing.T) {
	host := made("host", map[string]float64{"cpu.integer.one": 100, "cpu.float.one": 100, "cpu.branch.one": 100,
		"memory.latency.dram.one": 100e-9, "memory.bandwidth.dram.one": 10e9, "disk.read.4k": 1000,
		"net.loopback.rtt": 10e-6})
	there := made("there", map[string]float64{"cpu.integer.one": 50, "cpu.float.one": 50, "cpu.branch.one": 50,
		"memory.latency.dram.one": 200e-9, "memory.bandwidth.dram.one": 20e9, "disk.read.4k": 200, "net.peer.rtt": 1e-3})
	there.Cores = 2
	f, err := Compare(host, there)
	if err != nil {
		t.Fatal(err)
	}
	want := map[Class][3]float64{ // ratio, normalised, faster by
		CPU:    {0.5, 2.5, 0.6},
		Memory: {1, 5, 0.8}, // half as fast in latency, twice in bandwidth
		Disk:   {0.2, 1, 0},
	}
	for _, c := range f.Classes {
		w, ok := want[c.Class]
		if !ok || !near(c.Ratio, w[0]) || !near(c.Normalised, w[1]) || math.Abs(c.SpeedUp-w[2]) > 1e-9 {
			t.Errorf("%s: ratio %v, normalised %v, faster by %v; want %v", c.Class, c.Ratio, c.Normalised, c.SpeedUp, w)
		}
		delete(want, c.Class)
	}
	if len(want) > 0 || f.Slowest().Class != Disk {
		t.Errorf("missing %v; the slowest is %s", want, f.Slowest().Class)
	}
	// Three measures with 3% on both sides.
	if got := f.Classes[0].Spread; !near(got, math.Sqrt(6)*0.03/3) {
		t.Errorf("spread of cpu: %v", got)
	}
	if !strings.Contains(f.Missing[Net], "--peer") || f.Missing[Wake] != "neither has a measure of it" {
		t.Errorf("missing: %v", f.Missing)
	}
	warnings := strings.Join(append(f.Warnings, f.CoresWarning()), "\n")
	for _, w := range []string{"memory is not one speed: from 0.5 (latency.dram.one) to 2 (bandwidth.dram.one)",
		"there has 2 cores, host 4"} {
		if !strings.Contains(warnings, w) {
			t.Errorf("no warning %q in:\n%s", w, warnings)
		}
	}
}

func TestCompareByHand(t *testing.T) {
	host := made("host", map[string]float64{"cpu.integer.one": 100})
	hand, err := ParseByHand("cpu=0.43,net=0.18")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Compare(host, hand)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Classes) != 5 || f.Slowest().Class != Net || !near(f.Classes[0].SpeedUp, 1-0.18/0.43) ||
		!near(f.Classes[2].Ratio, 1) {
		t.Errorf("%+v", f)
	}
	if _, err := Compare(hand, host); err == nil || hint.Of(err) == "" {
		t.Errorf("ratios as the host: %v", err)
	}
	_, err = Compare(host, made("odd", map[string]float64{"cpu.integer.one": 1e9}))
	if err == nil || !strings.Contains(err.Error(), "impossible ratio") {
		t.Errorf("ten million times as fast: %v", err)
	}
}

// TestSame compares a device with itself.
func TestSame(t *testing.T) {
	for _, d := range BuiltIn() {
		f, err := Compare(d, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range f.Classes {
			if !near(c.Ratio, 1) || !near(c.Normalised, 1) || c.SpeedUp != 0 {
				t.Errorf("%s with itself: %+v", d.Name, c)
			}
		}
	}
}

// TestBuiltIn: every figure has its source, and the ratio of two processors is that of their published scores.
func TestBuiltIn(t *testing.T) {
	all := make(map[string]*Device)
	for _, d := range BuiltIn() {
		all[d.Name] = d
		if _, err := Parse([]byte(text(t, d))); err != nil {
			t.Errorf("%s: %v", d.Name, err)
		}
		for _, m := range d.Measures {
			if m.Source == "" {
				t.Errorf("%s: %s has no source", d.Name, m.Name)
			}
		}
	}
	f, err := Compare(all["laptop"], all["phone"])
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Classes[0].Ratio; !near(got, 1123./1687) {
		t.Errorf("the phone's processor is %v of the laptop's", got)
	}
}

func TestSchema(t *testing.T) {
	var s struct {
		Properties map[string]any
		Required   []string
	}
	if err := json.Unmarshal(Schema, &s); err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	d := made("one", map[string]float64{"cpu.integer.one": 4e8})
	d.Made, d.Warnings = "2026-01-01T00:00:00Z", []string{"busy"}
	if err := json.Unmarshal([]byte(text(t, d)), &fields); err != nil {
		t.Fatal(err)
	}
	for name := range fields {
		if s.Properties[name] == nil {
			t.Errorf("the schema has no %s", name)
		}
	}
	for name := range s.Properties {
		if fields[name] == nil {
			t.Errorf("only the schema has %s", name)
		}
	}
	if len(s.Required) == 0 || slices.Contains(s.Required, "warnings") {
		t.Errorf("required: %v", s.Required)
	}
}

func TestQuantity(t *testing.T) {
	for _, c := range []struct {
		value float64
		unit  Unit
		want  string
	}{
		{4.2e8, Operations, "420 M/s"}, {8.04e9, Bytes, "8.04 GB/s"}, {215e-9, Seconds, "215 ns"},
		{53.1e-3, Seconds, "53.1 ms"}, {999.9e6, Bytes, "1.00 GB/s"}, {2.5, Seconds, "2.50 s"}, {12, Operations, "12.0 /s"},
		{2e-12, Seconds, "2e-12 s"}, {5000, Seconds, "5000 s"},
	} {
		if got := Quantity(c.value, c.unit); got != c.want {
			t.Errorf("%v %s is %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}

func TestStore(t *testing.T) {
	for _, name := range []string{"SUDO_UID", "SUDO_GID", "PKEXEC_UID", "DOAS_USER"} {
		t.Setenv(name, "")
	}
	data := t.TempDir()
	s, err := Open(func(name string) string { return map[string]string{"XDG_DATA_HOME": data}[name] })
	if err != nil {
		t.Fatal(err)
	}
	built, err := s.List()
	if err != nil || len(built) != len(BuiltIn()) {
		t.Fatalf("an empty database: %d devices, %v", len(built), err)
	}
	mine := made("laptop", map[string]float64{"cpu.integer.one": 4e8})
	path, err := s.Add(mine, false)
	if err != nil || path != filepath.Join(data, "whatif", "devices", "laptop.json") {
		t.Fatalf("%s, %v", path, err)
	}
	if _, err := s.Add(mine, false); err == nil || !strings.Contains(hint.Of(err), "--overwrite") {
		t.Errorf("added twice: %v", err)
	}
	if _, err := s.Add(mine, true); err != nil {
		t.Errorf("added anew: %v", err)
	}
	// The user's own hides the built-in one.
	if d, err := s.Find("laptop"); err != nil || d.Kind != Measured {
		t.Errorf("%v, %v", d, err)
	}
	if all, err := s.List(); err != nil || len(all) != len(BuiltIn()) {
		t.Errorf("%d devices, %v", len(all), err)
	}
	if _, err := s.Find("phne"); err == nil || !strings.Contains(hint.Of(err), "did you mean phone?") {
		t.Errorf("phne: %v, %q", err, hint.Of(err))
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Find("laptop"); err == nil || !strings.Contains(err.Error(), "no device file") {
		t.Errorf("a damaged one: %v", err)
	}
	all, err := s.List()
	if err != nil || !slices.ContainsFunc(all, func(e Entry) bool { return e.Err != nil && e.Device.Name == "laptop" }) {
		t.Errorf("the list has no word of the damaged one: %v", err)
	}
	if _, err := s.Find(filepath.Join(data, "none.json")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	var b strings.Builder
	if err := BuiltIn()[0].Write(&b); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(b.String()))
	f.Fuzz(func(t *testing.T, in []byte) {
		d, err := Parse(in)
		if err != nil {
			return
		}
		if _, err := Compare(d, d); err != nil {
			t.Errorf("compared with itself: %v", err)
		}
	})
}

// What is open about a class for one program: the spreads, the range of its measures, and that a figure was computed.
func TestUnsure(t *testing.T) {
	host := made("host", map[string]float64{"cpu.integer.one": 100, "cpu.float.one": 100, "net.peer.bandwidth": 1e6,
		"memory.bandwidth.dram.one": 1e9})
	there := made("there", map[string]float64{"cpu.integer.one": 100, "cpu.float.one": 25, "net.peer.bandwidth": 5e5,
		"memory.bandwidth.dram.one": 1e7})
	f, err := Compare(host, there)
	if err != nil {
		t.Fatal(err)
	}
	cpu, _ := f.Of(CPU) // 0.5, from 0.25 to 1
	if cpu.Unsure() < 1 || cpu.Unsure() > 1.1 {
		t.Errorf("cpu: %v", cpu.Unsure())
	}
	net, _ := f.Of(Net)
	if got := net.Unsure(); !near(got, math.Hypot(0.03, 0.03)) {
		t.Errorf("net: %v", got)
	}
	if f.Slowest().Class != Memory {
		t.Error("memory is the slowest")
	}
	f.Without(Memory, "not told apart")
	if _, ok := f.Of(Memory); ok || f.Missing[Memory] != "not told apart" || f.Slowest().Class == Memory ||
		!near(f.Slowest().Normalised, 1) {
		t.Errorf("without memory: %+v", f)
	}
	phone := BuiltIn()[0]
	f, err = Compare(made("host", map[string]float64{"cpu.integer.one": 4e8}), phone)
	if err != nil {
		t.Fatal(err)
	}
	if cpu, _ := f.Of(CPU); cpu.Unsure() < computedError {
		t.Errorf("a device that is known by one score: %v", cpu.Unsure())
	}
	f, err = Compare(host, made("there", map[string]float64{"cpu.integer.one": 1e300, "cpu.float.one": 1e-298}))
	if err != nil {
		t.Fatal(err)
	}
	if cpu, _ := f.Of(CPU); cpu.Unsure() != mostRatio {
		t.Errorf("measures that have nothing to do with each other: %v", cpu.Unsure())
	}
	hand, err := ParseByHand("cpu=0.4")
	if err != nil {
		t.Fatal(err)
	}
	f, err = Compare(host, hand)
	if err != nil {
		t.Fatal(err)
	}
	if cpu, _ := f.Of(CPU); cpu.Unsure() != 0 {
		t.Errorf("a ratio by hand: %v", cpu.Unsure())
	}
}
