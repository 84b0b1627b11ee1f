package ledger

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"

	"whatif/bpf"
)

// objects are the committed kernel sides of all architectures.
var objects = []string{"../../bpf/ledger_x86_bpfel.o", "../../bpf/ledger_arm64_bpfel.o"}

func specOf(t *testing.T, object string) *ebpf.CollectionSpec {
	t.Helper()
	spec, err := ebpf.LoadCollectionSpec(object)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// The Go types have the layout of the C types, which the objects tell.
func TestLayout(t *testing.T) {
	for _, object := range objects {
		spec := specOf(t, object)
		for name, v := range map[string]any{
			"control_page": bpf.LedgerControlPage{},
			"membership":   bpf.LedgerMembership{},
			"choice":       bpf.LedgerChoice{},
			"process":      bpf.LedgerProcess{},
			"core":         bpf.LedgerCore{},
			"thread":       bpf.LedgerThread{},
			"span_point":   bpf.LedgerSpanPoint{},
			"span_counts":  bpf.LedgerSpanCounts{},
			"place":        bpf.LedgerPlace{},
			"event":        bpf.LedgerEvent{},
			"address":      bpf.LedgerAddress{},
			"code":         bpf.LedgerCode{},
			"table":        bpf.LedgerTable{},
			"rule":         bpf.LedgerRule{},
			"row":          bpf.LedgerRow{},
		} {
			var c *btf.Struct
			if err := spec.Types.TypeByName(name, &c); err != nil {
				t.Errorf("%s: struct %s: %v", object, name, err)
				continue
			}
			sameStruct(t, object+": struct "+name, c, reflect.TypeOf(v))
		}
	}
}

// sameStruct compares sizes, and the offset and size of each member.
func sameStruct(t *testing.T, where string, c *btf.Struct, g reflect.Type) {
	t.Helper()
	if uintptr(c.Size) != g.Size() {
		t.Errorf("%s has %d bytes, the Go type %d", where, c.Size, g.Size())
	}
	fields := map[string]reflect.StructField{}
	for i := range g.NumField() {
		if f := g.Field(i); f.Name != "_" {
			fields[strings.ToLower(f.Name)] = f
		}
	}
	if len(fields) != len(c.Members) {
		t.Errorf("%s has %d members, the Go type %d", where, len(c.Members), len(fields))
	}
	for _, m := range c.Members {
		f, ok := fields[strings.ReplaceAll(m.Name, "_", "")]
		if !ok {
			t.Errorf("%s: the Go type has no %s", where, m.Name)
			continue
		}
		size, err := btf.Sizeof(m.Type)
		if err != nil {
			t.Errorf("%s.%s: %v", where, m.Name, err)
			continue
		}
		if uintptr(m.Offset.Bytes()) != f.Offset || uintptr(size) != f.Type.Size() {
			t.Errorf("%s.%s is %d bytes at %d, in the Go type %d at %d",
				where, m.Name, size, m.Offset.Bytes(), f.Type.Size(), f.Offset)
		}
		if inner, ok := btf.As[*btf.Struct](m.Type); ok && f.Type.Kind() == reflect.Struct {
			sameStruct(t, where+"."+m.Name, inner, f.Type)
		}
	}
}

// The variables that mapPage maps are in the shared section, with the sizes of their Go types.
func TestVariables(t *testing.T) {
	var p page
	for _, object := range objects {
		spec := specOf(t, object)
		shared := spec.Maps[sharedSection]
		if shared == nil {
			t.Fatalf("%s has no %s", object, sharedSection)
		}
		for _, name := range []string{"bins", "cores", "rows", "rules", "span_samples", "unit_samples", "unit_waits"} {
			if spec.Variables[name] != nil {
				t.Errorf("%s: %s is not LARGE: the library makes a copy of it", object, name)
			}
		}
		at, err := Variables(spec)
		if err != nil {
			t.Fatal(err)
		}
		if shared.Contents != nil {
			t.Errorf("%s: the zeros of %s are copied", object, sharedSection)
		}
		for name, size := range map[string]uintptr{
			"control":      unsafe.Sizeof(*p.control),
			"membership":   unsafe.Sizeof(*p.membership),
			"cores":        unsafe.Sizeof(*p.cores),
			"unit_samples": unsafe.Sizeof(*p.unitSamples),
			"bins":         unsafe.Sizeof(*p.bins),
			"visits":       unsafe.Sizeof(*p.visits),
			"calls":        unsafe.Sizeof(*p.calls),
			"rules":        unsafe.Sizeof(*p.rules),
			"rows":         unsafe.Sizeof(*p.rows),
		} {
			v := at[name]
			if uintptr(v.Size) != size || v.Offset%8 != 0 || v.Offset+v.Size > shared.ValueSize {
				t.Errorf("%s: %s is %d bytes at %d of %d; the Go type has %d",
					object, name, v.Size, v.Offset, shared.ValueSize, size)
			}
		}
	}
}
