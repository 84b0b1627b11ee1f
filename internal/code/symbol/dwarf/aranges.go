package dwarf

import "math"

// unitRanges maps addresses to units. The first source is .debug_aranges, which is cheap, but only some
// compilers write it. For addresses that are not in it, the second source is the root entries of the
// units that are not in it.
type unitRanges struct {
	listed  owners
	offsets []uint64 // owner → offset of the unit

	mentioned map[uint64]bool // units in .debug_aranges, by offset
	rooted    bool            // the second source was read
	rest      owners
	restOff   []uint64
}

// The memory that is kept for a unit and for one of its ranges, in bytes.
const (
	setSize  = 64
	spanSize = 24 + 40
)

// unitFor returns the unit that contains an address, nil if none does.
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
	for c := at(data, 0, uint64(len(data))); c.more() && d.step(); {
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
		d.keepBytes(setSize)
		for set.more() && d.step() {
			low, size := set.sized(addrSize), set.sized(addrSize)
			if set.bad || low == 0 && size == 0 {
				break
			}
			if s := (Range{low, low + size}); d.live(s) {
				d.keepBytes(spanSize)
				spans = append(spans, span{s, owner})
			}
		}
		if d.stepsLeft < 0 || d.bytesLeft < 0 {
			// There is more than can be kept: the unit's root entry is read instead.
			delete(r.mentioned, unitOff)
		}
	}
	d.bytesLeft = maxKept // units have a limit of their own
	r.listed = flatten(spans)
	return r
}

// rootRanges adds the units that are not in .debug_aranges.
func (d *Data) rootRanges(r *unitRanges) {
	var spans []span
	for _, off := range d.scan(d.main, math.MaxUint64) {
		if !d.step() {
			break
		}
		d.keepBytes(setSize)
		if r.mentioned[off] {
			continue
		}
		u := d.main.unitAt(off)
		if u == nil || u.kind == unitType || u.kind == unitSplitType {
			continue
		}
		d.root(u)
		d.keepBytes(spanSize * len(u.ranges))
		for _, s := range u.ranges {
			spans = append(spans, span{s, int32(len(r.restOff))})
		}
		r.restOff = append(r.restOff, off)
	}
	r.rest = flatten(spans)
	d.bytesLeft = maxKept
}
