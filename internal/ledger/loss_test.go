package ledger

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cilium/ebpf/btf"

	"whatif/bpf"
	"whatif/internal/profile"
)

// Every loss that the kernel side counts has a name of its own, and every name is of a loss.
func TestLossNames(t *testing.T) {
	for _, object := range objects {
		var enum *btf.Enum
		if err := specOf(t, object).Types.TypeByName("loss", &enum); err != nil {
			t.Fatal(err)
		}
		kinds := map[bpf.LedgerLoss]bool{}
		for _, v := range enum.Values {
			if !strings.HasPrefix(v.Name, "LOSS_") {
				t.Errorf("%s: %s is called like no loss", object, v.Name)
			}
			if v.Name == "LOSS_NONE" || v.Name == "LOSS_MAX" {
				continue
			}
			kinds[bpf.LedgerLoss(v.Value)] = true
			if lossNames[bpf.LedgerLoss(v.Value)] == "" {
				t.Errorf("%s: %s has no name for users", object, v.Name)
			}
		}
		for kind, name := range lossNames {
			if !kinds[kind] {
				t.Errorf("%s: %q names loss %d, which there is not", object, name, kind)
			}
		}
	}
	seen := map[string]bool{}
	for _, name := range lossNames {
		if seen[name] {
			t.Errorf("two losses are called %q", name)
		}
		seen[name] = true
	}
}

// Losses that are not zero are reported by their names.
func TestLosses(t *testing.T) {
	var totals Totals
	totals.Lost[bpf.LedgerLossLOSS_THREAD] = 3
	totals.Lost[bpf.LedgerLossLOSS_STACK] = 5
	got := map[string]int64{}
	for name, n := range totals.Losses() {
		got[name] = n
	}
	if want := map[string]int64{"threads not followed": 3, profile.LossStack: 5}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for range (Totals{}).Losses() {
		t.Error("a loss of nothing")
	}
}
