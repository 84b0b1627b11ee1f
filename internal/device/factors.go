package device

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"whatif/internal/hint"
)

// A Part is one measure that both devices have.
type Part struct {
	Name         string  `json:"name"`
	Host, Device Measure `json:"-"`
	// Ratio is the device's speed divided by the host's.
	Ratio float64 `json:"ratio"`
}

// A Factor is how much faster the device is than the host in one class.
type Factor struct {
	Class Class `json:"class"`
	// Ratio is the speed of the device divided by that of the host: the geometric mean of Parts.
	Ratio float64 `json:"ratio"`
	// Spread is what the spreads of the measures leave open of Ratio, 0.05 is +-5%.
	Spread float64 `json:"spread"`
	// Normalised is Ratio divided by the least ratio of all classes, at least 1: the speed of the class relative to
	// the class that is slowest there. Time on the device is virtual time divided by the least ratio.
	Normalised float64 `json:"normalised"`
	// SpeedUp is by how much of its time the class is to be made faster here, so that classes relate as there: 0 to 1.
	SpeedUp float64 `json:"speed_up"`
	Parts   []Part  `json:"parts,omitempty"`
}

// Factors are all classes of two devices.
type Factors struct {
	Host    string   `json:"host"`
	Device  string   `json:"device"`
	Cores   [2]int   `json:"cores"` // host, device; 0: not known
	Classes []Factor `json:"classes"`
	// Really are the classes that the program really had as they are on the device, with what was limited. Their ratio
	// is 1, as their time is that of the device already.
	Really map[Class]string `json:"really,omitempty"`
	// Missing are classes that the two cannot be compared in, with the reason. Their time stays as it is here.
	Missing  map[Class]string `json:"missing,omitempty"`
	Warnings []string         `json:"warnings,omitempty"`
}

// ways are, by class, the sets of measures that can stand for the class. The first set of which both devices have any
// counts. A program's processor time is that of a core, so cpu is measured on one core; caches belong to a core, too,
// and time in DRAM is what is left. Vendors publish the bandwidth of all channels, so without a figure for one core
// that of all counts.
func ways(c Class) [][]string {
	switch c {
	case CPU:
		return [][]string{{"cpu.integer.one", "cpu.float.one", "cpu.branch.one"}}
	case Memory:
		return [][]string{{"memory.latency.dram.one", "memory.bandwidth.dram.one"}, {"memory.bandwidth.dram.all"}}
	case Disk:
		return [][]string{{"disk.read.4k", "disk.write.4k", "disk.sync.4k",
			"disk.read.seq", "disk.write.seq", "disk.sync.seq"}}
	case Net:
		return [][]string{{"net.peer.rtt", "net.peer.bandwidth"}, {"net.loopback.rtt", "net.loopback.bandwidth"}}
	}
	return [][]string{{"wake.idle"}}
}

// unlike is by how much the parts of a class may differ before the class says so: the largest ratio divided by the
// smallest. VCoz's own six programs differ by 1.14 in the class that it calls cpu; twice that is no longer one speed.
const unlike = 1.3

// Compare gives the factors from the host to the device. The host must have measures.
func Compare(host, device *Device) (*Factors, error) {
	if host.Kind == ByHand {
		return nil, hint.New(fmt.Errorf("the first device, %s, has only ratios", host.Name),
			"ratios are to a device: give the device with measures first, then the ratios")
	}
	f := &Factors{Host: host.Name, Device: device.Name, Cores: [2]int{host.Cores, device.Cores},
		Missing: make(map[Class]string)}
	for _, c := range Classes() {
		factor, why := factorOf(c, host, device)
		if why != "" {
			f.Missing[c] = why
			continue
		}
		if err := checkRatio(c, factor.Ratio); err != nil {
			return nil, fmt.Errorf("comparing %s with %s: %w", host.Name, device.Name, err)
		}
		f.Classes = append(f.Classes, factor)
	}
	f.normalise()
	f.warn()
	return f, nil
}

func factorOf(c Class, host, device *Device) (f Factor, why string) {
	f.Class = c
	if device.Kind == ByHand {
		ratio, given := device.Ratios[c]
		if cpu := device.Ratios[CPU]; !given && c == Memory {
			ratio, given = cpu, cpu != 0
		}
		if !given {
			ratio = 1
		}
		f.Ratio = ratio
		return f, ""
	}
	for _, names := range ways(c) {
		for _, name := range names {
			h, ok := host.Measure(name)
			d, also := device.Measure(name)
			if ok && also {
				f.Parts = append(f.Parts, Part{Name: name, Host: h, Device: d, Ratio: d.Speed() / h.Speed()})
			}
		}
		if len(f.Parts) > 0 {
			break
		}
	}
	if len(f.Parts) == 0 {
		return f, missing(c, host, device)
	}
	var logs, variance float64
	for _, p := range f.Parts {
		logs += math.Log(p.Ratio)
		variance += p.Host.Spread*p.Host.Spread + p.Device.Spread*p.Device.Spread
	}
	n := float64(len(f.Parts))
	f.Ratio, f.Spread = math.Exp(logs/n), math.Sqrt(variance)/n
	return f, ""
}

func hasOf(d *Device, c Class) bool {
	return slices.ContainsFunc(d.Measures, func(m Measure) bool { return m.Class() == c })
}

// missing says why there is no ratio of a class.
func missing(c Class, host, device *Device) string {
	switch {
	case !hasOf(host, c) && !hasOf(device, c):
		return "neither has a measure of it"
	case !hasOf(host, c):
		return host.Name + " has no measure of it"
	case !hasOf(device, c):
		return device.Name + " has no measure of it"
	case c == Net:
		return "one has loopback only, the other a link only: measure with --peer"
	}
	return "they have no measure of it in common"
}

func (f *Factors) normalise() {
	least := math.Inf(1)
	for _, c := range f.Classes {
		least = min(least, c.Ratio)
	}
	for i := range f.Classes {
		c := &f.Classes[i]
		c.Normalised = c.Ratio / least
		c.SpeedUp = 1 - least/c.Ratio
	}
}

// Slowest is the class with the least ratio, which limits the others.
func (f *Factors) Slowest() Factor {
	return slices.MinFunc(f.Classes, func(a, b Factor) int {
		switch {
		case a.Ratio < b.Ratio:
			return -1
		case a.Ratio > b.Ratio:
			return 1
		}
		return 0
	})
}

// ends are the part with the least and the one with the largest ratio.
func (f Factor) ends() (least, most Part) {
	least, most = f.Parts[0], f.Parts[0]
	for _, p := range f.Parts {
		if p.Ratio < least.Ratio {
			least = p
		}
		if p.Ratio > most.Ratio {
			most = p
		}
	}
	return least, most
}

func (f *Factors) warn() {
	for _, c := range f.Classes {
		if len(c.Parts) > 1 {
			if least, most := c.ends(); most.Ratio > unlike*least.Ratio {
				f.Warnings = append(f.Warnings, fmt.Sprintf("%s is not one speed: from %.3g (%s) to %.3g (%s); "+
					"programs that do mostly one of them differ from the mean", c.Class, least.Ratio, short(least.Name),
					most.Ratio, short(most.Name)))
			}
		}
		if c.Spread > MostSpread {
			f.Warnings = append(f.Warnings, fmt.Sprintf("%s is known to +-%.0f%% only: measure again on quiet machines",
				c.Class, 100*c.Spread))
		}
	}
}

// CoresWarning says what ratios alone leave out, if the device has fewer cores; "": nothing.
func (f *Factors) CoresWarning() string {
	if h, d := f.Cores[0], f.Cores[1]; d > 0 && d < h {
		return fmt.Sprintf("%s has %d cores, %s %d: ratios say nothing of threads that wait for a core there",
			f.Device, d, f.Host, h)
	}
	return ""
}

// Without takes a class out of the factors: its time is not told apart. The reason is in the table.
func (f *Factors) Without(c Class, why string) {
	f.Classes = slices.DeleteFunc(f.Classes, func(x Factor) bool { return x.Class == c })
	f.Missing[c] = why
	f.renew()
}

// Set says that the program really has a class as it is on the device: nothing of it is left to be simulated.
func (f *Factors) Set(c Class, how string) {
	if f.Really == nil {
		f.Really = make(map[Class]string)
	}
	f.Really[c] = how
	delete(f.Missing, c)
	f.Classes = slices.DeleteFunc(f.Classes, func(x Factor) bool { return x.Class == c })
	f.Classes = append(f.Classes, Factor{Class: c, Ratio: 1})
	slices.SortFunc(f.Classes, func(a, b Factor) int {
		return cmp.Compare(slices.Index(Classes(), a.Class), slices.Index(Classes(), b.Class))
	})
	f.renew()
}

// renew computes what follows from the classes.
func (f *Factors) renew() {
	f.normalise()
	f.Warnings = nil
	f.warn()
}

// Same tells whether nothing differs between the two.
func (f *Factors) Same() bool {
	return len(f.Missing) == 0 && (f.Cores[1] == 0 || f.Cores[0] == f.Cores[1]) &&
		!slices.ContainsFunc(f.Classes, func(c Factor) bool { return c.Ratio != 1 })
}

// Of is the factor of a class; ok is false if there is none.
func (f *Factors) Of(c Class) (factor Factor, ok bool) {
	i := slices.IndexFunc(f.Classes, func(x Factor) bool { return x.Class == c })
	if i < 0 {
		return Factor{}, false
	}
	return f.Classes[i], true
}

// computedError is by how much the processor of a device may be off that is known by one score of a whole suite: see
// docs/devices.md.
const computedError = 0.2

// Unsure is by which part of itself the ratio may be off for one program. It has what the spreads leave open, and that
// a program may do mostly what one of the measures is about. A ratio given by hand is taken as it is.
func (f Factor) Unsure() float64 {
	if len(f.Parts) == 0 {
		return 0
	}
	spread := f.Spread
	for _, p := range f.Parts {
		if p.Host.Rounds == 0 || p.Device.Rounds == 0 {
			spread = max(spread, computedError)
		}
	}
	least, most := f.ends()
	return min(math.Hypot(spread, max(most.Ratio/f.Ratio, f.Ratio/least.Ratio)-1), mostRatio)
}

// short is a measure's name without its class.
func short(name string) string {
	_, rest, _ := strings.Cut(name, ".")
	return rest
}
