package device

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"whatif/internal/hint"
	"whatif/internal/profile"
)

// leastLonger is the least time by which a round trip is made longer: package knobs cannot wait for less.
const leastLonger = 200 * time.Microsecond

// Knobs are the limits with which this machine, the host, really has the network and the disk of the device. What is
// as fast there as here, or faster, is not limited, and neither is what is not known of the device.
func Knobs(host, device *Device) (*profile.Knobs, error) {
	k := &profile.Knobs{Device: device.Name}
	if device.Kind == ByHand {
		for _, c := range []Class{Net, Disk} {
			if device.Ratios[c] != 0 && device.Ratios[c] < 1 && !hasOf(host, c) {
				return nil, hint.New(fmt.Errorf("setting %s to %v of its speed here: %s has no measure of it", c,
					device.Ratios[c], host.Name), "measure this machine: whatif device -o here.json && whatif device add "+
					"here.json; or name a device with measures")
			}
		}
	}
	k.NetBytes = limit(host, device, "net.peer.bandwidth", "net.loopback.bandwidth")
	k.ReadOps, k.WriteOps = limit(host, device, "disk.read.4k"), limit(host, device, "disk.write.4k")
	k.ReadBytes, k.WriteBytes = limit(host, device, "disk.read.seq"), limit(host, device, "disk.write.seq")
	if longer := roundTrip(host, device); longer >= leastLonger {
		k.RoundTripNS = int64(longer)
	}
	if !k.Net() && !k.Disk() {
		return nil, hint.New(fmt.Errorf("nothing of %s can be set here: its network and its disk are as fast as here, "+
			"faster, or not known", k.Device), "leave --device-knobs out: what differs is simulated")
	}
	k.Text = strings.Join(append(netText(k), diskText(k)...), ", ")
	return k, nil
}

// limit is the value, on the device, of the first of some measures that is known there; 0 if the device is not slower.
func limit(host, device *Device, names ...string) float64 {
	m, slower := slowerMeasure(host, device, names...)
	if !slower {
		return 0
	}
	return m.Value
}

// slowerMeasure is the first of some measures that both have, or else that the device has; slower: it is slower there,
// or not known here. A device given by hand has those of the host, times its ratio, the last one first: what is limited
// is loopback.
func slowerMeasure(host, device *Device, names ...string) (m Measure, slower bool) {
	if device.Kind == ByHand {
		for _, name := range slices.Backward(names) {
			m, known := host.Measure(name)
			if ratio := device.Ratios[m.Class()]; known && ratio > 0 && ratio < 1 {
				if m.Unit == Seconds {
					ratio = 1 / ratio
				}
				m.Value *= ratio
				return m, true
			}
		}
		return m, false
	}
	for _, name := range names {
		h, here := host.Measure(name)
		if d, there := device.Measure(name); here && there {
			return d, d.Speed() < h.Speed()
		}
	}
	for _, name := range names {
		if d, there := device.Measure(name); there {
			return d, true
		}
	}
	return m, false
}

// roundTrip is by how much a round trip takes longer on the device.
func roundTrip(host, device *Device) time.Duration {
	m, slower := slowerMeasure(host, device, "net.peer.rtt", "net.loopback.rtt")
	if !slower {
		return 0
	}
	here, _ := host.Measure("net.loopback.rtt") // of the network that the program really has; 0: not known
	return time.Duration(math.Round((m.Value - here.Value) * 1e9))
}

func netText(k *profile.Knobs) (parts []string) {
	if k.NetBytes > 0 {
		parts = append(parts, "loopback "+Quantity(k.NetBytes, Bytes))
	}
	if k.RoundTripNS > 0 {
		parts = append(parts, "round trips "+Quantity(float64(k.RoundTripNS)/1e9, Seconds)+" longer")
	}
	return parts
}

func diskText(k *profile.Knobs) (parts []string) {
	for _, way := range []struct {
		name       string
		ops, bytes float64
	}{{"reads", k.ReadOps, k.ReadBytes}, {"writes", k.WriteOps, k.WriteBytes}} {
		var of []string
		if way.ops > 0 {
			of = append(of, Quantity(way.ops, Operations))
		}
		if way.bytes > 0 {
			of = append(of, Quantity(way.bytes, Bytes))
		}
		if len(of) > 0 {
			parts = append(parts, way.name+" "+strings.Join(of, " and "))
		}
	}
	return parts
}

// SetReally says that a run really had the network and the disk of the device, as its knobs say. A run with the
// network of another device says nothing of this one.
func (f *Factors) SetReally(k *profile.Knobs) error {
	if k == nil {
		return nil
	}
	if k.Device != f.Device {
		return hint.New(fmt.Errorf("the program really had the network and disk of %s, not of %s", k.Device, f.Device),
			"name that device, or run the program again")
	}
	if k.Net() {
		f.Set(Net, strings.Join(netText(k), ", "))
	}
	if k.Disk() {
		f.Set(Disk, strings.Join(diskText(k), ", "))
	}
	return nil
}
