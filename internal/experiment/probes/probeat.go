package probes

import (
	"debug/elf"

	"whatif/internal/code/symbol"
	"whatif/internal/code/trap"
	"whatif/internal/ledger"
	"whatif/internal/point"
)

// longestInstruction of x86-64, in bytes.
const longestInstruction = 15

// probeAt chooses the instruction of a site that the probe is set on. With arguments it is where they are still in
// their registers: where the function begins.
func probeAt(site point.Site, b *symbol.Binary, arguments bool) ledger.Probe {
	p := ledger.Probe{File: b.Opened(), Offset: site.Offset, Semaphore: site.Semaphore}
	best := trap.Site{Stepped: true}
	if b.Machine() == elf.EM_X86_64 {
		code := b.Code(site.Offset, max(site.Size, longestInstruction))
		switch {
		case site.Return:
			best = trap.Entry(code)
		case site.Size == 0:
			best = trap.At(code)
		default:
			code, isGo := code[:min(site.Size, uint64(len(code)))], site.Entry && b.IsGoCode(site.Offset)
			if best = trap.Choose(code, isGo); arguments {
				best = trap.First(code, isGo)
			}
		}
	}
	p.Offset += uint64(best.Offset)
	switch {
	case site.Return && best.Stepped:
		p.Cost = ledger.ReturnStepped
	case site.Return:
		p.Cost = ledger.Return
	case best.LongNop:
		p.Cost = ledger.LongNop
	case best.Stepped:
		p.Cost = ledger.Stepped
	}
	return p
}
