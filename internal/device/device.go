// Package device says how fast the resources of a machine are: a device file, and the database of such files.
//
// A Device has measures: speeds and latencies, each in a class of time (processor, memory, disk, network, waking).
// Only relative speeds matter to a causal profile (VCoz), so two devices are compared by the ratio of each class:
// see Compare. A device given by hand has the ratios themselves, and no measures.
//
// The package measures nothing: package measure does. It is pure apart from Store, which reads and writes files.
//
// The normal sequence: Store.Find for each of the two devices, then Compare, then Factors.Text.
package device

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/hint"
	"whatif/internal/spelling"
)

// Format and Version begin every device file. The version changes when a field or a measure is renamed or gets another
// meaning, or when a loop of package measure changes, so that its figures cannot be compared; not when one is added.
const (
	Format  = "whatif-device"
	Version = 1
)

// Schema is the JSON Schema (2020-12) of a device file.
//
//go:embed schema.json
var Schema []byte

// A Class is a kind of time that a program spends.
type Class string

// The classes, in the order of tables.
const (
	CPU    Class = "cpu"
	Memory Class = "memory"
	Disk   Class = "disk"
	Net    Class = "net"
	Wake   Class = "wake"
)

// Classes lists all classes.
func Classes() []Class { return []Class{CPU, Memory, Disk, Net, Wake} }

// Kind says where a device's figures come from.
type Kind string

// The kinds.
const (
	Measured Kind = "measured" // by whatif device, on the device
	Computed Kind = "computed" // from public figures
	ByHand   Kind = "given"    // ratios to the host, from a command line
)

// A Unit is that of a measure's value.
type Unit string

// The units. Of Seconds less is faster, of the others more.
const (
	Operations Unit = "1/s"
	Bytes      Unit = "B/s"
	Seconds    Unit = "s"
)

// A Measure is one figure of a device.
type Measure struct {
	Name  string  `json:"name"`
	Unit  Unit    `json:"unit"`
	Value float64 `json:"value"`
	// Spread is the longer side of the range of all rounds but the two outermost, divided by Value: 0.05 is +-5%.
	// Without rounds it is 0: unknown.
	Spread float64 `json:"spread"`
	// Rounds is the number of times that it was measured, over the whole time.
	Rounds int `json:"rounds,omitempty"`
	// Source is the origin of a figure that was not measured.
	Source string `json:"source,omitempty"`
}

// Class is the class of a measure, the first word of its name.
func (m Measure) Class() Class {
	class, _, _ := strings.Cut(m.Name, ".")
	return Class(class)
}

// Speed is a number of which more is faster.
func (m Measure) Speed() float64 {
	if m.Unit == Seconds {
		return 1 / m.Value
	}
	return m.Value
}

// A Machine is what a device file says of the device besides its speed.
type Machine struct {
	Arch      string `json:"arch"`
	Processor string `json:"processor,omitempty"`
	Kernel    string `json:"kernel,omitempty"`
	// Caches are sizes in bytes by level, "l1", "l2" and "l3", as the kernel gives them.
	Caches map[string]int64 `json:"caches,omitempty"`
}

// A Device is a device file.
type Device struct {
	Format   string    `json:"format"`
	Version  int       `json:"version"`
	Name     string    `json:"name"`
	Kind     Kind      `json:"kind"`
	Made     string    `json:"made,omitempty"` // RFC 3339
	Machine  Machine   `json:"machine"`
	Cores    int       `json:"cores"`
	Measures []Measure `json:"measures"`
	Warnings []string  `json:"warnings,omitempty"`
	// Ratios, of a device given by hand, are its speeds divided by those of the host.
	Ratios map[Class]float64 `json:"-"`
}

// Measure returns the measure with a name.
func (d *Device) Measure(name string) (Measure, bool) {
	for _, m := range d.Measures {
		if m.Name == name {
			return m, true
		}
	}
	return Measure{}, false
}

// MostBytes is the size of the largest device file that is read. A real one has some 10 kB.
const MostBytes = 1 << 20

const measureAgain = "measure it again with this whatif: whatif device -o FILE"

// Parse reads a device file. Fields that it does not know are ignored, as later versions add some.
func Parse(text []byte) (*Device, error) {
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(text, &head); err != nil || head.Format != Format {
		return nil, hint.New(errors.New("it is no device file"),
			"whatif device -o FILE writes one; whatif device list has those that are there")
	}
	if head.Version != Version {
		remedy := measureAgain
		if head.Version > Version {
			remedy = "use the whatif that wrote it, or a newer one; or " + measureAgain
		}
		return nil, hint.New(fmt.Errorf("it has version %d, this whatif reads %d", head.Version, Version), remedy)
	}
	d := &Device{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, hint.New(fmt.Errorf("it is damaged: %w", err), measureAgain)
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return d, nil
}

// check finds what makes a device useless.
func (d *Device) check() error {
	if err := CheckName(d.Name); err != nil {
		return err
	}
	if d.Kind != Measured && d.Kind != Computed {
		return hint.New(fmt.Errorf("its kind is %q", d.Kind), `write "measured" or "computed" as its kind`)
	}
	if d.Cores < 1 || d.Cores > 1<<16 {
		return hint.New(fmt.Errorf("it has %d cores", d.Cores), measureAgain)
	}
	seen := make(map[string]bool)
	for _, m := range d.Measures {
		want, known := UnitOf(m.Name)
		switch {
		case seen[m.Name]:
			return hint.New(fmt.Errorf("it has %s twice", m.Name), "delete one of the two")
		case known && m.Unit != want:
			return hint.New(fmt.Errorf("%s is in %q, not in %q", m.Name, m.Unit, want), measureAgain)
		case !(m.Value > 0) || math.IsInf(m.Value, 0):
			return hint.New(fmt.Errorf("%s is %v, which is no speed", m.Name, m.Value), measureAgain)
		case !(m.Spread >= 0 && m.Spread <= mostRatio): // it may be large: some machines are busy
			return hint.New(fmt.Errorf("%s has the spread %v", m.Name, m.Spread), measureAgain)
		}
		seen[m.Name] = true
	}
	if !slices.ContainsFunc(d.Measures, func(m Measure) bool { return m.Class() == CPU }) {
		return hint.New(errors.New("it has no measure of the class cpu"), measureAgain)
	}
	return nil
}

// CheckName refuses names that would not be file names, or would be taken for something else on a command line.
func CheckName(name string) error {
	ok := name != "" && len(name) <= 64 && name[0] != '.' && name[0] != '-'
	for _, r := range name {
		ok = ok && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	}
	if !ok {
		return hint.New(fmt.Errorf("%q is no name of a device", name),
			"a name has letters, digits and - _ . in it, at most 64, and begins with a letter or digit")
	}
	return nil
}

// Write writes the device file.
func (d *Device) Write(w io.Writer) error {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return fmt.Errorf("writing a device file: %w", err)
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		return fmt.Errorf("writing a device file: %w", err)
	}
	return nil
}

// aliases are other words for classes on the command line.
var aliases = map[string]Class{"mem": Memory, "network": Net}

// mostRatio is the largest ratio of speeds that is believed, and its inverse the smallest. Between the machines on
// which Linux runs there are three orders of magnitude; a larger ratio is a slip, such as percent.
const mostRatio = 1000

const byHandForm = "write speeds relative to this machine, as in cpu=0.43,net=0.18: half as fast is 0.5"

// IsByHand tells whether a word on the command line gives ratios, rather than a name or a file.
func IsByHand(word string) bool { return strings.Contains(word, "=") && !strings.Contains(word, "/") }

// ParseByHand reads a device given by hand: CLASS=RATIO, separated by commas. Classes that are not given have ratio 1,
// but memory that of cpu.
func ParseByHand(text string) (*Device, error) {
	d := &Device{Format: Format, Version: Version, Name: "by-hand", Kind: ByHand, Ratios: make(map[Class]float64)}
	for _, part := range strings.Split(text, ",") {
		word, number, _ := strings.Cut(part, "=")
		word = strings.TrimSpace(word)
		class := Class(word)
		if other := aliases[word]; other != "" {
			class = other
		}
		if !slices.Contains(Classes(), class) {
			return nil, hint.New(fmt.Errorf("%q is no class of time", word), "the classes are "+classNames()+meant(word))
		}
		if _, twice := d.Ratios[class]; twice {
			return nil, hint.New(fmt.Errorf("%s is given twice", class), byHandForm)
		}
		ratio, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return nil, hint.New(fmt.Errorf("%q is no ratio", part), byHandForm)
		}
		if err := checkRatio(class, ratio); err != nil {
			return nil, err
		}
		d.Ratios[class] = ratio
	}
	return d, nil
}

func checkRatio(class Class, ratio float64) error {
	if !(ratio >= 1./mostRatio && ratio <= mostRatio) {
		return hint.New(fmt.Errorf("%s: %.6g is an impossible ratio: it is not between 1/%d and %d",
			class, ratio, mostRatio, mostRatio), byHandForm)
	}
	return nil
}

func classNames() string {
	var names []string
	for _, c := range Classes() {
		names = append(names, string(c))
	}
	return strings.Join(names, ", ")
}

// meant finds the class that a misspelt word may mean.
func meant(word string) string {
	for _, c := range Classes() {
		if spelling.Distance(word, string(c), 2) <= 2 && len(word) > 2 {
			return "; did you mean " + string(c) + "?"
		}
	}
	return ""
}
