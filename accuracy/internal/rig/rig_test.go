package rig

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParseSaid(t *testing.T) {
	tests := []struct {
		output string
		rate   float64
		wrong  string // part of the error
	}{
		{output: "visits 300 seconds 1.5\n", rate: 200},
		{output: "hello\nvisits 2 seconds 2\nlive 10000\nthe end\n", rate: 1},
		{output: "", wrong: "no line"},
		{output: "visits many seconds 1\n", wrong: "no line"},
		{output: "visits 0 seconds 1\n", wrong: "no line"},
		{output: "visits 1 seconds NaN\n", wrong: "no line"},
		{output: "visits 1 seconds 1\nvisits 1 seconds 1\n", wrong: "twice"},
	}
	for _, test := range tests {
		said, err := ParseSaid(test.output)
		if test.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("ParseSaid(%q): error %v, want one with %q", test.output, err, test.wrong)
			}
			continue
		}
		if err != nil || said.Rate() != test.rate {
			t.Errorf("ParseSaid(%q) = %v, %v, want a rate of %g", test.output, said, err, test.rate)
		}
	}
}

func TestUse(t *testing.T) {
	var u Use
	// The kernel counts time in ticks, and it is chance how soon one falls into this loop.
	for end := time.Now().Add(5 * time.Second); u.CPU == 0 && time.Now().Before(end); {
		u.read("/proc/self")
	}

	if u.PeakRSS < 1<<20 || u.CPU < 10*time.Millisecond {
		t.Errorf("of this process: %+v, want a megabyte and some ticks at least", u)
	}
	if u.Maps != 0 {
		t.Errorf("%d bytes of maps, this process has none", u.Maps)
	}
	stat := []byte("7 (a ) b) S 1 2 3 4 5 6 7 8 9 10 30 12 13 14")
	if got, want := cpuTime(stat), 420*time.Millisecond; got != want {
		t.Errorf("cpuTime = %v, want %v", got, want)
	}
}

func TestOpen(t *testing.T) {
	t.Chdir(t.TempDir())
	if _, err := Open("bin/whatif"); err == nil || !strings.Contains(err.Error(), "finding the checkout") {
		t.Errorf("outside a checkout: error %v", err)
	}
}

func TestExecute(t *testing.T) {
	const script = "sleep 100 >/dev/null 2>&1 & echo pid $!; echo visits 1 seconds 1"
	_, said, err := execute(t.Context(), []string{"sh", "-c", script}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The process was killed, but may not be reaped yet. A zombie has no command line.
	path := "/proc/" + strconv.Itoa(int(said["pid"])) + "/cmdline"
	for range 100 {
		if line, err := os.ReadFile(path); err != nil || len(line) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %v lives on", said["pid"])
}

func TestExecuteFails(t *testing.T) {
	_, _, err := execute(t.Context(), []string{"sh", "-c", "echo why >&2; exit 3"}, nil)
	if err == nil || !strings.Contains(err.Error(), "exit status 3 (why)") {
		t.Errorf("error %v, want one with the status and the last words", err)
	}
}
