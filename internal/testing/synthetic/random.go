package synthetic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// draft is a program while its parameters are being drawn.
type draft struct {
	*rand.Rand
	Program
	notes []string
	round float64 // ns between two visits, roughly
}

// families are the forms of programs that Random draws from.
var families = []struct {
	name  string
	draft func(*draft) func(*Machine)
}{
	{"independent", draftIndependent},
	{"barrier", draftBarrier},
	{"rendezvous", draftRendezvous},
	{"lock", draftLock},
	{"pipeline", draftPipeline},
	{"pool", draftPool},
	{"fork-join", draftForkJoin},
	{"processes", draftProcesses},
	{"requests", draftRequests},
	{"broadcast", draftBroadcast},
	{"sleep", draftSleep},
	{"periodic", draftPeriodic},
	{"commit", draftCommit},
	{"crowd", draftCrowd},
	{"nice", draftNice},
	{"disk", draftDisk},
	{"net", draftNet},
	{"event-loop", draftEventLoop},
	{"batch", draftBatch},
	{"goroutines", draftGoroutines},
	{"background", draftBackground},
}

// Families are the names of the forms of programs.
func Families() []string {
	var names []string
	for _, f := range families {
		names = append(names, f.name)
	}
	return names
}

// Random draws a program. The same seed gives the same program, and consecutive seeds go through all families.
func Random(seed uint64) *Program {
	return RandomOf(families[seed%uint64(len(families))].name, seed)
}

// RandomOf draws a program of a family.
func RandomOf(family string, seed uint64) *Program {
	i := slices.IndexFunc(families, func(f struct {
		name  string
		draft func(*draft) func(*Machine)
	}) bool {
		return f.name == family
	})
	if i < 0 {
		panic("synthetic: there is no family " + family)
	}
	d := &draft{Rand: rand.New(rand.NewPCG(seed, 2))}
	d.Family, d.Seed = family, seed
	d.Hardware = d.hardware()
	d.Build = families[i].draft(d)
	d.disturb()
	d.when()
	d.Text = strings.Join(d.notes, ", ")
	return &d.Program
}

// hardware draws cores and the habits of a scheduler, between those of the kernels of the last ten years.
func (d *draft) hardware() Hardware {
	return Hardware{
		Cores:     pick(d, 1, 2, 2, 2, 2, 3, 4, 4, 8),
		Slice:     pick[int64](d, 1_000_000, 2_800_000, 3_000_000, 4_000_000),
		Preempt:   pick(d, 300_000.0, 1_000_000, 1_400_000),
		Credit:    pick(d, 700_000.0, 1_500_000, 3_000_000),
		Rotate:    pick[int64](d, 0, 8_000_000, 20_000_000, 20_000_000),
		Latency:   pick[int64](d, 3000, 8000, 20_000, 45_000),
		Switching: pick[int64](d, 800, 1200, 2000),
	}
}

// disturb adds threads of others, to some programs.
func (d *draft) disturb() {
	if d.Float64() > 0.2 {
		return
	}
	every, takes := d.duration(2e6, 30e6), d.duration(20e3, 500e3)
	d.note("others run %s every %s", takes, every)
	build := d.Build
	d.Build = func(m *Machine) {
		build(m)
		m.Stranger(every, takes)
	}
}

// when draws what is recorded: mostly one window, long enough for some hundred visits.
func (d *draft) when() {
	length := int64(min(max(500*d.round, 0.25e9), 1.2e9))
	// As many samples a core as some seconds of a real recording have.
	d.Hardware.Period = length / pick[int64](d, 2000, 4000, 8000)
	begin := int64(30e6) + int64(d.Float64()*30e6)
	if d.Float64() > 0.15 {
		d.Windows = []Span{{begin, begin + length}}
		return
	}
	d.note("two windows")
	half := length / 2
	d.Windows = []Span{{begin, begin + half}, {begin + half*3/2, begin + 2*half}}
}

func (d *draft) note(format string, values ...any) {
	d.notes = append(d.notes, fmt.Sprintf(format, values...))
}

func (d Distribution) String() string {
	return fmt.Sprintf("%s±%s", short(d.Mean), []string{"0", "half", "exp", "peaks"}[d.Shape])
}

func short(ns int64) string {
	if ns < 1_000_000 {
		return fmt.Sprintf("%.3gus", float64(ns)/1e3)
	}
	return fmt.Sprintf("%.3gms", float64(ns)/1e6)
}

func pick[T any](d *draft, from ...T) T { return from[d.IntN(len(from))] }

// between draws a whole number; both ends are possible.
func (d *draft) between(low, high int) int { return low + d.IntN(high-low+1) }

func (d *draft) chance(p float64) bool { return d.Float64() < p }

// duration draws a distribution. Its mean lies between two values, as likely in each octave.
func (d *draft) duration(low, high float64) Distribution {
	return Distribution{
		Mean:  int64(low * math.Pow(high/low, d.Float64())),
		Shape: pick(d, Fixed, Uniform, Uniform, Exponential, TwoPeaks),
	}
}

// code is one piece of computing.
type code struct {
	kind int
	Distribution
}

func (c code) String() string { return fmt.Sprintf("%s %s", kindName(c.kind), c.Distribution) }

// code draws a new kind of code.
func (d *draft) code(low, high float64) code {
	d.Kinds++
	return code{d.Kinds - 1, d.duration(low, high)}
}

// codes draws some kinds of code.
func (d *draft) codes(n int, low, high float64) []code {
	all := make([]code, n)
	for i := range all {
		all[i] = d.code(low, high)
	}
	return all
}

func (t *Task) do(c code) { t.Compute(c.kind, c.Distribution) }

func (t *Task) doJob(c code, job uint64) { t.ComputeJob(c.kind, c.Distribution, job) }
