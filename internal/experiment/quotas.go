package experiment

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"whatif/internal/ledger"
	"whatif/internal/target"
)

// Bounds of how many are looked at: one target's processes are in few cgroups, a machine's in many.
const (
	mostProcesses = 64
	mostCgroups   = 4096
)

// quotas watches the CPU quotas that the target is under. When one is used up the kernel stops all that is in its
// cgroup.
type quotas struct {
	ledger *ledger.Ledger
	rec    *recorder
	log    *slog.Logger
	system bool                   // the target is all processes
	used   map[target.Quota]int64 // how often each was used up
}

// watchQuotas begins to watch those that there are now.
func watchQuotas(l *ledger.Ledger, rec *recorder, cfg *Config) *quotas {
	q := &quotas{ledger: l, rec: rec, log: cfg.Log, system: cfg.System, used: make(map[target.Quota]int64)}
	for _, each := range q.all() {
		if _, known := q.used[each]; !known { // many processes are in one cgroup
			q.used[each] = each.Throttled()
		}
	}
	return q
}

// all are the quotas of cgroups that are there now, and of processes that are in them now.
func (q *quotas) all() (all []target.Quota) {
	if q.system {
		return target.AllQuotas(mostCgroups)
	}
	members, err := q.ledger.Members()
	if err != nil {
		q.log.Debug("looking for CPU quotas", "error", err)
	}
	for _, m := range members[:min(len(members), mostProcesses)] {
		all = append(all, target.QuotasOf(m.PID)...)
	}
	return all
}

// check warns of quotas that were used up during the last experiment. A machine's are checked at the end.
func (q *quotas) check() {
	if q.system {
		return
	}
	for _, each := range q.usedUp(slices.Collect(maps.Keys(q.used))) {
		q.warn(each, "")
	}
}

// checkMachine looks at the whole machine's, once, at the end: there may be many, and more than at the beginning.
func (q *quotas) checkMachine() {
	if !q.system {
		return
	}
	used := q.usedUp(q.all())
	switch len(used) {
	case 0:
	case 1:
		q.warn(used[0], "")
	default:
		q.warn(used[0], fmt.Sprintf(", as those of %d more cgroups,", len(used)-1))
	}
}

// usedUp are those of the quotas that were used up since they were looked at last, by name.
func (q *quotas) usedUp(of []target.Quota) (used []target.Quota) {
	for _, each := range of {
		if now := each.Throttled(); now > q.used[each] {
			q.used[each] = now
			used = append(used, each)
		}
	}
	slices.SortFunc(used, func(a, b target.Quota) int { return strings.Compare(a.Dir, b.Dir) })
	return used
}

// warn names one quota that is used up; others is a text about further ones.
func (q *quotas) warn(one target.Quota, others string) {
	q.rec.warn("cpu-quota", "the CPU quota of %s (%.2g CPUs)%s is used up now and then, and the kernel stops all that is "+
		"in it: a core that whatif stops uses it up, too, so what is found may be wrong. "+
		"Take the limit away while you profile (docker: without --cpus; systemd: CPUQuota=)", one.Dir, one.CPUs, others)
}
