package device

import (
	"strings"
	"testing"

	"whatif/internal/hint"
	"whatif/internal/profile"
)

func TestKnobs(t *testing.T) {
	here := made("here", map[string]float64{"cpu.integer.one": 4e8, "net.loopback.rtt": 10e-6,
		"net.loopback.bandwidth": 2e9, "disk.read.4k": 10000, "disk.write.4k": 12000, "disk.read.seq": 2e9})
	there := made("there", map[string]float64{"cpu.integer.one": 2e8, "net.peer.rtt": 50e-3, "net.peer.bandwidth": 2e6,
		"disk.read.4k": 3000, "disk.write.4k": 13000, "disk.read.seq": 1e8, "disk.write.seq": 9e7})
	hand := func(ratios map[Class]float64) *Device {
		return &Device{Name: "by hand", Kind: ByHand, Ratios: ratios}
	}
	for _, c := range []struct {
		device *Device
		want   profile.Knobs
	}{
		// Writes of 4 KiB are faster there; how fast writes in sequence are here is not known.
		{there, profile.Knobs{Device: "there", NetBytes: 2e6, RoundTripNS: 49990000, ReadOps: 3000, ReadBytes: 1e8,
			WriteBytes: 9e7, Text: "loopback 2.00 MB/s, round trips 50.0 ms longer, reads 3.00 k/s and 100 MB/s, " +
				"writes 90.0 MB/s"}},
		// A round trip of 20 µs is nothing that can be set.
		{hand(map[Class]float64{Net: 0.5, CPU: 0.1}), profile.Knobs{Device: "by hand", NetBytes: 1e9,
			Text: "loopback 1.00 GB/s"}},
		{hand(map[Class]float64{Disk: 0.1, Net: 2}), profile.Knobs{Device: "by hand", ReadOps: 1000, WriteOps: 1200,
			ReadBytes: 2e8, Text: "reads 1.00 k/s and 200 MB/s, writes 1.20 k/s"}},
	} {
		k, err := Knobs(here, c.device)
		if err != nil {
			t.Fatal(err)
		}
		if *k != c.want {
			t.Errorf("%s: %+v, want %+v", c.device.Name, *k, c.want)
		}
	}
	for _, c := range []struct {
		host, device *Device
		want, hint   string
	}{
		{here, here, "nothing of here can be set here", "leave --device-knobs out"},
		{here, hand(map[Class]float64{CPU: 0.1}), "nothing of by hand can be set here", "simulated"},
		{made("bare", map[string]float64{"cpu.integer.one": 1}), hand(map[Class]float64{Net: 0.5}),
			"setting net to 0.5 of its speed here: bare has no measure of it", "whatif device -o here.json"},
	} {
		_, err := Knobs(c.host, c.device)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(hint.Of(err), c.hint) {
			t.Errorf("%v (%s), want %s", err, hint.Of(err), c.want)
		}
	}
}

// TestSetReally: what the program really had is not simulated once more, and is in the table.
func TestSetReally(t *testing.T) {
	here := made("here", map[string]float64{"cpu.integer.one": 4e8, "net.loopback.bandwidth": 2e9, "disk.read.4k": 1e4})
	there := made("there", map[string]float64{"cpu.integer.one": 2e8, "net.peer.bandwidth": 2e6, "disk.read.4k": 2e3})
	f, err := Compare(here, there)
	if err != nil {
		t.Fatal(err)
	}
	if _, known := f.Of(Net); known {
		t.Fatal("loopback is compared with a link")
	}
	k, err := Knobs(here, there)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetReally(k); err != nil {
		t.Fatal(err)
	}
	for class, want := range map[Class]float64{CPU: 0.5, Net: 1, Disk: 1} {
		if c, known := f.Of(class); !known || c.Ratio != want || c.Unsure() != 0 && class != CPU {
			t.Errorf("%s: %+v", class, c)
		}
	}
	if f.Missing[Net] != "" || f.Classes[0].Class != CPU || f.Slowest().Class != CPU || f.Same() {
		t.Errorf("%+v", f)
	}
	var b strings.Builder
	if err := f.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"really set: loopback 2.00 MB/s\n", "really set: reads 2.00 k/s\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if err := f.SetReally(&profile.Knobs{Device: "another"}); err == nil || hint.Of(err) == "" {
		t.Errorf("of another device: %v", err)
	}
	hand, err := ParseByHand("net=0.1,disk=0.5")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = Compare(here, hand); err != nil {
		t.Fatal(err)
	}
	if k, err = Knobs(here, hand); err != nil || f.SetReally(k) != nil || !f.Same() {
		t.Errorf("all of it is set: %v, %+v", err, f)
	}
}
