package experiment

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/realkernel"
)

// whatif is killed in the middle of experiments that stop half of the program nearly
// all the time: the program is at full speed again, whatif's things are gone from the
// kernel, and what it wrote can be read.
func TestKilled(t *testing.T) {
	realkernel.Need(t)
	const source = "testdata/pulse.c"
	program := realkernel.Compile(t, source, "-no-pie")
	file := filepath.Join(t.TempDir(), "whatif.profile")
	uprobesBefore := uprobeEvents(t)

	alone := startPulse(t, program)
	alone.await(t)
	own := alone.bestRate(5, 100*time.Millisecond)
	alone.end()

	const times = 5
	// A shared machine's speed varies by a third from one second to the next.
	const unslowed = 0.65
	for i := range times {
		p := startPulse(t, realkernel.Whatif(t), "run", "--quiet", "-o", file, "-p", "func:round_done",
			"-t", fmt.Sprintf("pulse.c:%d", realkernel.Line(t, source, "// SELECTED")), "-s", "100", "--", program)
		p.await(t)
		left := loadedBy(t, p.cmd.Process.Pid)
		if left.count("prog") < 10 || left.count("link") < 10 {
			t.Fatalf("whatif has loaded %v: they are not looked up as they should", left)
		}
		if sameCode(t, p.pid()) {
			t.Fatal("there is no probe in round_done: it is not looked up as it should")
		}
		slowed := awaitSlow(p, own)
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		p.cmd.Process.Kill()
		p.cmd.Wait()
		killed := time.Now()
		rate := p.bestRate(8, 100*time.Millisecond)
		t.Logf("killed at %.0f rounds/s; %.0f rounds/s within a second, undisturbed %.0f", slowed, rate, own)
		if slowed > 0.7*own {
			t.Errorf("time %d: no experiment slowed the program: %.0f rounds/s, undisturbed %.0f", i, slowed, own)
		}
		if !p.runs() {
			t.Fatalf("time %d: the program is gone", i)
		}
		for still := left.still(t); len(still) > 0; still = left.still(t) {
			if time.Since(killed) > 10*time.Second {
				t.Errorf("time %d: left behind in the kernel: %v", i, still)
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		if !sameCode(t, p.pid()) {
			t.Errorf("time %d: the probe is still in round_done", i)
		}
		p.end()
		if rate < unslowed*own {
			// The machine may have become slower meanwhile: measure what is right now.
			now := startPulse(t, program)
			now.await(t)
			own = now.bestRate(8, 100*time.Millisecond)
			now.end()
			if rate < unslowed*own {
				t.Errorf("time %d: the program does %.0f rounds/s after whatif was killed, undisturbed %.0f", i, rate, own)
			}
		}
	}
	if now := uprobeEvents(t); now != uprobesBefore {
		t.Errorf("uprobe_events was %q and is %q", uprobesBefore, now)
	}
	readable(t, file, times)
}

// awaitSlow waits until an experiment slows the program, 20 s at most, and gives the
// rate.
func awaitSlow(p *pulse, own float64) float64 {
	slow := own
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if slow = p.rate(20 * time.Millisecond); slow < 0.6*own {
			break
		}
	}
	return slow
}

// readable checks that each killed run has left what it measured.
func readable(t *testing.T, file string, runs int) {
	t.Helper()
	data, err := profile.ReadFiles([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	if len(data) != runs {
		t.Errorf("the profile has %d runs, want %d", len(data), runs)
	}
	for i, d := range data {
		if d.End != nil || len(d.Run.Points) != 1 {
			t.Errorf("run %d was killed and has an end, or not its point", i)
		}
	}
}

// holdings are the things of one process in the kernel: prog, link and map, and their
// ids.
type holdings map[string]map[uint32]bool

func (l holdings) count(kind string) int { return len(l[kind]) }

func loadedBy(t *testing.T, pid int) holdings {
	t.Helper()
	l := holdings{"prog": {}, "link": {}, "map": {}}
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/fdinfo/*", pid))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files of process %d: %v", pid, err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			continue // closed meanwhile
		}
		lines := bufio.NewScanner(f)
		for lines.Scan() {
			key, value, _ := strings.Cut(lines.Text(), ":")
			kind, isID := strings.CutSuffix(key, "_id")
			id, err := strconv.ParseUint(strings.TrimSpace(value), 10, 32)
			if isID && err == nil && l[kind] != nil {
				l[kind][uint32(id)] = true
			}
		}
		f.Close()
	}
	return l
}

// still is what of it is there yet.
func (l holdings) still(t *testing.T) []string {
	t.Helper()
	open := map[string]func(uint32) (io.Closer, error){
		"prog": func(id uint32) (io.Closer, error) { return ebpf.NewProgramFromID(ebpf.ProgramID(id)) },
		"link": func(id uint32) (io.Closer, error) { return link.NewFromID(link.ID(id)) },
		"map":  func(id uint32) (io.Closer, error) { return ebpf.NewMapFromID(ebpf.MapID(id)) },
	}
	var still []string
	for kind, ids := range l {
		for id := range maps.Keys(ids) {
			c, err := open[kind](id)
			if errors.Is(err, os.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatalf("looking for %s %d: %v", kind, id, err)
			}
			c.Close()
			still = append(still, fmt.Sprintf("%s %d", kind, id))
		}
	}
	return still
}

// uprobeEvents are the probes that somebody made by name; whatif makes none.
func uprobeEvents(t *testing.T) string {
	t.Helper()
	const path = "/sys/kernel/tracing/uprobe_events"
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return "" // not mounted
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
