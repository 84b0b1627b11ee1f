package device

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// MostSpread is the spread from which a figure is doubted.
const MostSpread = 0.05

// Text writes the table of a device.
func (d *Device) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", d.Name, d.Kind)
	if d.Made != "" {
		fmt.Fprintf(&b, " %s", d.Made)
	}
	for _, word := range []string{d.Machine.Processor, d.Machine.Arch, d.Machine.Kernel} {
		if word != "" {
			fmt.Fprintf(&b, ", %s", word)
		}
	}
	fmt.Fprintf(&b, ", %s\n\n", plural(d.Cores, "core"))
	rows := [][]string{{"measure", "value", "spread", ""}}
	var sources []string
	for _, m := range d.Measures {
		mark, spread := "", "unknown"
		if m.Rounds > 0 {
			spread = fmt.Sprintf("+-%.1f%%", 100*m.Spread)
		}
		if m.Spread > MostSpread {
			mark = "!"
		}
		if m.Source != "" {
			if !slices.Contains(sources, m.Source) {
				sources = append(sources, m.Source)
			}
			mark += fmt.Sprintf("[%d]", 1+slices.Index(sources, m.Source))
		}
		rows = append(rows, []string{m.Name, Quantity(m.Value, m.Unit), spread, mark})
	}
	table(&b, rows, []bool{false, true, true, false})
	for i, s := range sources {
		fmt.Fprintf(&b, "\n[%d] %s", i+1, s)
	}
	if len(sources) > 0 {
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Text writes the table of factors, and what limits.
func (f *Factors) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "host %s, device %s\n\n", f.Host, f.Device)
	rows := [][]string{{"class", "measure", f.Host, f.Device, "ratio", "", "normalised", "faster by"}}
	for _, c := range f.Classes {
		open := ""
		if c.Spread > 0 {
			open = fmt.Sprintf("+-%.1f%%", 100*c.Spread)
		}
		rows = append(rows, []string{string(c.Class), "", "", "", number(c.Ratio), open, number(c.Normalised),
			fmt.Sprintf("%.0f%%", 100*c.SpeedUp)})
		if how := f.Really[c.Class]; how != "" {
			rows = append(rows, []string{"", "really set: " + how})
		}
		for _, p := range c.Parts {
			rows = append(rows, []string{"", short(p.Name), Quantity(p.Host.Value, p.Host.Unit),
				Quantity(p.Device.Value, p.Device.Unit), number(p.Ratio), "", "", ""})
		}
	}
	for _, c := range Classes() {
		if why := f.Missing[c]; why != "" {
			rows = append(rows, []string{string(c), "not compared: " + why})
		}
	}
	if h, d := f.Cores[0], f.Cores[1]; h > 0 && d > 0 {
		rows = append(rows, []string{"cores", "", strconv.Itoa(h), strconv.Itoa(d), "", "", "", ""})
	}
	table(&b, rows, []bool{false, false, true, true, true, true, true, true})
	if len(f.Classes) > 0 {
		s := f.Slowest()
		fmt.Fprintf(&b, "\nlimited by %s: the other classes are faster relative to it. "+
			"Time there is virtual time here times %s.\n", s.Class, number(1/s.Ratio))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func number(x float64) string {
	if x >= 99.95 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'f', max(2, 2-exponent(x)), 64)
}

// exponent is the decimal exponent of x, at most 0.
func exponent(x float64) (e int) {
	for ; x < 0.0995 && e > -9; e-- {
		x *= 10
	}
	return e
}

// Quantity writes a value with three digits and a prefix: 12.3 GB/s, 95.0 ns.
func Quantity(value float64, unit Unit) string {
	prefixes := []struct {
		factor float64
		name   string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "µ"}, {1e-9, "n"}}
	for _, p := range prefixes {
		if p.factor < 1 && unit != Seconds {
			break
		}
		// Half a unit of the third digit below the prefix is rounded up to it.
		if x := value / p.factor; x >= 0.9995 && (unit != Seconds || p.factor <= 1) {
			digits := 2
			for y := 9.995; x >= y && digits > 0; y *= 10 {
				digits--
			}
			name := p.name + string(unit)
			if unit == Operations {
				name = p.name + "/s"
			}
			return strconv.FormatFloat(x, 'f', digits, 64) + " " + name
		}
	}
	return strconv.FormatFloat(value, 'g', 3, 64) + " " + strings.TrimPrefix(string(unit), "1")
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// table writes rows in columns; right: the column is aligned to the right. A row with fewer columns has no width.
func table(b *strings.Builder, rows [][]string, right []bool) {
	widths := make([]int, len(right))
	for _, row := range rows {
		if len(row) < len(right) {
			widths[0] = max(widths[0], len([]rune(row[0])))
			continue
		}
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", max(0, widths[i]-len([]rune(cell))))
			if right[i] && len(row) == len(right) {
				line.WriteString(pad + cell + "  ")
			} else {
				line.WriteString(cell + pad + "  ")
			}
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}
