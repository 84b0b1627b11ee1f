package ledger

import (
	"testing"

	"whatif/bpf"
)

// Each reason has a name of its own.
func TestReasons(t *testing.T) {
	names := map[string]bool{}
	for why := bpf.LedgerWhyWHY_UNCOUNTED + 1; why < bpf.LedgerWhyWHY_MAX; why++ {
		if name := reasons[why]; name == "" || names[name] {
			t.Errorf("reason %d is called %q", why, name)
		}
		names[reasons[why]] = true
	}
	var c Changes
	c[bpf.LedgerWhyWHY_STOPPED] = 7
	if got := c.ByReason(); len(got) != 1 || got["stopped"] != 7 {
		t.Errorf("got %v", got)
	}
}
