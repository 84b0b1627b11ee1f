package device

import "strings"

// Levels are the levels of memory, nearest first.
func Levels() []string { return []string{"l1", "l2", "l3", "dram"} }

// UnitOf is the unit of the measure with a name; known: this version has that measure.
func UnitOf(name string) (unit Unit, known bool) {
	unit, known = units()[name]
	return unit, known
}

// Names lists the measures of this version, in the order of tables.
func Names() []string {
	var names []string
	for _, s := range []string{"integer", "float", "branch"} {
		names = append(names, "cpu."+s+".one", "cpu."+s+".all")
	}
	for _, kind := range []string{"bandwidth", "latency"} {
		for _, level := range Levels() {
			names = append(names, "memory."+kind+"."+level+".one", "memory."+kind+"."+level+".all")
		}
	}
	for _, size := range []string{"4k", "seq"} {
		for _, op := range []string{"read", "write", "sync"} {
			names = append(names, "disk."+op+"."+size)
		}
	}
	return append(names, "net.loopback.rtt", "net.loopback.bandwidth", "net.peer.rtt", "net.peer.bandwidth", "wake.idle")
}

func units() map[string]Unit {
	all := make(map[string]Unit)
	for _, name := range Names() {
		switch {
		case strings.HasPrefix(name, "cpu."), strings.HasSuffix(name, ".4k"):
			all[name] = Operations
		case strings.Contains(name, ".latency."), strings.HasSuffix(name, ".rtt"), strings.HasPrefix(name, "wake."):
			all[name] = Seconds
		default:
			all[name] = Bytes
		}
	}
	return all
}
