package dwarf

import "math"

// unitRanges says which unit an address lies in. Two sources: .debug_aranges,
// cheap but written by some compilers only; then, for addresses that it does
// not know, the root entries of the units that it does not mention.
type unitRanges struct {
	listed  owners
	offsets []uint64 // owner → offset of the unit

	mentioned map[uint64]bool
	rooted    bool
	rest      owners
	restOff   []uint64
}

// What is kept of a unit's ranges, in bytes: what says which unit it is; a span, which is painted.
const (
	setSize  = 64
	spanSize = 24 + 40
)

// unitFor finds the unit that holds an address.
func (d *Data) unitFor(pc uint64) *unit {
	if d.byRange == nil {
		d.byRange = d.aranges()
	}
	r := d.byRange
	if i, _ := r.listed.find(pc); i >= 0 {
		return d.main.unitAt(r.offsets[i])
	}
	if !r.rooted {
		r.rooted = true
		d.rootRanges(r)
	}
	if i, _ := r.rest.find(pc); i >= 0 {
		return d.main.unitAt(r.restOff[i])
	}
	return nil
}

// aranges reads .debug_aranges.
func (d *Data) aranges() *unitRanges {
	r := &unitRanges{mentioned: map[uint64]bool{}}
	data := d.main.section("aranges")
	var spans []span
	for c := at(data, 0, uint64(len(data))); c.more() && d.burn(); {
		start := c.off
		n, is64 := c.length()
		if c.bad || n > c.left() {
			break
		}
		set := at(data, c.off, c.off+n)
		c.skip(n)
		version, unitOff := set.u16(), set.offset(is64)
		addrSize, segSize := int(set.u8()), set.u8()
		if set.bad || version != 2 || addrSize != 4 && addrSize != 8 || segSize != 0 {
			continue
		}
		// The first pair is aligned to its own size.
		if over := (set.off - start) % uint64(2*addrSize); over != 0 {
			set.skip(uint64(2*addrSize) - over)
		}
		r.mentioned[unitOff] = true
		owner := int32(len(r.offsets))
		r.offsets = append(r.offsets, unitOff)
		d.took(setSize)
		for set.more() && d.burn() {
			low, size := set.sized(addrSize), set.sized(addrSize)
			if set.bad || low == 0 && size == 0 {
				break
			}
			if s := (Range{low, low + size}); d.live(s) {
				d.took(spanSize)
				spans = append(spans, span{s, owner})
			}
		}
		if d.fuel < 0 || d.room < 0 {
			// There is more than can be kept: its unit has to say itself where it is.
			delete(r.mentioned, unitOff)
		}
	}
	d.room = maxRoom // it is kept apart from what is read of units
	r.listed = paint(spans)
	return r
}

// rootRanges fills in the units that .debug_aranges left out.
func (d *Data) rootRanges(r *unitRanges) {
	var spans []span
	for _, off := range d.scan(d.main, math.MaxUint64) {
		if !d.burn() {
			break
		}
		d.took(setSize)
		if r.mentioned[off] {
			continue
		}
		u := d.main.unitAt(off)
		if u == nil || u.kind == unitType || u.kind == unitSplitType {
			continue
		}
		d.root(u)
		d.took(spanSize * len(u.ranges))
		for _, s := range u.ranges {
			spans = append(spans, span{s, int32(len(r.restOff))})
		}
		r.restOff = append(r.restOff, off)
	}
	r.rest = paint(spans)
	d.room = maxRoom
}
