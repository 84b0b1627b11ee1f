package simulate

// The events of a run are a binary heap, the first one at its top. Events at the same time happen in the order in which
// they were made, so that a run always comes out the same. Written out, as container/heap costs twice the time.

func (e *event) before(o *event) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// push adds an event.
func (r *run) push(e event) {
	r.seq++
	e.seq = r.seq
	h := append(r.heap, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !e.before(&h[up]) {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	r.heap = h
}

// pop takes the first event.
func (r *run) pop() event {
	h := r.heap
	first := h[0]
	n := len(h) - 1
	e := h[n]
	h = h[:n]
	i := 0
	for {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && h[k+1].before(&h[k]) {
			k++
		}
		if !h[k].before(&e) {
			break
		}
		h[i] = h[k]
		i = k
	}
	if n > 0 {
		h[i] = e
	}
	r.heap = h
	return first
}
