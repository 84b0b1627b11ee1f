package ledger

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf/btf"
)

// coreVariables are the kernel's variables of which each core has one, and their offsets among all of these.
func coreVariables(kernel *btf.Spec) (map[string]int64, error) {
	var section *btf.Datasec
	if err := kernel.TypeByName(".data..percpu", &section); errors.Is(err, btf.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("looking for the variables of each core: %w", err)
	}
	offsets := make(map[string]int64, len(section.Vars))
	for _, v := range section.Vars {
		offsets[v.Type.TypeName()] = int64(v.Offset)
	}
	return offsets, nil
}

// memberOf is the offset of a member, which may be in a nameless struct or union inside.
func memberOf(members []btf.Member, name string) (at uint32, ok bool) {
	for _, m := range members {
		if m.Name == name {
			return m.Offset.Bytes(), true
		}
		var inner []btf.Member
		switch t := btf.UnderlyingType(m.Type).(type) {
		case *btf.Struct:
			inner = t.Members
		case *btf.Union:
			inner = t.Members
		}
		if m.Name == "" {
			if at, ok := memberOf(inner, name); ok {
				return m.Offset.Bytes() + at, true
			}
		}
	}
	return 0, false
}
