package ledger

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

func TestReadCPUs(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for _, test := range []struct {
		system             fstest.MapFS
		isolated, tickless []int
	}{
		{fstest.MapFS{"cpu/online": file("0-3\n")}, nil, nil},
		{
			fstest.MapFS{"cpu/online": file("0-3\n"), "cpu/isolated": file("\n"), "cpu/nohz_full": file(" (null)\n")},
			nil, nil,
		},
		{
			fstest.MapFS{"cpu/online": file("0-3\n"), "cpu/isolated": file("2-3\n"), "cpu/nohz_full": file("1,3\n")},
			[]int{2, 3}, []int{1, 3},
		},
	} {
		c, err := ReadCPUs(test.system)
		if err != nil || !slices.Equal(c.Online, []int{0, 1, 2, 3}) ||
			!slices.Equal(c.isolated, test.isolated) || !slices.Equal(c.tickless, test.tickless) {
			t.Errorf("%+v, %v; want %v isolated, %v tickless", c, err, test.isolated, test.tickless)
		}
	}
	for _, system := range []fstest.MapFS{
		{}, {"cpu/online": file("")}, {"cpu/online": file("0-1"), "cpu/isolated": file("x")},
	} {
		if c, err := ReadCPUs(system); err == nil {
			t.Errorf("%+v, no error", c)
		}
	}
	c, err := ReadCPUs(os.DirFS("/sys/devices/system"))
	if err != nil || len(c.Online) == 0 || !slices.IsSorted(c.Online) {
		t.Errorf("of this machine: %+v, %v", c, err)
	}
}

func TestWithClock(t *testing.T) {
	all := []int{0, 1, 2, 3}
	for _, test := range []struct {
		why                string
		isolated, tickless []int
		mayRun             [][]int
		want               []int
	}{
		{"nothing is kept free", nil, nil, [][]int{all}, all},
		{"a clock costs little where it may not run", nil, nil, [][]int{{1}}, all},
		{"isolated ones are left out", []int{2, 3}, nil, [][]int{{0, 1}}, []int{0, 1}},
		{"whatever a container allows", []int{2, 3}, nil, [][]int{all}, []int{0, 1}},
		{"pinned to one", []int{2, 3}, nil, [][]int{{2}}, []int{0, 1, 2}},
		{"one thread of several is", []int{2, 3}, nil, [][]int{{0, 1}, {3}}, []int{0, 1, 3}},
		{"one among others, chosen", []int{2, 3}, nil, [][]int{{0, 3}}, []int{0, 1, 3}},
		{"chosen beside all others", []int{3}, nil, [][]int{{1, 2, 3}}, all},
		{"tickless ones are left out", nil, []int{2, 3}, [][]int{{0, 1}}, []int{0, 1}},
		{"but where the scheduler may move it", nil, []int{1, 2, 3}, [][]int{all}, all},
		{"isolated and tickless is isolated", []int{2, 3}, []int{2, 3}, [][]int{all}, []int{0, 1}},
		{"nothing is known of it", []int{3}, []int{2}, nil, []int{0, 1}},
		{"off line", []int{2, 9}, nil, [][]int{{9}}, []int{0, 1, 3}},
	} {
		c := CPUs{Online: all, isolated: test.isolated, tickless: test.tickless}
		if got := c.WithClock(test.mayRun); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.why, got, test.want)
		}
	}
}

// A thread of the target that runs on a CPU without a clock is noticed. It is sampled once the CPU has one.
func TestRanWithoutClock(t *testing.T) {
	realkernel.Need(t)
	c, err := ReadCPUs(os.DirFS("/sys/devices/system"))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Online) < 2 {
		t.Skip("one CPU")
	}
	first, second := c.Online[0], c.Online[1]
	l := opened(t)
	if _, err := l.StartClock([]int{first}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var set unix.CPUSet
	set.Set(second)
	if err := unix.SchedSetaffinity(cmd.Process.Pid, &set); err != nil {
		t.Skip("no process can be kept on a CPU here: ", err)
	}
	l.Await([]int{second})
	time.Sleep(20 * time.Millisecond) // whatever else runs there
	if ran := l.Ran([]int{second}); len(ran) > 0 {
		t.Errorf("CPUs %v before there is a target", ran)
	}
	if err := l.Join([]Process{{PID: cmd.Process.Pid}}); err != nil {
		t.Fatal(err)
	}
	await := func(what string, come func() bool) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); !come(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
		}
	}
	await("Ran does not notice the thread", func() bool { return len(l.Ran([]int{second})) > 0 })
	if n := l.Totals(0).Samples; n > 0 {
		t.Errorf("%d samples on a CPU without a clock", n)
	}
	if barred, err := l.AddClocks([]int{second}); err != nil || len(barred) > 0 {
		t.Fatal(barred, err)
	}
	await("no sample by the new clock", func() bool { return l.Totals(0).Samples > 0 })
}

// What whatif itself may run on does not count, and a CPU that is not there cannot have a clock.
func TestReachable(t *testing.T) {
	c, err := ReadCPUs(os.DirFS("/sys/devices/system"))
	if err != nil {
		t.Fatal(err)
	}
	all := c.Reachable()
	if all < 1 || all > len(c.Online) {
		t.Errorf("%d of %d", all, len(c.Online))
	}
	bound := 0
	onOwnThread(func() {
		if err = moveTo(c.Online[0]); err == nil {
			bound = c.Reachable()
		}
	})
	if err != nil || bound != all {
		t.Errorf("from one CPU: %d, else %d: %v", bound, all, err)
	}
}
