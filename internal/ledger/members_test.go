package ledger

import (
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"whatif/internal/target"
	"whatif/internal/testing/realkernel"
)

func opened(t *testing.T) *Ledger {
	t.Helper()
	l, err := Open(Options{Period: time.Millisecond, Cap: 4 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// sleeping starts a process that sleeps.
func sleeping(t *testing.T) (cmd *exec.Cmd, end func()) {
	t.Helper()
	cmd = exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = func() {
		cmd.Process.Kill()
		cmd.Wait()
	}
	t.Cleanup(end)
	return cmd, end
}

// becomes waits until the target has this many processes.
func becomes(t *testing.T, l *Ledger, want int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); l.Processes() != want; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d processes, want %d", l.Processes(), want)
		}
	}
}

// members are the numbers of the target's processes, ascending.
func members(t *testing.T, l *Ledger) []int {
	t.Helper()
	all, err := l.Members()
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, m := range all {
		pids = append(pids, m.PID)
	}
	slices.Sort(pids)
	return pids
}

// member is the member with a number.
func member(t *testing.T, l *Ledger, pid int) []Process {
	t.Helper()
	all, err := l.Members()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(m Process) bool { return m.PID != pid })
}

// A member stays if it has only the number of the process that is to be let go.
func TestLeaveReusedNumber(t *testing.T) {
	realkernel.Need(t)
	l := opened(t)
	a, _ := sleeping(t)
	if err := l.Join([]Process{{PID: a.Process.Pid}}); err != nil {
		t.Fatal(err)
	}
	before := member(t, l, a.Process.Pid)
	before[0].born++
	if err := l.Leave(before); err != nil {
		t.Fatal(err)
	}
	if got := members(t, l); !slices.Equal(got, []int{a.Process.Pid}) || l.Processes() != 1 {
		t.Errorf("members %v, %d processes: want %d", got, l.Processes(), a.Process.Pid)
	}
}

func TestJoinAndLeave(t *testing.T) {
	realkernel.Need(t)
	l := opened(t)
	a, endA := sleeping(t)
	b, _ := sleeping(t)
	both := []Process{{PID: a.Process.Pid}, {PID: b.Process.Pid}}
	for range 2 { // a second time changes nothing
		if err := l.Join(both); err != nil {
			t.Fatal(err)
		}
		got := members(t, l)
		if !slices.Equal(got, []int{a.Process.Pid, b.Process.Pid}) || l.Processes() != 2 || l.Joined() != 2 {
			t.Fatalf("members %v, %d processes, %d threads: want %v", got, l.Processes(), l.Joined(), both)
		}
	}
	endA()
	becomes(t, l, 1)
	if err := l.Leave(member(t, l, b.Process.Pid)); err != nil {
		t.Fatal(err)
	}
	if got := members(t, l); len(got) != 0 || l.Processes() != 0 {
		t.Errorf("members %v, %d processes, and all have left", got, l.Processes())
	}
}

// A thread that leaves while it waits does not count as waiting any more: else G would grow for it in all later
// experiments.
func TestLeaveEndsWaits(t *testing.T) {
	realkernel.Need(t)
	l, err := Open(Options{
		Period: time.Millisecond, Cap: 4 * time.Millisecond, Waits: []WaitClass{WaitSleep},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cmd := exec.Command("sh", "-c", "read line; exec sleep 100")
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	if err := l.Join([]Process{{PID: pid}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stdin.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); l.WaitsUnended() != 1; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d threads wait, want the one that sleeps", l.WaitsUnended())
		}
	}
	if err := l.Leave(member(t, l, pid)); err != nil {
		t.Fatal(err)
	}
	if n := l.WaitsUnended(); n != 0 {
		t.Errorf("%d threads wait, and all have left", n)
	}
}

// A process that has only the number of the one that is meant is not taken in.
func TestJoinReusedNumber(t *testing.T) {
	realkernel.Need(t)
	l := opened(t)
	a, _ := sleeping(t)
	if err := l.Join([]Process{{PID: a.Process.Pid, Start: 1}}); err != nil {
		t.Fatal(err)
	}
	if l.Processes() != 0 {
		t.Error("a process that began at another time was taken in")
	}
	stat, err := target.StatOf(a.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	other, err := target.StatOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if stat.Unique != other.Unique { // since Linux 6.9
		if err := l.Join([]Process{{PID: a.Process.Pid, Start: stat.Start, Unique: stat.Unique + 1}}); err != nil {
			t.Fatal(err)
		}
		if l.Processes() != 0 {
			t.Error("another process that began in the same 10 ms was taken in")
		}
	}
	if err := l.Join([]Process{{PID: a.Process.Pid, Start: stat.Start, Unique: stat.Unique}}); err != nil {
		t.Fatal(err)
	}
	if l.Processes() != 1 {
		t.Error("the process that is meant was not taken in")
	}
}

// All processes are taken in, later ones included, but not this process and exempt ones.
func TestJoinAll(t *testing.T) {
	realkernel.Need(t)
	l := opened(t)
	before, _ := sleeping(t)
	exempt, endExempt := sleeping(t)
	if err := l.JoinAll([]Process{{PID: exempt.Process.Pid}}); err != nil {
		t.Fatal(err)
	}
	mine, _ := sleeping(t)
	got := members(t, l)
	if !slices.Contains(got, before.Process.Pid) {
		t.Errorf("process %d is not among %v", before.Process.Pid, got)
	}
	for _, pid := range []int{os.Getpid(), exempt.Process.Pid, mine.Process.Pid} {
		if slices.Contains(got, pid) {
			t.Errorf("process %d is among %v", pid, got)
		}
	}
	n := l.Processes()
	if n < len(got)-2 || n < 1 {
		t.Errorf("%d processes, %d listed", n, len(got))
	}
	endExempt()
	if slices.Contains(members(t, l), exempt.Process.Pid) {
		t.Error("an exempt one became a member by its end")
	}
	// A child of this process can be adopted all the same.
	if err := l.Adopt(mine.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(members(t, l), mine.Process.Pid) {
		t.Error("the adopted one is no member")
	}
}

// A member that is exempted is no member any more, not even after the next pass over all tasks. Another process with
// its number stays.
func TestExempt(t *testing.T) {
	realkernel.Need(t)
	l := opened(t)
	a, _ := sleeping(t)
	b, _ := sleeping(t)
	if err := l.JoinAll(nil); err != nil {
		t.Fatal(err)
	}
	other := member(t, l, b.Process.Pid)
	if len(other) != 1 || len(member(t, l, a.Process.Pid)) != 1 {
		t.Fatalf("members %v", members(t, l))
	}
	other[0].born++
	n := l.Processes()
	if err := l.Exempt(append(member(t, l, a.Process.Pid), other...)); err != nil {
		t.Fatal(err)
	}
	if err := l.JoinAll(nil); err != nil { // it is still exempt
		t.Fatal(err)
	}
	got := members(t, l)
	if slices.Contains(got, a.Process.Pid) {
		t.Error("it is a member still")
	}
	if !slices.Contains(got, b.Process.Pid) {
		t.Error("another of the same number was exempt in its place")
	}
	if l.Processes() >= n {
		t.Errorf("%d processes, %d before", l.Processes(), n)
	}
}
