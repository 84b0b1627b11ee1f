package recorder

import (
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/cilium/ebpf/link"

	"whatif/internal/ledger"
	"whatif/internal/openfile"
	"whatif/internal/recording"
)

// Probe is a place where visits are recorded. Its Of is the point. Its Source and Entry are not used.
type Probe struct {
	ledger.Probe
	Role recording.Role
}

// cookie is what the kernel side is told of a probe; see bpf/record/events.h.
func (p *Probe) cookie() uint64 { return uint64(p.Of) | uint64(p.Role)<<16 | uint64(p.Key)<<24 }

// probe sets probes, those of each file together where the kernel can do that.
func (k *kernelSide) probe(all []Probe) error {
	if err := k.timeProbes(pointHandler, all); err != nil {
		return err
	}
	rest := slices.Clone(all)
	for len(rest) > 0 {
		first := rest[0]
		shares := func(p Probe) bool { return p.File == first.File && p.Cost.AtReturn() == first.Cost.AtReturn() }
		var group []Probe
		for _, p := range rest {
			if shares(p) {
				group = append(group, p)
			}
		}
		rest = slices.DeleteFunc(rest, shares)
		links, err := k.set(pointHandler, group)
		k.links = append(k.links, links...)
		if err != nil {
			return fmt.Errorf("putting %d probes into %s: %w", len(group), first.File.Name(), err)
		}
	}
	return nil
}

// Programs of the kernel side for probes (bpf/base/program.h).
const (
	pointHandler  = "record_point"
	momentHandler = "record_moment"
)

// set sets probes in one file: all of them at returns, or none. If it fails, it returns the links that were made
// before.
func (k *kernelSide) set(handler string, all []Probe) ([]io.Closer, error) {
	defer runtime.KeepAlive(all[0].File)
	x, err := link.OpenExecutable(openfile.Path(int(all[0].File.Fd())))
	if err != nil {
		return nil, err
	}
	if k.singly {
		return k.setSingly(handler, x, all)
	}
	var opt link.UprobeMultiOptions
	for _, p := range all {
		opt.Addresses = append(opt.Addresses, p.Offset)
		opt.Cookies = append(opt.Cookies, p.cookie())
		opt.RefCtrOffsets = append(opt.RefCtrOffsets, p.Semaphore)
	}
	set := x.UprobeMulti
	if all[0].Cost.AtReturn() {
		set = x.UretprobeMulti
	}
	l, err := set(nil, k.Programs["on_"+handler], &opt)
	if err != nil {
		return nil, err
	}
	return []io.Closer{l}, nil
}

func (k *kernelSide) setSingly(handler string, x *link.Executable, all []Probe) (links []io.Closer, err error) {
	set := x.Uprobe
	if all[0].Cost.AtReturn() {
		set = x.Uretprobe
	}
	for _, p := range all {
		l, err := set("", k.Programs["on_single_"+handler], &link.UprobeOptions{
			Address: p.Offset, Cookie: p.cookie(), RefCtrOffset: p.Semaphore,
		})
		if err != nil {
			return links, err
		}
		links = append(links, l)
	}
	return links, nil
}
