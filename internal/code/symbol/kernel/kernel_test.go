package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/code/symbol"
	"whatif/internal/hint"
)

func recorded(t testing.TB) *Table {
	t.Helper()
	f, err := os.Open("testdata/kallsyms.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func TestFind(t *testing.T) {
	table := recorded(t)
	for addr, want := range map[uint64]string{
		0xffffffff9ac00000: "startup_64", 0xffffffff9ac0004f: "startup_64", 0xffffffff9ac00050: "secondary_startup_64",
		0xffffffff9ac00115: "secondary_startup_64", // padding has no name of its own
		0xffffffff9ac00120: "verify_cpu", 0xffffffff9ac00210: "__x64_sys_read", 0xffffffff9ac00250: "ksys_read.constprop.0",
		0xffffffff9ac00310: "arch_strong", 0xffffffff9ac00500: "helper", 0xffffffff9ac006ff: "helper",
		0xffffffff9ac00700: "", 0xffffffff9b000000: "", 0xffffffff9ac00000 - 1: "", 0: "", ^uint64(0): "",
		0xffffffffc0400050: "ext4_read", 0xffffffffc0400150: "ext4_write", 0xffffffffc0410100: "",
		0xffffffffc0380050: "bpf_prog_6deef7357e7b4530_clock", 0xffffffffc0380150: "xfs_read", 0xffffffffc03f0000: "",
	} {
		s, ok := table.Find(addr)
		if ok != (want != "") || s.Name != want {
			t.Errorf("%#x: %+v, %v, want %q", addr, s, ok, want)
		}
	}
	s, _ := table.Find(0xffffffffc0400050)
	want := symbol.Frame{Func: "ext4_read", Short: "ext4_read", File: "[ext4]"}
	if s.Module != "ext4" || s.Size != 0x100 || s.frame() != want {
		t.Errorf("%+v, %+v", s, s.frame())
	}
}

func TestFunctions(t *testing.T) {
	table := recorded(t)
	for match, want := range map[string]int{
		"verify_cpu": 1, "ksys_read": 1, "ksys_read.constprop.0": 1, "helper": 2, "ext4_*": 2, "no_such": 0, "jiffies": 0,
		"kernel::print::emit": 1, "*sys_read": 2, "_etext": 0,
	} {
		if got := table.Functions(match); len(got) != want {
			t.Errorf("%s: %+v", match, got)
		}
	}
}

// TestStarts checks that all addresses from one start to the next have the same answer.
func TestStarts(t *testing.T) {
	table := recorded(t)
	starts := table.starts()
	for i, from := range starts {
		if i > 0 && from <= starts[i-1] {
			t.Fatalf("%#x comes after %#x", from, starts[i-1])
		}
		if i+1 == len(starts) {
			break
		}
		a, aFound := table.Find(from)
		b, bFound := table.Find(starts[i+1] - 1)
		if a != b || aFound != bFound {
			t.Errorf("%#x is in %q, %#x in %q", from, a.Name, starts[i+1]-1, b.Name)
		}
	}
	if _, found := table.Find(starts[len(starts)-1]); found {
		t.Error("the last function has no end")
	}
}

func TestHidden(t *testing.T) {
	_, err := Parse(strings.NewReader("0000000000000000 T _stext\n0000000000000000 t verify_cpu\n"))
	var hidden *HiddenError
	if !errors.As(err, &hidden) || hint.Of(err) == "" {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
	for _, text := range []string{
		"", "\n\n", "not a symbol table\n", "ffffffff9b000000 D jiffies\n", strings.Repeat("x", 1<<20),
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || errors.As(err, &hidden) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestRunningKernel finds the symbols of kallsyms by address and by name.
func TestRunningKernel(t *testing.T) {
	k := New("")
	defer k.Close()
	err := k.Load()
	var hidden *HiddenError
	if errors.As(err, &hidden) && os.Geteuid() != 0 {
		t.Skip("not root: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"schedule", "vfs_read", "do_nanosleep"} {
		funcs, err := k.Functions(name)
		if err != nil || len(funcs) == 0 {
			t.Errorf("%s: %v, %v", name, funcs, err)
			continue
		}
		for _, addr := range []uint64{funcs[0].Addr, funcs[0].Addr + funcs[0].Size - 1} {
			frames, err := k.Frames(addr)
			if err != nil || len(frames) != 1 || frames[0].Short != name {
				t.Errorf("%s at %#x: %+v, %v", name, addr, frames, err)
			}
		}
	}
	if frames, err := k.Frames(0x400000); err != nil || len(frames) != 0 {
		t.Errorf("a program's address: %+v, %v", frames, err)
	}
	if err := k.CheckLine("kernel/sched/core.c", 1); err == nil || !strings.Contains(hint.Of(err), "--vmlinux") {
		t.Errorf("%v, hint %q", err, hint.Of(err))
	}
}

// image links a kernel's image: code at the kernel's addresses, with a build id.
func image(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "core.c")
	text := `static inline __attribute__((always_inline)) int twice(int x) { return
  x * 2; }
int counter;
__attribute__((noinline)) void pick(int n) {
  counter += twice(n);
}
void begin(void) { for (;;) pick(counter); }
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "vmlinux")
	cmd := exec.Command("gcc", "-g", "-O1", "-ffreestanding", "-fno-toplevel-reorder", "-mcmodel=kernel",
		"-fno-pie", "-no-pie", "-nostdlib", "-static", "-Wl,--build-id=0x1234abcd",
		"-Wl,-Ttext=0xffffffff81000000", "-Wl,--defsym=_stext=0xffffffff81000000", "-Wl,-e,begin", "-o", out, source)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("this compiler makes no such image: %v\n%s", err, text)
	}
	return out
}

// running returns a kernel with that image, loaded at other addresses.
func running(t *testing.T, vmlinux string, slide uint64, notes []byte) *Kernel {
	t.Helper()
	b, err := symbol.Open(vmlinux)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var kallsyms bytes.Buffer
	for _, name := range []string{"_stext", "pick", "begin"} {
		addr, ok := b.Address(name)
		if !ok {
			t.Fatalf("the image has no %s", name)
		}
		fmt.Fprintf(&kallsyms, "%016x T %s\n", addr+slide, name)
	}
	fmt.Fprintf(&kallsyms, "%016x T _etext\n", 0xffffffff81001000+slide)
	fmt.Fprintf(&kallsyms, "%016x t ext4_read\t[ext4]\n", 0xffffffffc0400000+slide)
	dir := t.TempDir()
	k := New(vmlinux)
	k.kallsyms, k.notes = filepath.Join(dir, "kallsyms"), filepath.Join(dir, "notes")
	for path, data := range map[string][]byte{k.kallsyms: kallsyms.Bytes(), k.notes: notes} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { k.Close() })
	return k
}

func note(id ...byte) []byte {
	return append([]byte{4, 0, 0, 0, byte(len(id)), 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0}, id...)
}

func TestVmlinux(t *testing.T) {
	vmlinux := image(t)
	const slide = 0x19c00000
	k := running(t, vmlinux, slide, note(0x12, 0x34, 0xab, 0xcd))
	if err := k.Load(); err != nil {
		t.Fatal(err)
	}
	if k.slide != slide {
		t.Errorf("slide %#x, want %#x", k.slide, slide)
	}
	funcs, err := k.Functions("pick")
	if err != nil || len(funcs) != 1 {
		t.Fatal(funcs, err)
	}
	inlined := false
	for addr := funcs[0].Addr; addr < funcs[0].Addr+8; addr++ {
		frames, err := k.Frames(addr)
		if err != nil || len(frames) == 0 {
			t.Fatalf("%#x: %v, %v", addr, frames, err)
		}
		outer := frames[len(frames)-1]
		if outer.Func != "pick" || outer.Line < 4 || outer.Line > 6 || filepath.Base(outer.File) != "core.c" {
			t.Errorf("%#x: %+v", addr, frames)
		}
		inlined = inlined || len(frames) == 2 && frames[0].Func == "twice" && frames[0].Line == 2
	}
	if !inlined {
		t.Error("twice is nowhere in pick")
	}
	frames, err := k.Frames(0xffffffffc0400010 + slide)
	if err != nil || len(frames) != 1 || frames[0].Func != "ext4_read" || frames[0].Line != 0 {
		t.Errorf("a module: %+v, %v", frames, err)
	}
	if err := k.CheckLine("core.c", 5); err != nil {
		t.Error(err)
	}
	var missing *symbol.NotFound
	if err := k.CheckLine("core.c", 500); !errors.As(err, &missing) {
		t.Errorf("line 500: %v", err)
	}
}

func TestWrongVmlinux(t *testing.T) {
	vmlinux := image(t)
	err := running(t, vmlinux, 0, note(0x12, 0x34, 0xab, 0xce)).Load()
	if err == nil || !strings.Contains(err.Error(), "of another kernel") {
		t.Errorf("another build id: %v", err)
	}
	if err := running(t, vmlinux, 0, nil).Load(); err != nil {
		t.Errorf("a kernel without build id: %v", err)
	}
	bare := filepath.Join(t.TempDir(), "bare")
	if text, err := exec.Command("strip", "-o", bare, vmlinux).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	k := running(t, vmlinux, 0, nil)
	k.vmlinux = bare
	if err := k.Load(); err == nil || hint.Of(err) == "" {
		t.Errorf("without debug information: %v", err)
	}
	k = running(t, vmlinux, 0, nil)
	k.vmlinux = "testdata/kallsyms.txt"
	if err := k.Load(); err == nil || hint.Of(err) == "" {
		t.Errorf("no image: %v", err)
	}
	if _, err := k.Frames(0xffffffff81000000); err == nil {
		t.Error("frames after an error")
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/kallsyms.txt")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte("ffffffffffffffff T a\n0 t \nffffffffffffffff t b\tc]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := Parse(bytes.NewReader(data))
		if err != nil {
			return
		}
		for i, e := range table.all {
			s := table.at(i)
			if s.Size == 0 || s.Addr != e.addr || len(s.Name) == 0 {
				t.Errorf("symbol %d: %+v", i, s)
			}
			followed := i+1 < len(table.all) && table.all[i+1].addr > e.addr
			if found, ok := table.Find(e.addr); !ok && !marks[found.Name] && !marks[s.Name] && followed {
				t.Errorf("%+v is not found at its address", s)
			}
		}
		table.Functions("*a*")
		table.Address("_stext")
	})
}

// BenchmarkParse measures the first use of the kernel's symbols.
func BenchmarkParse(b *testing.B) {
	text, err := os.ReadFile("/proc/kallsyms")
	if err != nil || bytes.HasPrefix(text, []byte("0000000000000000 T _stext")) {
		b.Skip("no addresses: ", err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLoad measures the same, with the time in which the kernel prints them.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if err := New("").Load(); err != nil {
			b.Skip(err)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	table := recorded(b)
	for b.Loop() {
		table.Find(0xffffffff9ac00250)
	}
}
