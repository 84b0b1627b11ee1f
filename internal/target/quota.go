package target

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Quota is a cgroup that may use only so much of the CPUs.
type Quota struct {
	Dir  string
	CPUs float64
}

// cpuControllers are the names that version 1's hierarchy with quotas can have.
var cpuControllers = []string{"cpu", "cpu,cpuacct"}

// QuotasOf are those that a process is under.
func QuotasOf(pid int) []Quota {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return nil // gone
	}
	return quotas(cgroupRoot, ParseCgroups(text))
}

// A Membership is the cgroup of a process in one hierarchy.
type Membership struct {
	Controllers []string // none: version 2
	Path        string   // below the root of the hierarchy
}

// ParseCgroups reads /proc/PID/cgroup, lines such as
//
//	4:cpu,cpuacct:/user.slice
//	0::/system.slice/cron.service
func ParseCgroups(text []byte) []Membership {
	var all []Membership
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		m := Membership{Path: path.Clean(parts[2])}
		if parts[1] != "" {
			m.Controllers = strings.Split(parts[1], ",")
		}
		all = append(all, m)
	}
	return all
}

// quotas looks at the cgroups and at all above them.
func quotas(root string, of []Membership) []Quota {
	var all []Quota
	for _, m := range of {
		dirs := []string{root, filepath.Join(root, "unified")}
		if len(m.Controllers) > 0 {
			if !slices.Contains(m.Controllers, "cpu") {
				continue
			}
			dirs = nil
			for _, name := range cpuControllers {
				dirs = append(dirs, filepath.Join(root, name))
			}
		}
		for _, dir := range dirs {
			for at := m.Path; ; at = path.Dir(at) {
				if q := quotaOf(filepath.Join(dir, at)); q.CPUs > 0 && !slices.ContainsFunc(all, func(o Quota) bool { return o.Dir == q.Dir }) {
					all = append(all, q)
				}
				if at == "/" {
					break
				}
			}
		}
	}
	return all
}

// AllQuotas are those of the machine's cgroups; of more than so many cgroups not all are looked at.
func AllQuotas(most int) []Quota { return allQuotas(cgroupRoot, most) }

func allQuotas(root string, most int) []Quota {
	var all []Quota
	for _, hierarchy := range hierarchies(root) {
		// Only version 2, and of version 1 the controller cpu, have quotas: the bound is not spent on others.
		if name := filepath.Base(hierarchy); hierarchy != root && name != "unified" && !slices.Contains(cpuControllers, name) {
			continue
		}
		filepath.WalkDir(hierarchy, func(dir string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || !entry.IsDir(): // err: gone meanwhile
				return nil
			case most == 0:
				return fs.SkipAll
			}
			most--
			if q := quotaOf(dir); q.CPUs > 0 {
				all = append(all, q)
			}
			return nil
		})
	}
	return all
}

// quotaOf has 0 CPUs where there is no limit.
func quotaOf(dir string) Quota {
	q := Quota{Dir: dir}
	var quota, period float64
	if n, _ := fmt.Sscanf(contents(dir, "cpu.max"), "%g %g", &quota, &period); n != 2 {
		fmt.Sscanf(contents(dir, "cpu.cfs_quota_us"), "%g", &quota)
		fmt.Sscanf(contents(dir, "cpu.cfs_period_us"), "%g", &period)
	}
	if quota > 0 && period > 0 {
		q.CPUs = quota / period
	}
	return q
}

// Throttled is how often the kernel has stopped all in the cgroup because the quota was used up.
func (q Quota) Throttled() int64 {
	for line := range strings.Lines(contents(q.Dir, "cpu.stat")) {
		var n int64
		if found, _ := fmt.Sscanf(line, "nr_throttled %d", &n); found == 1 {
			return n
		}
	}
	return 0
}

// contents of a file that may not be there.
func contents(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}
