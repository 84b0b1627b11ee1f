package target

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"whatif/internal/hint"
)

func TestParseStat(t *testing.T) {
	const rest = " -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 8765 9 10"
	for text, want := range map[string]Stat{
		"12 (sh) S 1 12 12 0" + rest:            {"sh", 'S', 1, 4194560, 3, 8765, 0},
		"12 (a) b) ((c) Z 7 12 12 0" + rest:     {"a) b) ((c", 'Z', 7, 4194560, 3, 8765, 0},
		"12 (kworker/0:1) I 2 0 0 0" + rest[:0]: {},
		"":                                      {},
		")(":                                    {},
		"12 (sh) S 1":                           {},
		"12 (sh) SLEEPS 1 12 12 0" + rest:       {},
	} {
		got, err := ParseStat([]byte(text))
		if (err != nil) != (want == Stat{}) || err == nil && got != want {
			t.Errorf("%q: %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("12 (a) b) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 3 0 8765 9 10"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := ParseStat(text); err == nil && !strings.Contains(string(text), "("+s.Name+")") {
			t.Errorf("%q is not the name in %q", s.Name, text)
		}
	})
}

// Processes that cannot be attached to give an error with a reason.
func TestFindRunning(t *testing.T) {
	sleeper := exec.Command("sleep", "100")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleeper.Process.Kill()
		sleeper.Wait()
	}()
	all, err := FindRunning([]int{sleeper.Process.Pid})
	if err != nil || len(all) != 1 || all[0].PID != sleeper.Process.Pid || all[0].Start == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	zombie := exec.Command("true")
	if err := zombie.Start(); err != nil {
		t.Fatal(err)
	}
	defer zombie.Wait()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if s, err := StatOf(zombie.Process.Pid); err == nil && s.Ended() {
			break
		}
	}
	for pid, want := range map[int]string{
		1 << 29:            "no such process",
		os.Getpid():        "whatif itself",
		zombie.Process.Pid: "has ended",
	} {
		if _, err := FindRunning([]int{pid}); err == nil || !strings.Contains(err.Error(), want) || hint.Of(err) == "" {
			t.Errorf("process %d: %v, want %q and a hint", pid, err, want)
		}
	}
}

func TestFindNamed(t *testing.T) {
	sleeper := exec.Command("sleep", "100")
	sleeper.Args[0] = "whatif-tests-sleeper"
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleeper.Process.Kill()
		sleeper.Wait()
	}()
	all, err := FindNamed("whatif-tests-sl?ep*")
	if err != nil || len(all) != 1 || all[0].PID != sleeper.Process.Pid {
		t.Fatalf("%+v, %v", all, err)
	}
	for glob, remedy := range map[string]string{
		"whatif-tests-slepeer": "did you mean whatif-tests-sleeper?", "[": "a pattern is", "nobody-has-this": "ps -e",
	} {
		if _, err := FindNamed(glob); err == nil || !strings.Contains(hint.Of(err), remedy) {
			t.Errorf("%s: %v, hint %q, want %q", glob, err, hint.Of(err), remedy)
		}
	}
}

func TestNearestAncestors(t *testing.T) {
	stats := make(map[int]Stat)
	for pid, parent := range map[int]int{1: 0, 2: 1, 3: 2, 4: 3, 5: 4, 6: 1, 7: 99, 8: 7, 20: 21, 21: 20, 22: 21} {
		stats[pid] = Stat{Parent: parent}
	}
	isRoot := func(pid int) bool { return pid == 2 || pid == 4 || pid == 99 }
	want := map[int]int{3: 2, 4: 2, 5: 4, 7: 99, 8: 99}
	if got := nearestAncestors(isRoot, stats); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	// In a circle, as processes change between the reads.
	circle := func(pid int) bool { return pid == 20 }
	if got := nearestAncestors(circle, stats); !maps.Equal(got, map[int]int{20: 20, 21: 20, 22: 20}) {
		t.Errorf("in a circle: %v", got)
	}
	// A user can make as many processes as a limit allows, each the parent of the next.
	const deep = 200_000
	for pid := 100; pid < 100+deep; pid++ {
		stats[pid] = Stat{Parent: pid - 1}
	}
	if got := nearestAncestors(isRoot, stats); got[99+deep] != 99 {
		t.Errorf("the last of a chain is below %d", got[99+deep])
	}
}

// If another process has the number now, its children are not listed.
func TestDescendants(t *testing.T) {
	parent := exec.Command("sh", "-c", "sleep 100 & echo; wait")
	parent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := parent.StdoutPipe()
	if err == nil {
		err = parent.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		syscall.Kill(-parent.Process.Pid, syscall.SIGKILL)
		parent.Wait()
	}()
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	of, err := FindRunning([]int{parent.Process.Pid})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Descendants(of); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v, want the one child", all, err)
	}
	of[0].Start++
	if all, err := Descendants(of); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v, want none", all, err)
	}
}

// A program is found where it runs by the file, and not by its name.
func TestRunningFile(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for range 2 {
		file := filepath.Join(t.TempDir(), "nap")
		if err := os.WriteFile(file, text, 0o755); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	cmd := exec.Command(files[0], "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	if got := RunningFile(files[0]); !slices.Equal(got, []int{cmd.Process.Pid}) {
		t.Errorf("%v, want %d", got, cmd.Process.Pid)
	}
	if got := RunningFile(files[1]); len(got) != 0 {
		t.Errorf("%v of another file of that name", got)
	}
	if got := RunningFile("no-such-program"); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
}
