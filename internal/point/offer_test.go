package point

import (
	"slices"
	"testing"

	"whatif/internal/code/symbol"
)

type offering struct {
	probes []symbol.USDTProbe
	funcs  []string
	isGo   bool
}

func (o offering) IsGo() bool { return o.isGo }

func (o offering) USDTProbes() ([]symbol.USDTProbe, error) { return o.probes, nil }
func (o offering) Frames(uint64) ([]symbol.Frame, error) {
	return []symbol.Frame{{File: "/src/shop.c", Line: 7}}, nil
}
func (o offering) EachFunc(possible func(string) bool, visit func(symbol.Func, bool) bool) error {
	for _, f := range o.funcs {
		if possible(f) {
			visit(symbol.Func{Name: f, Symbol: f, Size: 1}, false)
		}
	}
	return nil
}

func TestOffers(t *testing.T) {
	o := offering{
		probes: []symbol.USDTProbe{
			{Provider: "a", Name: "x"}, {Provider: "a", Name: "y"}, {Provider: "a", Name: "y", Semaphore: 3},
		},
		funcs: []string{
			"main", "usage", "sqrt", "request_init", "request_done", "handleRequest", "__do_work_done",
			"shop::Cart::commit", "std::process", "main.(*Server).serveHTTP", "bad\x1bprocess", "parse_request_config",
		},
	}
	all, err := OffersOf(o)
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	probes := []Offer{{Spec: "usdt:a:x", Note: "1 site"}, {Spec: "usdt:a:y", Note: "2 sites, with a semaphore"}}
	if !slices.Equal(all[0].Offers, probes) {
		t.Errorf("%+v", all[0].Offers)
	}
	var specs []string
	for _, f := range all[1].Offers {
		specs = append(specs, f.Spec)
		if f.Note != "shop.c:7" {
			t.Errorf("%+v", f)
		}
	}
	want := []string{
		"func:request_done", "func:handleRequest", "func:shop::Cart::commit", "func:main.(*Server).serveHTTP",
		"func:request_init",
	}
	if !slices.Equal(specs, want) {
		t.Errorf("%q", specs)
	}
}

// In a Go program the handlers of its own come first; what the compiler made and the runtime are no work.
func TestOffersInGo(t *testing.T) {
	all, err := OffersOf(offering{isGo: true, funcs: []string{
		"type:.eq.net/http.http2FrameWriteRequest", "runtime.execute", "internal/poll.(*FD).eofError",
		"net/http.(*conn).serve",
		"main.main.handle.func1", "github.com/gin-gonic/gin.(*Engine).handleHTTPRequest", "main.price",
	}})
	if err != nil || len(all) != 2 {
		t.Fatal(all, err)
	}
	var specs []string
	for _, f := range all[1].Offers {
		specs = append(specs, f.Spec)
	}
	want := []string{
		"func:github.com/gin-gonic/gin.(*Engine).handleHTTPRequest", "func:main.main.handle.func1",
		"func:net/http.(*conn).serve",
	}
	if !slices.Equal(specs, want) {
		t.Errorf("%q", specs)
	}
}
