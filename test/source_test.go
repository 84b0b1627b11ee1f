package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/testing/realkernel"
)

// header is the directory of whatif.h, for compilers.
func header(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return "-I" + dir
}

// Points in the source are found without being named, and every visit is counted, from every kind of process, however
// it ends.
func TestExactSourceVisits(t *testing.T) {
	realkernel.NeedSession(t)
	for _, flags := range [][]string{{"-fPIE", "-pie", "-O2"}, {"-static", "-O0"}} {
		counts := realkernel.Compile(t, "testdata/counts.c", append(flags, "-DIN_SOURCE", header(t))...)
		for _, load := range visitors(2000, 500) {
			t.Run(load.name()+flags[0], func(t *testing.T) {
				data, said := profiled(t, []string{"--experiment", "20ms"}, append([]string{counts}, load.args...), 0)
				var own int64
				if _, err := fmt.Sscanf(said, "visits %d", &own); err != nil || own != load.visits {
					t.Fatalf("the program said %q, expected %d visits", said, load.visits)
				}
				if len(data.Run.Points) != 1 || data.Run.Points[0].Name != "visited" || data.Run.Points[0].Kind != "source" {
					t.Fatalf("points %+v", data.Run.Points)
				}
				if got := data.End.Visits[0]; got != own {
					t.Errorf("%d visits counted, the program made %d; losses %v", got, own, data.End.Losses)
				}
			})
		}
	}
}

func TestSourceVisitsOfHardCases(t *testing.T) {
	realkernel.NeedSession(t)
	points := realkernel.Compile(t, "testdata/points.c", "-O2", header(t))
	dir := t.TempDir()
	libraries := []string{"libraries"}
	// More mappings than are looked at in one go, without points.
	for i := range 10 {
		lib := filepath.Join(dir, fmt.Sprintf("plain%d.so", i))
		copyFile(t, realkernel.Compile(t, "testdata/swaplib.c", "-shared", "-fPIC"), lib)
		libraries = append(libraries, lib)
	}
	for _, name := range []string{"one.so", "two.so"} {
		lib := filepath.Join(dir, name)
		if out, err := exec.Command("g++", "-shared", "-fPIC", "-O2", header(t), "-o", lib,
			"testdata/pointslib.cc").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		libraries = append(libraries, lib)
	}
	type load struct {
		args []string
		want int64 // besides those that the program says for busyforks
	}
	loads := []load{
		{[]string{"killed"}, 20000},
		{[]string{"exec"}, 300},
		{[]string{"busyforks"}, 0},
		{[]string{"split"}, 1000},
		{libraries, 1000},
	}
	if testing.Short() { // the first four in one run
		loads = []load{{[]string{"killed", "busyforks", "split", "exec"}, 20000 + 1000 + 300}, {libraries, 1000}}
	}
	for _, load := range loads {
		t.Run(load.args[0], func(t *testing.T) {
			data, said := profiled(t, []string{"-p", "visited", "--experiment", "20ms"},
				append([]string{points}, load.args...), 0)
			want := load.want
			if slices.Contains(load.args, "busyforks") {
				var own int64
				if _, err := fmt.Sscanf(said, "visits %d", &own); err != nil {
					t.Fatalf("the program said %q", said)
				}
				want += own
			}
			if got := data.End.Visits[0]; got != want {
				t.Errorf("%d visits counted, the program made %d; losses %v", got, want, data.End.Losses)
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A file that was replaced is looked into again, though it has the same number.
func TestSourceOfFileThatChanged(t *testing.T) {
	realkernel.NeedBeside(t)
	program := filepath.Join(t.TempDir(), "program")
	copyFile(t, realkernel.Compile(t, "testdata/naps.c"), program)
	points := realkernel.Compile(t, "testdata/points.c", "-O2", header(t))
	data, _ := profiled(t, []string{"-p", "visited", "-s", "0", "--experiment", "20ms"},
		[]string{"sh", "-c", `"$0"; cat "$1" > "$0"; "$0" split`, program, points}, 0)
	if got := data.End.Visits[0]; got != 1000 {
		t.Errorf("%d visits counted, the program made 1000; losses %v", got, data.End.Losses)
	}
}

// A program with COZ's own, unchanged header has points with COZ's names.
func TestCozProgram(t *testing.T) {
	realkernel.NeedSession(t)
	const source = "testdata/coz.c"
	program := realkernel.Compile(t, source)
	data, _ := profiled(t, []string{"--experiment", "20ms"}, []string{program}, 0)
	// The compiler gave the macro the source's path.
	here := fmt.Sprintf("coz.c:%d", realkernel.Line(t, source, "// HERE"))
	want := map[string]int64{here: 9000, "named point": 9000, "pair": 9000, "pair/begin": 9000}
	for i, p := range data.Run.Points {
		name := p.Name
		if filepath.Base(name) == here {
			name = here
		}
		if data.End.Visits[i] != want[name] {
			t.Errorf("%s: %d visits, want %d", p.Name, data.End.Visits[i], want[name])
		}
		delete(want, name)
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	checkPairOfCoz(t, data)
	data, _ = profiled(t, []string{"-l", "pair", "--experiment", "20ms"}, []string{program}, 0)
	if v := data.End.Visits; v[0] != 9000 || v[1] != 9000 {
		t.Errorf("asked for: %d begins and %d ends, want 9000", v[0], v[1])
	}
}

// A process that outlives whatif starts another program. The library that is preloaded into that program is the one
// that whatif put there: it has not gone, and no other user can have made another.
func TestCozSurvivor(t *testing.T) {
	realkernel.NeedBeside(t)
	program, dir := realkernel.Compile(t, "testdata/cozsurvivor.c"), t.TempDir()
	gone, maps, errs := filepath.Join(dir, "gone"), filepath.Join(dir, "maps"), filepath.Join(dir, "errs")
	defer os.WriteFile(gone, nil, 0o644) // it ends whatever the test finds
	data, _ := profiled(t, []string{"-d", "1s", "-s", "0", "--experiment", "20ms"},
		[]string{program, gone, maps, errs}, 128+15)
	if len(data.End.Visits) == 0 || data.End.Visits[0] == 0 {
		t.Error("nothing was counted")
	}
	if err := os.WriteFile(gone, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var said string
	until := time.Now().Add(patience)
	for ; !strings.HasSuffix(said, "\n") && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(errs)
		said = string(text)
	}
	if said != "cat: /no/such/file: No such file or directory\n" {
		t.Errorf("the other program says %q", said)
	}
	text, err := os.ReadFile(maps)
	if err != nil {
		t.Fatal(err)
	}
	path := regexp.MustCompile(`/\S*libwhatif-coz\S*`).Find(text)
	if path == nil {
		t.Fatalf("the library is not loaded:\n%s", text)
	}
	for at := string(path); ; at = filepath.Dir(at) {
		var st unix.Stat_t
		if err := unix.Lstat(at, &st); err != nil || st.Uid != 0 || st.Mode&0o022 != 0 {
			t.Errorf("%s: %v, of user %d, mode %o", at, err, st.Uid, st.Mode)
		}
		if at == "/" {
			break
		}
	}
}

// A program looks for COZ's function by itself, as Rust's crate coz does.
func TestCozInRust(t *testing.T) {
	realkernel.NeedBeside(t)
	program := filepath.Join(t.TempDir(), "coz")
	if out, err := exec.Command("rustc", "-O", "--edition", "2021", "-o", program,
		"testdata/coz.rs").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, _ := profiled(t, []string{"-s", "0", "--experiment", "20ms"}, []string{program}, 0)
	var names []string
	for i, p := range data.Run.Points {
		names = append(names, p.Name)
		if data.End.Visits[i] != 4000 {
			t.Errorf("%s: %d visits, want 4000", p.Name, data.End.Visits[i])
		}
	}
	slices.Sort(names)
	if want := []string{"rust done", "rust pair", "rust pair/begin"}; !slices.Equal(names, want) {
		t.Errorf("points %q, want %q", names, want)
	}
}

// checkPairOfCoz checks that the pair has been found to be a latency.
func checkPairOfCoz(t *testing.T, data *profile.Data) {
	t.Helper()
	if l := data.Run.Latencies; len(l) != 1 || l[0].Name != "pair" || data.Run.Points[l[0].Begin].Name != "pair/begin" ||
		data.Run.Points[l[0].End].Name != "pair" {
		t.Errorf("latencies %+v of points %+v", l, data.Run.Points)
	}
}

// The mean latency of pairs with COZ's macros is known, also when it is asked for by name.
func TestLatencyOfCozProgram(t *testing.T) {
	realkernel.NeedQuiet(t)
	program := realkernel.Compile(t, "testdata/spans.c", "-DCOZ")
	for _, flags := range [][]string{nil, {"-l", "r"}} {
		data, said := profiled(t, append(flags, "-s", "0", "--period", "1ms"), []string{program, "paced", "1"}, 0)
		for i := range data.Run.Latencies {
			data.Run.Latencies[i].Found = true
		}
		checkPaced(t, data, said)
	}
}

// Points in the source of Go programs are counted, with symbols and without.
func TestGoSourceVisits(t *testing.T) {
	realkernel.NeedSession(t)
	all := []string{"", "-s -w"}
	var programs []string
	for _, flags := range all {
		programs = append(programs, buildGo(t, "./testdata/gopoints", "-ldflags="+flags))
	}
	for i, flags := range all {
		program := programs[i]
		data, _ := profiled(t, []string{"--experiment", "20ms"}, []string{program}, 0)
		if len(data.Run.Points) != 3 || len(data.Run.Latencies) != 1 {
			t.Fatalf("points %+v", data.Run.Points)
		}
		for i, p := range data.Run.Points {
			if data.End.Visits[i] != 1_000_000 {
				t.Errorf("%q: %s: %d visits, want a million", flags, p.Name, data.End.Visits[i])
			}
		}
	}
}

func TestRustSourceVisits(t *testing.T) {
	realkernel.NeedSession(t)
	dir := t.TempDir()
	lib, program := filepath.Join(dir, "libwhatif.rlib"), filepath.Join(dir, "points")
	for _, args := range [][]string{
		{"--edition", "2021", "--crate-name", "whatif", "--crate-type", "rlib", "-O", "../rust/whatif/src/lib.rs",
			"-o", lib},
		{"--edition", "2021", "-O", "--extern", "whatif=" + lib, "testdata/points.rs", "-o", program},
	} {
		cmd := exec.Command("rustc", args...)
		cmd.Env = append(os.Environ(), "LC_ALL=C")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	data, _ := profiled(t,
		[]string{"-p", "visited", "-p", "part%begin", "-p", "part%end", "-p", "part", "--experiment", "20ms"},
		[]string{program}, 0)
	for i, want := range []int64{6000, 6000, 6000, 6000} { // a pair without %begin or %end is counted at its end
		if data.End.Visits[i] != want {
			t.Errorf("%s: %d visits, want %d", data.Run.Points[i].Name, data.End.Visits[i], want)
		}
	}
	// They are seen as they happen, and in another thread than they began in.
	data, _ = profiled(t, []string{"-l", "part", "-l", "handed", "--experiment", "20ms"}, []string{program}, 0)
	for i, want := range []int64{6000, 6000, 400, 400} {
		if data.End.Visits[i] != want {
			t.Errorf("%s: %d visits, want %d", data.Run.Points[i].Name, data.End.Visits[i], want)
		}
	}
	for _, e := range data.Experiments {
		for i, d := range e.Latencies {
			if !(d.Unmatched == 0 && d.Again == 0 && d.Late == 0) {
				t.Errorf("experiment %d: %s: %+v", e.Index, data.Run.Latencies[i].Name, d)
			}
		}
	}
}
