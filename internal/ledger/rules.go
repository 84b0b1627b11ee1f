package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"whatif/bpf"
	"whatif/internal/hint"
)

// rules are the kernel side's rules that can be switched off, by the names that users give. bpf/base/rules.h says when
// each applies.
var rules = map[string]bpf.LedgerNamedRule{
	"booked-ticks":      bpf.LedgerNamedRuleRULE_BOOKED_TICKS,
	"intrusions":        bpf.LedgerNamedRuleRULE_INTRUSIONS,
	"stalls":            bpf.LedgerNamedRuleRULE_STALLS,
	"idle-cores":        bpf.LedgerNamedRuleRULE_IDLE_CORES,
	"busy-waiting":      bpf.LedgerNamedRuleRULE_BUSY_WAITING,
	"polling":           bpf.LedgerNamedRuleRULE_POLLING,
	"timeout-delays":    bpf.LedgerNamedRuleRULE_TIMEOUT_DELAYS,
	"timeout-work":      bpf.LedgerNamedRuleRULE_TIMEOUT_WORK,
	"return-delays":     bpf.LedgerNamedRuleRULE_RETURN_DELAYS,
	"periodic":          bpf.LedgerNamedRuleRULE_PERIODIC,
	"contention":        bpf.LedgerNamedRuleRULE_CONTENTION,
	"crowds":            bpf.LedgerNamedRuleRULE_CROWDS,
	"expected":          bpf.LedgerNamedRuleRULE_EXPECTED,
	"fair-turns":        bpf.LedgerNamedRuleRULE_FAIR_TURNS,
	"deferred-fairness": bpf.LedgerNamedRuleRULE_DEFERRED_FAIRNESS,
	"outsiders":         bpf.LedgerNamedRuleRULE_OUTSIDERS,
	"outsider-leads":    bpf.LedgerNamedRuleRULE_OUTSIDER_LEADS,
	"replies":           bpf.LedgerNamedRuleRULE_REPLIES,
	"goroutines":        bpf.LedgerNamedRuleRULE_GOROUTINES,
	"host-idle":         bpf.LedgerNamedRuleRULE_HOST_IDLE,
}

// ParseRules reads a list of rules, "polling,crowds", as names.
func ParseRules(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	names := strings.Split(list, ",")
	for _, name := range names {
		if _, known := rules[name]; !known {
			return nil, hint.New(fmt.Errorf("reading the rules %q: no rule is called %q", list, name),
				"the rules are "+strings.Join(slices.Sorted(maps.Keys(rules)), ", "))
		}
	}
	return names, nil
}

// rulesOff are the bits of rules_off for these rules.
func rulesOff(names []string) (bits uint32) {
	for _, name := range names {
		bits |= 1 << rules[name]
	}
	return bits
}
