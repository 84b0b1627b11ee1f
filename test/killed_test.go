package test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"whatif/internal/load"
	"whatif/internal/profile"
	"whatif/internal/testing/noise"
	"whatif/internal/testing/realkernel"
)

// whatif is killed in the middle of experiments that stop half of the program nearly all the time. Then the program is
// at full speed again, all that whatif had in the kernel is gone, and what it wrote can be read.
func TestKilled(t *testing.T) {
	realkernel.NeedQuiet(t)
	const source = "testdata/pulse.c"
	program := realkernel.Compile(t, source, "-no-pie")
	line := fmt.Sprintf("pulse.c:%d", realkernel.Line(t, source, "// SELECTED"))
	uprobesBefore := uprobeEvents(t)

	kills := times(2, 5)
	realkernel.JudgeEach(t, func() (figures []noise.Figure, foreign float64) {
		file := filepath.Join(t.TempDir(), "whatif.profile")
		var parts []float64
		var changed float64
		own, others := ownRate(t, program)
		for range kills {
			after, beside := killed(t, own, realkernel.Whatif(t), "run", "--quiet", "-o", file,
				"-p", "func:round_done", "-t", line, "-s", "100", "--", program)
			now, besideNow := ownRate(t, program)
			t.Logf("%.0f rounds/s in the time after whatif was killed, undisturbed %.0f and %.0f", after, own, now)
			part := after / math.Sqrt(own*now)
			changed = max(changed, math.Abs(math.Log(now/own)))
			figures, parts = append(figures, fullSpeed(part, math.Abs(math.Log(now/own)))), append(parts, part)
			foreign = max(foreign, others, beside, besideNow)
			own, others = now, besideNow
		}
		readable(t, file, kills)
		slices.Sort(parts)
		return append(figures, medianSpeed(parts[kills/2], changed)), foreign
	})
	if now := uprobeEvents(t); now != uprobesBefore {
		t.Errorf("uprobe_events was %q and is %q", uprobesBefore, now)
	}
}

// Soon after whatif was killed the program has at least leastSpeed of its own speed, and leastMedian in the median. The
// rate is that of most of a second: if every other moment were still taken from the program, it would be half.
const leastSpeed, leastMedian = 0.85, 0.95

// usualChange is by how much a program's own speed changes between two measurements on a quiet machine, in logarithms.
const usualChange = 0.06

// fullSpeed is the figure of one time, medianSpeed that of all. Where the machine became faster meanwhile the part is
// more than 1; that is cut off.
func fullSpeed(part, changed float64) noise.Figure {
	f := noise.Around("the part of its speed that the program has after a kill", min(part, 1), 1, 1-leastSpeed)
	f.Half, f.Usual = changed, usualChange
	return f
}

func medianSpeed(part, changed float64) noise.Figure {
	f := fullSpeed(part, changed)
	f.Name, f.Low, f.High = "the median of these parts", leastMedian, 2-leastMedian
	return f
}

// If the kernel side went on stopping the program in every other moment it would not pass, however long each moment is
// and whatever the noise. A program at about its own speed passes.
func TestFullSpeed(t *testing.T) {
	for _, noisy := range []struct {
		seen    noise.Seen
		changed float64
	}{{noise.Seen{}, 0}, {noise.Seen{Foreign: 0.08}, 0}, {noise.Seen{}, 0.12}} {
		for _, part := range []float64{0, 0.5, 0.55, 0.65} {
			if v, words := noise.Judge(fullSpeed(part, noisy.changed), noisy.seen); v != noise.Wrong {
				t.Errorf("%+v: %v: %s", noisy, v, words)
			}
		}
		for _, part := range []float64{0.96, 1, 1.3} {
			for _, f := range []noise.Figure{fullSpeed(part, noisy.changed), medianSpeed(part, noisy.changed)} {
				if v, words := noise.Judge(f, noisy.seen); v != noise.Right {
					t.Errorf("%+v: %v: %s", noisy, v, words)
				}
			}
		}
	}
	if v, words := noise.Judge(medianSpeed(0.92, 0), noise.Seen{}); v != noise.Wrong {
		t.Errorf("%v: %s", v, words)
	}
}

// ownRate is how many rounds a second the program does by itself, and the part of the machine that others used
// meanwhile.
func ownRate(t *testing.T, program string) (rate, foreign float64) {
	t.Helper()
	p := startPulse(t, program)
	defer p.end()
	p.await(t)
	return p.rateBeside(t, measured())
}

// measured is for how long a program's rate is measured.
func measured() time.Duration {
	if testing.Short() {
		return 600 * time.Millisecond
	}
	return time.Second
}

// rateBeside is rate, with the part of the machine that others than the program used meanwhile.
func (p *pulse) rateBeside(t *testing.T, over time.Duration) (rate, foreign float64) {
	t.Helper()
	ran := cpuTimeOf(t, p.pid())
	before, err := load.Read()
	if err != nil {
		t.Fatal(err)
	}
	rate = p.rate(over)
	after, err := load.Read()
	if err != nil {
		t.Fatal(err)
	}
	// Interrupts count as the program's: a kernel side that went on stopping cores would do so in them, and is no noise.
	return rate, load.Foreign(before, after, cpuTimeOf(t, p.pid())-ran+after.Interrupts-before.Interrupts)
}

// killed starts whatif with a program and kills it in the middle of an experiment that slows the program. It gives the
// program's rate in the time that begins 0.1 s after that, and the part of the machine that others used in it. own is
// the program's undisturbed rate.
func killed(t *testing.T, own float64, command ...string) (rate, foreign float64) {
	t.Helper()
	p := startPulse(t, command...)
	defer p.end()
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
	dead := time.Now()
	if slowed > 0.7*own {
		t.Errorf("no experiment slowed the program: %.0f rounds/s, undisturbed %.0f", slowed, own)
	}
	time.Sleep(100 * time.Millisecond)
	rate, foreign = p.rateBeside(t, measured())
	if !p.runs() {
		t.Fatal("the program is gone")
	}
	for still := left.still(t); len(still) > 0; still = left.still(t) {
		if time.Since(dead) > 10*time.Second {
			t.Errorf("left behind in the kernel: %v", still)
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if !sameCode(t, p.pid()) {
		t.Error("the probe is still in round_done")
	}
	return rate, foreign
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

// holdings are the objects of one process in the kernel: prog, link and map, and their ids.
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

// still is what of them is still there.
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

// uprobeEvents are the probes that were made by name; whatif makes none.
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
