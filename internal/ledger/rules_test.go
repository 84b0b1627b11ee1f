package ledger

import (
	"slices"
	"testing"

	"whatif/bpf"
)

// Each rule of the kernel side has one name, and each name a bit of its own.
func TestRules(t *testing.T) {
	var all uint32
	for name := range rules {
		names, err := ParseRules(name)
		if err != nil || !slices.Equal(names, []string{name}) {
			t.Errorf("%s: %v, %v", name, names, err)
		}
		bits := rulesOff(names)
		if bits == 0 || all&bits != 0 {
			t.Errorf("%s: bits %#x, others have %#x", name, bits, all)
		}
		all |= bits
	}
	if want := uint32(1)<<bpf.LedgerNamedRuleRULES - 1; all != want {
		t.Errorf("the named rules are %#x, the kernel side's are %#x", all, want)
	}
	if names, err := ParseRules("polling,crowds"); err != nil || len(names) != 2 {
		t.Errorf("%v, %v", names, err)
	}
	for _, wrong := range []string{"pollin", "polling,", "polling, crowds"} {
		if names, err := ParseRules(wrong); err == nil {
			t.Errorf("%q: %v", wrong, names)
		}
	}
	if names, err := ParseRules(""); names != nil || err != nil {
		t.Errorf("of nothing: %v, %v", names, err)
	}
}
