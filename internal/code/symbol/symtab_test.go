package symbol

import (
	"bytes"
	"debug/elf"
	"slices"
	"testing"
	"time"
)

// TestLongNames sorts symbols of one address whose long names hardly differ, in bounded time.
func TestLongNames(t *testing.T) {
	const n = 20_000
	table := &symbols{strings: append(bytes.Repeat([]byte{'a'}, maxSymbol+n), 0)}
	for i := range uint32(n) {
		table.all = append(table.all, sym{name: i * 7919 % n, size: 1, kind: elf.STT_FUNC})
	}
	began := time.Now()
	slices.SortFunc(table.all, table.compareNames)
	if d := time.Since(began); d > slowest {
		t.Errorf("took %v", d)
	}
}
