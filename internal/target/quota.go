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

// A Quota is a cgroup with a limit of CPU time.
type Quota struct {
	Dir  string
	CPUs float64
}

// cpuControllers are the possible names of the hierarchy of version 1 that has quotas.
var cpuControllers = []string{"cpu", "cpu,cpuacct"}

// QuotasOf lists the quotas that apply to a process.
func QuotasOf(pid int) []Quota {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return nil // the process has ended
	}
	return quotas(cgroupRoot, ParseCgroups(text))
}

// A Membership is the cgroup of a process in one hierarchy.
type Membership struct {
	Controllers []string // none: version 2
	Path        string   // below the root of the hierarchy
}

// ParseCgroups parses /proc/PID/cgroup, with lines such as
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

// quotas lists the quotas of cgroups and of all cgroups above them.
func quotas(root string, of []Membership) []Quota {
	var all []Quota
	known := func(q Quota) bool { return slices.ContainsFunc(all, func(o Quota) bool { return o.Dir == q.Dir }) }
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
				if q := quotaOf(filepath.Join(dir, at)); q.CPUs > 0 && !known(q) {
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

// AllQuotas lists the quotas of the machine's cgroups. It reads at most most cgroups.
func AllQuotas(most int) []Quota { return allQuotas(cgroupRoot, most) }

func allQuotas(root string, most int) []Quota {
	var all []Quota
	for _, hierarchy := range hierarchies(root) {
		// Only version 2, and the controller cpu of version 1, have quotas. The bound is not spent on other hierarchies.
		name := filepath.Base(hierarchy)
		if hierarchy != root && name != "unified" && !slices.Contains(cpuControllers, name) {
			continue
		}
		filepath.WalkDir(hierarchy, func(dir string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || !entry.IsDir(): // err: the cgroup has been removed
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

// quotaOf reads the quota of a cgroup; 0 CPUs mean that there is no limit.
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

// Throttled is how often the kernel has stopped the cgroup's threads because the quota was used up.
func (q Quota) Throttled() int64 {
	for line := range strings.Lines(contents(q.Dir, "cpu.stat")) {
		var n int64
		if found, _ := fmt.Sscanf(line, "nr_throttled %d", &n); found == 1 {
			return n
		}
	}
	return 0
}

// contents is the text of a file; "" if the file cannot be read.
func contents(dir, name string) string {
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return string(text)
}
