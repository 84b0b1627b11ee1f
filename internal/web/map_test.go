package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"whatif/internal/profile"
)

// TestMap: the map is beside the table, has a link for each unit, and can be used without a pointer.
func TestMap(t *testing.T) {
	b := at(t, served(t, estimatedPage(world{latency: true})), size(1400, 900))
	press := func(key string) { b.do(chromedp.KeyEvent(key)) }
	at := func(unit string) {
		b.Helper()
		b.until(fmt.Sprintf(`document.activeElement.matches('#map a.spot') &&
			document.activeElement.getAttribute('aria-label').startsWith(%q)`, unit+":"))
	}
	press("m")
	b.until(`document.querySelector('#map').checkVisibility() && !document.querySelector('#units').checkVisibility()`)
	if n := value[int](b, `document.querySelectorAll('#map svg[role=group] a.spot[href][aria-label]').length`); n != 5 {
		t.Errorf("%d spots", n) // wait:cpu has no gain, and checksum was tried too seldom
	}
	s := value[string](b, `document.querySelector("#map svg").textContent`)
	if !strings.Contains(s, "what a profiler would expect") || !strings.Contains(s, "index.c:9") {
		t.Errorf("on the map: %q", s)
	}
	// One stop for Tab; from there by share and by gain.
	if n := value[int](b, `document.querySelectorAll('#map a.spot[tabindex="0"]').length`); n != 1 {
		t.Errorf("Tab stops at %d spots", n)
	}
	b.run(`void document.querySelector('#map a.spot[tabindex="0"]').focus()`)
	at("parse.c:18")
	press(kb.ArrowLeft)
	at("spin.c:7")
	press(kb.ArrowLeft)
	at("parse.c:30")
	press(kb.ArrowUp) // by gain
	at("index.c:9")
	if s := b.text("#map .says"); s != "index.c:9: 8.0% of the time, gain 14.8% (11.7 to 18.0), estimated" {
		t.Errorf("the cross says %q", s)
	}
	press("\r")
	b.detail("index.c:9")
	b.until(`document.querySelector('#map a[aria-current]').getAttribute('aria-label').startsWith('index.c:9')`)
	// What is filtered out stays as a shadow, and a link to the map shows the map.
	b.enter("#search", "parse")
	b.until(`[...document.querySelectorAll('#map a.spot:not(.dim)')].length === 2`)
	b.click("#clear")
	link := value[string](b, `location.href`)
	if !strings.Contains(link, "show=map") {
		t.Errorf("link %s", link)
	}
	b.look("latency:put")
	b.until(`document.querySelector('#map figcaption').innerText.startsWith('Less mean latency')`)
	b.click("#as-table")
	b.until(`document.querySelector('#units').checkVisibility() && !document.querySelector('#map').checkVisibility()`)
}

// TestMapOnPhone: the map fits, and a finger on a circle leads to the unit and back.
func TestMapOnPhone(t *testing.T) {
	b := at(t, served(t, pageOf(world{units: 300, experiments: 4000}.made()))+"#show=map", size(390, 844))
	b.until(`document.querySelector('#map').checkVisibility()`)
	narrow(b, "the map")
	b.run(`void document.querySelector('#map a.spot[aria-label^="spin.c:7"]')
		.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))`)
	b.detail("spin.c:7")
	narrow(b, "the detail")
	b.click("#detail .back")
	b.until(`document.querySelector('#map').checkVisibility() &&
		document.activeElement.getAttribute('aria-label').startsWith('spin.c:7')`)
}

// TestSuppose: the control below a curve, and the pointer, tell the gain at any speed-up.
func TestSuppose(t *testing.T) {
	d := world{latency: true}.made()
	d.Experiments = slices.DeleteFunc(d.Experiments,
		func(e profile.Experiment) bool { return e.Unit == 3 && e.Speedup > 50 })
	b := at(t, served(t, pageOf(d)), size(1400, 900))
	b.detail("parse.c:18")
	says := func(want string) {
		b.Helper()
		b.until(fmt.Sprintf(`document.querySelector('#detail .says').innerText.startsWith(%q) &&
			document.querySelector('#detail .suppose').getAttribute('aria-valuetext').startsWith(%[1]q)`, want))
	}
	says("At 50%: 29.9% less time per visit")
	b.run(`void document.querySelector('#detail .suppose').focus()`)
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	says("At 51%: 30.5% less time per visit")
	b.run(`(svg => { const r = svg.getBoundingClientRect(), k = r.width / svg.viewBox.baseVal.width;
		svg.dispatchEvent(new PointerEvent('pointermove', { clientX: r.left + 147 * k, clientY: r.top + 50 })); })(
		document.querySelector('#detail .of-curve svg'))`)
	says("At 27%: 16.")
	// The choice stays when another unit is looked at; where nothing was tried it says so.
	b.click(`tr[data-unit="parse.c:30"]`)
	b.detail("parse.c:30")
	says("At 27%: 0.1% less")
	b.run(`(e => { e.value = 80; e.dispatchEvent(new Event('input')); })(document.querySelector('#detail .suppose'))`)
	says("At 80%: not tried")
	// Too few experiments have no curve.
	b.click(`tr[data-unit="checksum"]`)
	b.detail("checksum")
	if s := b.text("#detail"); strings.Contains(s, "At 80%") || !strings.Contains(s, "an interval needs 3") {
		t.Errorf("too few experiments: %q", s)
	}
	// All curves of a latency move together.
	b.look("latency:put")
	b.click(`tr[data-unit="parse.c:18"]`)
	b.until(`document.querySelectorAll('#detail .says').length === 4 &&
		[...document.querySelectorAll('#detail .says')].every(e => /^At 80%: 4\d/.test(e.innerText))`)
	if s := b.text("#detail .of-curve"); strings.Contains(s, "profiler") {
		t.Errorf("a profiler says nothing of a latency: %q", s)
	}
}
