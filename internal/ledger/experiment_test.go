package ledger

import (
	"reflect"
	"testing"
	"time"

	"whatif/bpf"
)

// The bins are as narrow as they can be for the experiment to fit into them.
func TestBinShift(t *testing.T) {
	for _, length := range []time.Duration{
		1, 2047, 2048, 2049, time.Microsecond, 200 * time.Millisecond, 3200 * time.Millisecond, time.Second - 1,
		time.Hour, 24 * time.Hour, 365 * 24 * time.Hour,
	} {
		shift := binShift(length)
		if last := uint64(length) >> shift; last >= uint64(bpf.LedgerLimitMAX_BINS) {
			t.Errorf("%v: the last moment is in bin %d of %d", length, last, bpf.LedgerLimitMAX_BINS)
		}
		if shift > 0 && uint64(length)>>(shift-1) < uint64(bpf.LedgerLimitMAX_BINS) {
			t.Errorf("%v: bins of 2^%d ns, half as wide would do", length, shift)
		}
	}
}

// Minus subtracts every count.
func TestTotalsMinus(t *testing.T) {
	units := func() Totals { return Totals{Units: make([]int64, 2)} }
	before, after, want := units(), units(), units()
	n := int64(1)
	fill := func(b, a, w reflect.Value) {
		b.SetInt(n)
		a.SetInt(3 * n)
		w.SetInt(2 * n)
		n++
	}
	b, a, w := reflect.ValueOf(&before).Elem(), reflect.ValueOf(&after).Elem(), reflect.ValueOf(&want).Elem()
	for i := range b.NumField() {
		if k := b.Field(i).Kind(); k != reflect.Array && k != reflect.Slice {
			fill(b.Field(i), a.Field(i), w.Field(i))
			continue
		}
		for k := range b.Field(i).Len() {
			fill(b.Field(i).Index(k), a.Field(i).Index(k), w.Field(i).Index(k))
		}
	}
	// A unit that was first met in between had no samples before.
	after.Units, want.Units = append(after.Units, 5), append(want.Units, 5)
	if got := after.Minus(before); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
