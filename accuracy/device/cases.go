package main

import (
	"fmt"
	"strconv"
	"strings"

	"whatif/internal/profile"
)

// A machine is the device of a case: speeds there divided by speeds here. 0 stands for 1.
type machine struct {
	cpu, disk, net float64
	arch           string // of an emulated one, of which device files say how fast it is
}

// word is the machine as --device takes it, or its name.
func (m machine) word() string {
	var parts []string
	if m.arch != "" {
		parts = append(parts, m.arch)
	}
	for _, c := range m.classes() {
		parts = append(parts, c.name+"="+number(c.ratio))
	}
	return strings.Join(parts, ",")
}

type class struct {
	name  string
	ratio float64
}

// classes are those with another speed.
func (m machine) classes() (all []class) {
	for _, c := range []class{{"cpu", m.cpu}, {"disk", m.disk}, {"net", m.net}} {
		if c.ratio != 0 {
			all = append(all, c)
		}
	}
	return all
}

// variables make the program do as much more as takes so much longer.
func (m machine) variables() (all []string) {
	for _, c := range m.classes() {
		all = append(all, fmt.Sprintf("ON_%s=%s", strings.ToUpper(c.name), number(c.ratio)))
	}
	return all
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// A device is one row of the table: a program on a machine.
type device struct {
	program string // the case of elsewhere.c
	target  string // what is sped up: a function, or the mark of a line
	on      machine
	// queue is the bandwidth of a slow loopback here, in Mbit/s, which is really slower there; 0: the server waits.
	queue float64
	// reads is how many reads of the disk there may be in a second, here and there; 0: as many as it can.
	reads [2]float64
	about string
}

// name is that of the row.
func (d *device) name() string {
	name := d.program + " " + d.on.word()
	if d.queue > 0 {
		name += " (tbf)"
	}
	if d.reads[0] > 0 {
		name += " (cgroup)"
	}
	return name
}

// slower is how many times as long programs with a limited disk run: the kernel counts reads in tenths of a second, so
// their visits take as long as the visits of others take milliseconds.
const slower = 3

// longer is a length of time for a device.
func (d *device) longer(t float64) float64 {
	if d.reads[0] > 0 {
		return t * slower
	}
	return t
}

// limits are those of the network and the disk, on this machine or as on the device.
func (d *device) limits(on int) profile.Knobs {
	share := 1.0
	if on == there && d.on.net > 0 {
		share = d.on.net
	}
	return profile.Knobs{Device: d.name(), NetBytes: d.queue * share * 1e6 / 8, ReadOps: d.reads[on]}
}

// unlimited is a disk that may be read as often as it can.
var unlimited [2]float64

// devices are VCoz's four cases, and others.
var devices = []device{
	{"lu_cholesky", "func:decompose_lu", machine{cpu: 0.4}, 0, unlimited, "VCoz: two kinds of computing, equally slower"},
	{"lu_stream", "func:decompose_lu", machine{cpu: 0.4}, 0, unlimited, "VCoz: computing and memory, equally slower"},
	{"lu_net", "func:decompose_lu", machine{cpu: 0.4}, 0, unlimited, "VCoz: computing slower, the network alike"},
	{"lu_net", "func:decompose_lu", machine{cpu: 0.43, net: 0.18}, 0, unlimited, "VCoz: both slower"},
	{"lu_net", "func:decompose_lu", machine{net: 0.25}, 0, unlimited, "the network slower"},
	{"lu_net", "func:decompose_lu", machine{net: 0.4}, 200, unlimited, "the same, really slower"},
	{"disk_compute", "disk_compute", machine{disk: 0.3}, 0, unlimited, "disk beside compute"},
	// What may be read in a tenth of a second is read at once, and then the disk waits until it is over. For 120 pages it
	// waits once here, for 88 ms, and 5 times there, for 96 ms.
	{"disk_limited", "disk_limited", machine{disk: 0.18}, 0, [2]float64{600, 200}, "the same, really limited"},
	{"two_nets", "two_nets", machine{net: 0.4}, 0, unlimited, "two servers"},
	{"pipeline", "pipeline", machine{cpu: 0.7, disk: 0.25}, 0, unlimited, "a pipeline of three classes"},
	{"lock_disk", "lock_disk", machine{cpu: 0.4}, 0, unlimited, "a lock around a disk write"},
	{"sleep_compute", "sleep_compute", machine{cpu: 0.4}, 0, unlimited, "sleep beside compute"},
	{"crowd", "crowd", machine{cpu: 2, net: 0.3}, 0, unlimited, "more threads than cores"},
	{"lu_cholesky", "func:decompose_lu", machine{arch: arm64}, 0, unlimited, "another architecture, emulated"},
	{"lu_net", "func:decompose_lu", machine{arch: arm64}, 0, unlimited, "the same, and a server that is not"},
}
