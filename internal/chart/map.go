package chart

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"

	"whatif/internal/analyze"
)

// Spot is a unit on a map: the part of the time that it takes, and what the program would gain.
type Spot struct {
	Name    string
	Share   float64 // percent
	Gain    analyze.Estimate
	Verdict analyze.Verdict
	// Estimated says that the gain is from a recording, not from experiments.
	Estimated bool
	// IsBound says that the true gain may be anything from 0 up to the interval's end.
	IsBound bool
	// Link is where the spot leads to, for pages; "" for none.
	Link string
}

// Map is share against gain: on the line is what a profile lets one expect, far below it what is not worth the work.
type Map struct {
	Heading string
	Speedup int // percent, of all units
	Spots   []Spot
}

// MapSheet is an SVG file of maps.
type MapSheet struct {
	Title string
	Notes []string
	Maps  []Map
	Width float64 // of a map
}

// Write writes the whole SVG file.
func (s *MapSheet) Write(w io.Writer) error {
	wide, high := s.Width+2*gap, s.Width*0.62
	var d drawing
	y := d.head(s.Title, s.Notes, wide)
	for i := range s.Maps {
		m := &s.Maps[i]
		y += gap + 8
		d.text(gap, y, "name", "start", cut(m.Heading, letters(wide-2*gap, 12.5)))
		y += 10
		d.add(`<svg x="%s" y="%s" width="%s" height="%s">%s</svg>`, num(gap), num(y), num(s.Width), num(high),
			m.Draw(s.Width, high))
		y += high
	}
	return d.writeFile(w, s.Title, wide, y+gap)
}

// Draw draws the map. Each spot has its interval, and its name as far as there is room. If spots are links, screen
// readers see each of them instead of one picture.
func (m *Map) Draw(w, h float64) string {
	var d drawing
	if slices.ContainsFunc(m.Spots, func(s Spot) bool { return s.Link != "" }) {
		d.openWith("chart map", w, h, "group", m.title(), "")
	} else {
		d.open("chart map", w, h, m.words())
	}
	spots := slices.DeleteFunc(slices.Clone(m.Spots), func(s Spot) bool { return !shown(s.Gain) || !finite(s.Share) })
	slices.SortStableFunc(spots, func(a, b Spot) int { return cmp.Compare(b.Gain.Value, a.Gain.Value) })
	const left, right, top, bottom = 40, 20, 10, 34
	x, y := m.axes(spots)
	x.from, x.to, y.from, y.to = left, w-right, h-bottom, top
	d.mapFrame(x, y, h)
	part := float64(m.Speedup) / 100
	until := min(x.hi, y.hi/part)
	percent, name := expectedPlace(x, y, until, until*part, spots)
	d.expected(x, y, until, until*part, percent, false)
	taken := []box{name}
	for _, s := range spots {
		taken = append(taken, box{x.at(s.Share) - 4, y.at(s.Gain.Value) - 4, x.at(s.Share) + 4, y.at(s.Gain.Value) + 4})
	}
	for _, s := range spots {
		taken = d.spot(s, x, y, taken)
	}
	if len(spots) == 0 {
		d.text((x.from+x.to)/2, (y.from+y.to)/2, "", "middle", "no estimate")
	}
	d.WriteString("</svg>")
	return d.String()
}

// expectedPlace is where on its line the name of the expectation is in the way of the fewest spots, in percent of the
// line, and the box that it takes there.
func expectedPlace(x, y axis, toX, toY float64, spots []Spot) (percent float64, place box) {
	const long = 150 // pixels
	steep := math.Atan2(y.at(0)-y.at(toY), x.at(toX)-x.at(0))
	fewest := math.MaxInt
	for _, p := range []float64{98, 75, 55} {
		endX, endY := x.at(toX*p/100), y.at(toY*p/100)
		b := box{endX - long*math.Cos(steep), endY, endX, endY + long*math.Sin(steep) + 20}
		n := 0
		for _, s := range spots {
			cx, cy := x.at(s.Share), y.at(s.Gain.Value)
			if b.meets(box{cx - 10, cy - 10, cx + 10, cy + 10}) {
				n++
			}
		}
		if n < fewest {
			fewest, percent, place = n, p, b
		}
	}
	return percent, place
}

// axes are the ranges of shares and gains.
func (m *Map) axes(spots []Spot) (x, y axis) {
	const least = 10 // percent, of either range
	x.hi, y.hi = least, least
	for _, s := range spots {
		x.hi = max(x.hi, s.Share*1.08)
		y.lo, y.hi = min(y.lo, s.Gain.Value*1.15), max(y.hi, s.Gain.Value*1.15)
		if s.Gain.Bounded {
			y.lo, y.hi = min(y.lo, max(s.Gain.Low, -100)), max(y.hi, min(s.Gain.High, 100))
		}
	}
	return axis{lo: 0, hi: min(100, x.hi)}, y
}

func (d *drawing) mapFrame(x, y axis, h float64) {
	grid := ""
	for _, v := range y.ticks(5) {
		grid += "M" + num(x.from) + " " + num(y.at(v)) + "H" + num(x.to)
		d.text(x.from-6, y.at(v)+4, "", "end", tick(v)+"%")
	}
	for _, v := range x.ticks(6) {
		grid += "M" + num(x.at(v)) + " " + num(y.from) + "V" + num(y.to)
		d.text(x.at(v), y.from+14, "", "middle", tick(v)+"%")
	}
	d.path("grid", grid)
	d.path("axis", "M"+num(x.from)+" "+num(y.at(0))+"H"+num(x.to))
	d.text((x.from+x.to)/2, h-5, "", "middle", "share of the time: what a profiler shows")
}

// box is where something is drawn already.
type box struct{ left, top, right, bottom float64 }

func (b box) meets(o box) bool {
	return b.left < o.right && o.left < b.right && b.top < o.bottom && o.top < b.bottom
}

// spot draws one unit. Its name stands beside it, or above or below, where nothing else stands.
func (d *drawing) spot(s Spot, x, y axis, taken []box) []box {
	cx, cy := x.at(s.Share), y.at(s.Gain.Value)
	words := s.words()
	class, mark, end := "spot "+string(s.Verdict), "mark", "</g>"
	if s.Estimated {
		mark = "mark open"
	}
	if s.Link == "" {
		d.add(`<g class="%s">`, class)
	} else {
		end = "</a>"
		d.add(`<a class="%s" href="%s" aria-label="%s">`, class, html.EscapeString(s.Link), html.EscapeString(words))
		d.add(`<circle class="reach" cx="%s" cy="%s" r="11"/>`, num(cx), num(cy)) // for fingers
	}
	if s.Gain.Bounded {
		d.path("raw", "M"+num(cx)+" "+num(y.at(y.inside(s.Gain.Low)))+"V"+num(y.at(y.inside(s.Gain.High))))
	}
	d.add(`<circle class="%s" cx="%s" cy="%s" r="4"><title>%s</title></circle>`, mark, num(cx), num(cy),
		html.EscapeString(words))
	d.WriteString(end)
	width := 0.56 * 12.5 * float64(len([]rune(s.Name)))
	for _, at := range []struct {
		x, y   float64
		anchor string
	}{{cx + 8, cy + 4, "start"}, {cx - 8, cy + 4, "end"}, {cx + 8, cy - 8, "start"}, {cx + 8, cy + 16, "start"},
		{cx - 8, cy - 8, "end"}, {cx - 8, cy + 16, "end"}} {
		b := box{at.x, at.y - 11, at.x + width, at.y + 2}
		if at.anchor == "end" {
			b.left, b.right = at.x-width, at.x
		}
		if b.left < x.from || b.right > x.to+20 || b.top < y.to-10 || b.bottom > y.from ||
			slices.ContainsFunc(taken, b.meets) {
			continue
		}
		d.text(at.x, at.y, "name", at.anchor, s.Name)
		return append(taken, b)
	}
	return taken
}

// words describes a spot.
func (s *Spot) words() string {
	gain := "gain " + figure(s.Gain.Value)
	if s.IsBound && s.Gain.Bounded {
		gain = "gain at most " + figure(s.Gain.High)
	}
	text := fmt.Sprintf("%s: %s%% of the time, %s%%", s.Name, figure(s.Share), gain)
	if !s.IsBound && s.Gain.Bounded {
		text += " (" + figure(s.Gain.Low) + " to " + figure(s.Gain.High) + ")"
	}
	if s.Estimated {
		text += ", estimated"
	}
	return text
}

func (m *Map) title() string {
	return fmt.Sprintf("share of the time against the gain if code were %d%% faster", m.Speedup)
}

// words says what the map shows.
func (m *Map) words() string {
	text := m.title()
	for i := range m.Spots {
		if shown(m.Spots[i].Gain) {
			text += "; " + m.Spots[i].words()
		}
	}
	return text
}
