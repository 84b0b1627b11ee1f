package experiment

import (
	"fmt"
	"slices"
	"strings"

	"whatif/internal/target"
)

// Bounds of how many are looked at: the processes of one target are in few cgroups, a machine's in many.
const (
	mostProcesses = 64
	mostCgroups   = 4096
)

// quotas are those that the target is under: of cgroups that are there now, and of processes that are in them now.
func (s *session) quotas() (all []target.Quota) {
	if s.cfg.System {
		return target.AllQuotas(mostCgroups)
	}
	members, err := s.ledger.Members()
	if err != nil {
		s.cfg.Log.Debug("looking for CPU quotas", "error", err)
	}
	for _, m := range members[:min(len(members), mostProcesses)] {
		all = append(all, target.QuotasOf(m.PID)...)
	}
	return all
}

// usedUp are those of the quotas that were used up since they were looked at last, by name.
func (l *limits) usedUp(of []target.Quota) (used []target.Quota) {
	for _, q := range of {
		if now := q.Throttled(); now > l.quotas[q] {
			l.quotas[q] = now
			used = append(used, q)
		}
	}
	slices.SortFunc(used, func(a, b target.Quota) int { return strings.Compare(a.Dir, b.Dir) })
	return used
}

// warnOfQuota tells of one, and, in words, of others.
func (s *session) warnOfQuota(q target.Quota, others string) {
	s.warn("cpu-quota", "the CPU quota of %s (%.2g CPUs)%s is used up now and then, and the kernel stops all that is in it: a core that whatif stops uses it up, too, so what is found may be wrong. Take the limit away while you profile (docker: without --cpus; systemd: CPUQuota=)", q.Dir, q.CPUs, others)
}

// checkMachineQuotas looks at the whole machine's, once, at the end: they may be many, and have come meanwhile.
func (s *session) checkMachineQuotas() {
	if !s.cfg.System {
		return
	}
	used := s.limits.usedUp(s.quotas())
	switch len(used) {
	case 0:
	case 1:
		s.warnOfQuota(used[0], "")
	default:
		s.warnOfQuota(used[0], fmt.Sprintf(", as those of %d more cgroups,", len(used)-1))
	}
}
