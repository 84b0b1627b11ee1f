package measure

import (
	"bufio"
	"context"
	"math"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"whatif/internal/device"
	"whatif/internal/hint"
)

// TestRun is a smoke test with a tiny time: every measure is there, and possible. The figures themselves say nothing.
func TestRun(t *testing.T) {
	for _, name := range []string{"SUDO_UID", "SUDO_GID", "PKEXEC_UID", "DOAS_USER"} {
		t.Setenv(name, "")
	}
	d, err := Run(t.Context(), Options{Name: "test", Dir: t.TempDir(), Time: 300 * time.Millisecond, Anyway: true,
		Progress: func(string) {}})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := d.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := device.Parse([]byte(b.String())); err != nil {
		t.Errorf("%v in\n%s", err, b.String())
	}
	for _, name := range device.Names() {
		// Not every machine has these levels, and there is no peer.
		optional := strings.Contains(name, ".l2.") || strings.Contains(name, ".l3.") || strings.HasPrefix(name, "net.peer.")
		if _, ok := d.Measure(name); !ok && !optional {
			t.Errorf("no %s", name)
		}
	}
	near, _ := d.Measure("memory.latency.l1.one")
	far, _ := d.Measure("memory.latency.dram.one")
	if !(near.Value < far.Value) {
		t.Errorf("latency of L1 %v s, of DRAM %v s", near.Value, far.Value)
	}
	if left, _ := os.ReadDir("."); slices.ContainsFunc(left, func(e os.DirEntry) bool {
		return strings.HasPrefix(e.Name(), ".whatif")
	}) {
		t.Error("a file is left")
	}
}

func TestRefusals(t *testing.T) {
	_, err := Run(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "none"), Time: time.Second, Anyway: true,
		Progress: func(string) {}})
	if err == nil || !strings.Contains(hint.Of(err), "--dir") {
		t.Errorf("no directory: %v, hint %q", err, hint.Of(err))
	}
	d := &device.Device{Measures: []device.Measure{{Name: "cpu.integer.one", Value: 1, Spread: 0.4}}}
	if err := refuse(d, false); err == nil || !strings.Contains(err.Error(), "+-40%") {
		t.Errorf("a processor that varies by 40%%: %v", err)
	}
	if err := refuse(d, true); err != nil {
		t.Errorf("anyway: %v", err)
	}
}

func TestSummarise(t *testing.T) {
	xs := []float64{100, 101, 99, 100, 102, 98, 100, 100, 100, 101, 99, 100, 500, 10, 100}
	all := summarise(map[string][]float64{"cpu.integer.one": xs, "disk.read.4k": {7}})
	if len(all) != 2 || all[0].Value != 100 || all[0].Spread != 0.02 || all[0].Rounds != 15 || all[0].Unit != "1/s" {
		t.Errorf("%+v", all)
	}
	if all[1].Spread != 0 || all[1].Rounds != 1 {
		t.Errorf("one round: %+v", all[1])
	}
	got := doubtful([]device.Measure{{Name: "a", Spread: 0.06}, {Name: "b", Spread: 0.04}})
	if len(got) != 1 || got[0] != "1 of 2 measures varied by more than +-5%: a (+-6%)" {
		t.Errorf("%q", got)
	}
}

// TestInterval leaves one round out at each end, if there are enough.
func TestInterval(t *testing.T) {
	for n, rank := range map[int]int{1: 1, 5: 1, 8: 1, 9: 2, 15: 2} {
		xs := make([]float64, n)
		for i := range xs {
			xs[i] = float64(i + 1)
		}
		if least, most := interval(xs); least != float64(rank) || most != float64(n+1-rank) {
			t.Errorf("of %d values: from %v to %v, want %d to %d", n, least, most, rank, n+1-rank)
		}
	}
}

func TestDrift(t *testing.T) {
	b := &bench{}
	b.doubtDrift(map[string][]float64{"cpu.integer.one": {100, 100, 100, 95, 90, 85, 80, 80, 80}})
	if len(b.doubts) != 1 || !strings.Contains(b.doubts[0], "-20%") {
		t.Errorf("%q", b.doubts)
	}
	b.doubts = nil
	b.doubtDrift(map[string][]float64{"cpu.integer.one": {100, 80, 100, 80, 90, 100, 100, 80, 100}})
	if len(b.doubts) != 0 {
		t.Errorf("without drift: %q", b.doubts)
	}
}

func TestDigits(t *testing.T) {
	for x, want := range map[float64]float64{123456.7: 123460, 0.0000123456: 0.000012346, 0: 0, -1.000004: -1} {
		if got := digits(x, 5); math.Abs(got-want) > math.Abs(want)*1e-12 {
			t.Errorf("%v to five digits: %v, want %v", x, got, want)
		}
	}
}

func TestLevelSizes(t *testing.T) {
	caches := map[string]int64{"l1": 48 << 10, "l2": 2 << 20, "l3": 260 << 20}
	sizes, doubt := levelSizes(caches, 2, 16<<30)
	if doubt != "" || sizes["l1"] != 24<<10 || sizes["l2"] != 1<<20 || sizes["dram"] != 520<<20 {
		t.Errorf("%v %q", sizes, doubt)
	}
	if l3 := sizes["l3"]; l3 <= 2<<20 || 2*l3 >= 260<<20 {
		t.Errorf("l3: %d", l3)
	}
	if _, doubt := levelSizes(caches, 2, 1<<30); doubt == "" {
		t.Error("no doubt where the DRAM that is free is less than the last cache")
	}
	// A small board: no third level, and nothing known of caches.
	for free, dram := range map[int64]int64{256 << 20: 64 << 20, 8 << 30: 256 << 20} {
		caches := map[string]int64{"l1": 32 << 10, "l2": 1 << 20}
		if sizes, _ := levelSizes(caches, 4, free); sizes["l3"] != 0 || sizes["dram"] != dram {
			t.Errorf("%v", sizes)
		}
	}
	if sizes, _ := levelSizes(nil, 4, 1<<30); len(sizes) != 2 || sizes["l1"] != 16<<10 {
		t.Errorf("%v", sizes)
	}
}

// TestRing walks a ring: it visits each line once and comes back.
func TestRing(t *testing.T) {
	words := make([]uint64, 100*line)
	ring(words)
	seen, at := make(map[uint64]bool), uint64(0)
	for range 100 {
		seen[at] = true
		at = words[at]
	}
	if at != 0 || len(seen) != 100 {
		t.Errorf("after 100 steps at %d, %d lines seen", at, len(seen))
	}
}

// TestScan reads past the end of a region.
func TestScan(t *testing.T) {
	words := make([]uint64, 3*line)
	for i := range words {
		words[i] = 1
	}
	if got := add(words); got != 3*line {
		t.Errorf("added %d words", got)
	}
	before := sink.Load()
	r := &region{read: words}
	r.scan(7)
	if got := sink.Load() - before; got != 7*line || r.from != line {
		t.Errorf("read %d words, then at %d", got, r.from)
	}
}

func TestServe(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	told, done := make(chan string, 8), make(chan error)
	go func() { done <- Serve(ctx, "127.0.0.1:0", func(s string) { told <- s }) }()
	address := strings.TrimSuffix(strings.Fields(<-told)[7], ";")
	if _, err := roundTrip(address, 0); err != nil {
		t.Fatal(err)
	}
	if x, err := bandwidth(address, 10*time.Millisecond); err != nil || x <= 0 {
		t.Errorf("bandwidth %v, %v", x, err)
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(conn).ReadByte(); err == nil {
		t.Error("a stranger gets an answer")
	}
	if line := <-told; !strings.Contains(line, "no whatif device of this version") {
		t.Errorf("of the stranger it says %q", line)
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestOtherServer asks a server that is no whatif.
func TestOtherServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			_, _ = conn.Read(make([]byte, 100))
			conn.Close()
		}
	}()
	if _, err := roundTrip(listener.Addr().String(), 0); err == nil {
		t.Error("no error")
	}
}

func TestProcessor(t *testing.T) {
	for in, want := range map[string]string{
		"processor\t: 0\nmodel name\t: Some Processor\n":               "Some Processor",
		"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n": "implementer 0x41 part 0xd08",
		"": "",
	} {
		if got := processor(in); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReadCaches(t *testing.T) {
	root := t.TempDir()
	for name, words := range map[string][3]string{"index0": {"1", "Data", "32K"}, "index1": {"1", "Instruction", "64K"},
		"index2": {"2", "Unified", "512K"}, "index3": {"x", "Unified", "1K"}} {
		dir := filepath.Join(root, "devices/system/cpu/cpu0/cache", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for i, file := range []string{"level", "type", "size"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(words[i]+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := Caches(root); len(got) != 2 || got["l1"] != 32<<10 || got["l2"] != 512<<10 {
		t.Errorf("%v", got)
	}
	if got := Caches(t.TempDir()); runtime.GOARCH == "amd64" && (got["l1"] < 16<<10 || got["l2"] < got["l1"]) {
		t.Errorf("where the kernel knows none: %v", got)
	}
}
