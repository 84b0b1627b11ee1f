package analyze

// The verdict on an effect, by the first rule that holds. "Surely" is "with the
// whole 95% interval".
//
//  1. unsure: no interval is known.
//  2. none: at every level the gain is surely within ±margin.
//  3. faster: the slope is surely positive, and the largest gain of the curve is
//     at least half of the margin.
//  4. slower: the slope is surely negative, and the largest loss is at least half
//     of the margin.
//  5. faster, or slower: the slope is neither, but the gain (the loss) at some
//     level is sure with the interval that holds at all levels together
//     (Bonferroni); the curve bends. If there are both, the slope's sign decides.
//  6. unsure.
//
// The slope comes first because it is one number: with an interval for each of 20
// levels, some level would be wrong in many curves. Nothing here corrects for the
// number of units; a list of a hundred lines without effect has two or three that
// seem to have one.
func verdict(e *Effect, margin float64) Verdict {
	if !e.Slope.Bounded {
		return Unsure
	}
	if within(e, margin) {
		return None
	}
	least, most := e.extremes()
	switch {
	case e.Slope.Low > 0 && most >= margin/2:
		return Faster
	case e.Slope.High < 0 && least <= -margin/2:
		return Slower
	}
	up, down := e.sureLevels()
	switch {
	case up && down:
		if e.Slope.Value < 0 {
			return Slower
		}
		return Faster
	case up:
		return Faster
	case down:
		return Slower
	}
	return Unsure
}

// within says that the whole curve is surely within ±margin.
func within(e *Effect, margin float64) bool {
	for _, l := range e.Curve {
		if !l.Gain.Bounded || l.Gain.Low < -margin || l.Gain.High > margin {
			return false
		}
	}
	return true
}

// extremes are the least and the largest gain of the curve; the origin is on it.
func (e *Effect) extremes() (least, most float64) {
	for _, l := range e.Curve {
		if l.Gain.Known {
			least, most = min(least, l.Gain.Value), max(most, l.Gain.Value)
		}
	}
	return least, most
}

// sureLevels says whether some level surely gains, and whether some surely loses,
// with an interval for all levels together.
func (e *Effect) sureLevels() (up, down bool) {
	n := 0
	for _, l := range e.Curve {
		if l.doubt.noise > 0 {
			n++
		}
	}
	for _, l := range e.Curve {
		if l.doubt.noise <= 0 || !l.Gain.Bounded {
			continue
		}
		h := l.doubt.half(alpha / float64(n))
		up = up || l.Gain.Value > h
		down = down || l.Gain.Value < -h
	}
	return up, down
}
