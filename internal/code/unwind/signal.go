package unwind

import "bytes"

// sigreturn is the code to which signal handlers return on x86-64: mov $15, %rax; syscall. Only the
// C library has tables for it; Go and musl do not.
var sigreturn = []byte{0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}

// signals corrects the rows for the code to which signal handlers return. The rows begin one byte
// early, because a return address is looked up at the byte before it.
func (p *builder) signals(low, high uint64) {
	if p.table.arch.ip == noRegister {
		return
	}
	size := uint64(len(sigreturn))
	from := low - min(low, size)
	code := p.table.loaded(from, high+size-from)
	if code == nil { // the segment begins at low
		from = low
		code = p.table.loaded(from, high+size-from)
	}
	for at := from; ; {
		i := bytes.Index(code, sigreturn)
		if i < 0 {
			return
		}
		at += uint64(i)
		p.override(max(low, at-min(at, 1)), at+size, high, Rule{Kind: Signal})
		code = code[i+1:]
		at++
	}
}

// override makes a rule hold from low up to high in the rows, which end at end.
func (p *builder) override(low, high, end uint64, r Rule) {
	if low >= min(high, end) {
		return
	}
	was := p.rows
	p.rows = nil
	var last Rule
	for _, row := range was {
		if row.Address < low {
			p.add(row.Address, row.Rule)
		}
		if row.Address <= high {
			last = row.Rule
		}
	}
	p.add(low, r)
	if high < end {
		p.add(high, last)
	}
	for _, row := range was {
		if row.Address > high {
			p.add(row.Address, row.Rule)
		}
	}
}
