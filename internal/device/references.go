package device

import "fmt"

// A reference is a device that is known from public figures only.
//
// Published scores are not in the units of whatif's loops. So the processor's figures are those of the anchor, which
// whatif has measured, times the ratio of both machines' scores in the same public benchmark (Geekbench 5). That gives
// the three cpu measures of a reference the same ratio to the anchor's: a whole suite has one score.
type reference struct {
	name, processor, arch string
	cores                 int
	single, multi         float64 // Geekbench 5; multi 0: not known
	scores                string  // where the scores are
	measures              []Measure
}

// anchorScore is the single-core score of the anchor's processor generation.
const (
	anchorScore  = 1257
	anchorSource = "whatif's figures of one core of a 5th generation Xeon (a virtual machine), times the Geekbench 5 " +
		"score of %s, %.0f, divided by 1257, that of a 4th generation Xeon (Platinum 8468), which has the same core at " +
		"about the same clock (bloglaralemi.com/2022/09/09/48-core-sapphire-rapids-xeons-match-amds-zen-3-flagships-" +
		"in-new-benchmarks); scores: %s"
)

// anchor are the figures of one core of the machine on which Geekbench's scores are tied to whatif's loops: means of
// two measurements, which differed by 2, 1 and 13%.
var anchor = map[string]float64{"integer": 417e6, "float": 365e6, "branch": 78.6e6}

const (
	tomsGuide = "www.tomsguide.com/news/google-pixel-6-benchmarks"
	ofcom     = "Ofcom, 4G in five cities, end of 2014: " +
		"www.mobilenewscwp.co.uk/2015/04/02/ofcom-4g-meeting-consumer-expectations"
	anandTech = "AnandTech, Snapdragon 888 vs Exynos 2100: " +
		"labs.anandtech.com/show/16463/snapdragon-888-vs-exynos-2100-galaxy-s21-ultra/3"
	liliputing = "the vendor's figures: " +
		"liliputing.com/2020/03/samsungs-ufs-3-1-storage-brings-ssd-speeds-to-smartphones.html"
	m1Scores = "www.techquila.co.in/m1-macbook-air-outperforms-16-inch-macbook-pro"
	m1Disk   = "one owner's measurement: www.ithinkdiff.com/m1-macbook-air-ssd-twice-as-fast"
	gp3      = "limits of an EBS gp3 volume, however many requests are in flight: " +
		"lethang7794.github.io/aws-sa-associate-saac03/0910-EBS-volume-types.html"
)

func mobileNetwork() []Measure {
	return []Measure{
		{Name: "net.peer.rtt", Unit: Seconds, Value: 53.1e-3, Source: ofcom},
		{Name: "net.peer.bandwidth", Unit: Bytes, Value: 14.7e6 / 8, Source: ofcom},
	}
}

// references are the built-in devices. Random accesses of the phones' flash are left out: vendors give them with many
// requests in flight, whatif measures one at a time.
func references() []reference {
	return []reference{
		{"phone", "Snapdragon 888 (Galaxy S21 Ultra)", "arm64", 8, 1123, 3440, tomsGuide, append([]Measure{
			{Name: "memory.bandwidth.dram.all", Unit: Bytes, Value: 51.2e9,
				Source: "LPDDR5-6400 (" + anandTech + ") times 64 bits: the limit of the wires"},
			{Name: "memory.latency.dram.one", Unit: Seconds, Value: 114e-9, Source: anandTech},
			{Name: "disk.read.seq", Unit: Bytes, Value: 2100e6, Source: "UFS 3.1, " + liliputing},
			{Name: "disk.write.seq", Unit: Bytes, Value: 1200e6, Source: "UFS 3.1, " + liliputing},
		}, mobileNetwork()...)},
		{"phone-slow", "Snapdragon 765G (Pixel 5)", "arm64", 8, 596, 1617, "roskertech.com/news/1dea47e887e1/cascade",
			append([]Measure{
				{Name: "disk.read.seq", Unit: Bytes, Value: 860e6, Source: "UFS 2.1, " + liliputing},
				{Name: "disk.write.seq", Unit: Bytes, Value: 255e6, Source: "UFS 2.1, " + liliputing},
			}, mobileNetwork()...)},
		{"laptop", "Apple M1 (MacBook Air)", "arm64", 8, 1687, 7433, m1Scores, []Measure{
			{Name: "memory.bandwidth.dram.all", Unit: Bytes, Value: 68.3e9,
				Source: "LPDDR4X-4266 times 128 bits: the limit of the wires"},
			{Name: "disk.read.seq", Unit: Bytes, Value: 2676.4e6, Source: m1Disk},
			{Name: "disk.write.seq", Unit: Bytes, Value: 2190.1e6, Source: m1Disk},
		}},
		{"cloud-vm", "4th generation Xeon, EBS gp3 volume", "amd64", 2, anchorScore, 0, "the anchor's own", []Measure{
			{Name: "disk.read.4k", Unit: Operations, Value: 3000, Source: gp3},
			{Name: "disk.write.4k", Unit: Operations, Value: 3000, Source: gp3},
			{Name: "disk.read.seq", Unit: Bytes, Value: 125 << 20, Source: gp3},
			{Name: "disk.write.seq", Unit: Bytes, Value: 125 << 20, Source: gp3},
		}},
	}
}

// device computes the device file of a reference.
func (r reference) device() *Device {
	d := &Device{Format: Format, Version: Version, Name: r.name, Kind: Computed, Cores: r.cores,
		Machine:  Machine{Arch: r.arch, Processor: r.processor},
		Warnings: []string{"computed from public figures: of a kind of device, not of yours; spreads are unknown"}}
	for _, loop := range []string{"integer", "float", "branch"} {
		for _, of := range []struct {
			cores string
			score float64
		}{{"one", r.single}, {"all", r.multi}} {
			if of.score == 0 {
				continue
			}
			d.Measures = append(d.Measures, Measure{Name: "cpu." + loop + "." + of.cores, Unit: Operations,
				Value: anchor[loop] * of.score / anchorScore, Source: fmt.Sprintf(anchorSource, r.processor, of.score, r.scores)})
		}
	}
	d.Measures = append(d.Measures, r.measures...)
	return d
}

// BuiltIn lists the built-in devices.
func BuiltIn() []*Device {
	var all []*Device
	for _, r := range references() {
		all = append(all, r.device())
	}
	return all
}
