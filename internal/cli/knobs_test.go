package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/cli"
	"whatif/internal/testing/realkernel"
	"whatif/internal/testing/synthetic"
)

// slowDevice writes device files of a host and of a device with a slow network and disk, beside each other in a
// directory on a disk.
func slowDevice(t *testing.T) (dir, host, device string) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "whatif-knobs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	write := func(name string, measures map[string][2]any) string {
		var lines []string
		for name, m := range measures {
			lines = append(lines, fmt.Sprintf(`{"name": %q, "unit": %q, "value": %v, "spread": 0.01, "rounds": 15}`, name,
				m[0], m[1]))
		}
		text := fmt.Sprintf(`{"format": "whatif-device", "version": 1, "name": %q, "kind": "measured",
"machine": {"arch": "amd64"}, "cores": 2, "measures": [%s]}`, name, strings.Join(lines, ",\n"))
		path := filepath.Join(dir, name+".json")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	host = write("host", map[string][2]any{"cpu.integer.one": {"1/s", 4e8}, "disk.read.4k": {"1/s", 1e4},
		"net.loopback.bandwidth": {"B/s", 2e9}})
	device = write("slow", map[string][2]any{"cpu.integer.one": {"1/s", 4e8}, "disk.read.4k": {"1/s", 100},
		"net.peer.bandwidth": {"B/s", 1e6}, "net.peer.rtt": {"s", 0.01}})
	return dir, host, device
}

// TestDeviceKnobs: the program really has the network and the disk of the device, and the report says so.
func TestDeviceKnobs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may do that")
	}
	realkernel.NeedBeside(t)
	dir, host, device := slowDevice(t)
	const bytesSent = 400000
	const script = `cat /proc/self/cgroup; readlink /proc/self/ns/net; exec 3<>/dev/tcp/127.0.0.1/$0; cat <&3 | wc -c`
	cmd := exec.Command(realkernel.Whatif(t), "record", "--device", device, "--host", host, "--device-knobs", "-o",
		"p.profile", "--", "bash", "-c", script, sender(t, bytesSent))
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	begin := time.Now()
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if took := time.Since(begin); took < 350*time.Millisecond {
		t.Errorf("%d bytes took %v at 1 MB/s", bytesSent, took)
	}
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	if out := stdout.String(); !strings.Contains(out, "whatif-device-") || strings.Contains(out, own) ||
		!strings.HasSuffix(out, fmt.Sprintf("\n%d\n", bytesSent)) {
		t.Errorf("the program says\n%s", out)
	}
	if said := stderr.String(); !strings.Contains(said, "really set: loopback 1.00 MB/s, round trips ") ||
		!strings.Contains(said, "really set: reads 100 /s") {
		t.Error(said)
	}

	reportsKnobs(t, filepath.Join(dir, "p.profile"))
}

// sender is the port of a server that sends so many bytes.
func sender(t *testing.T, bytes int) (port string) {
	t.Helper()
	server, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	go func() {
		for {
			c, err := server.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write(make([]byte, bytes))
			c.Close()
		}
	}()
	return strconv.Itoa(server.Addr().(*net.TCPAddr).Port)
}

// reportsKnobs reads reports of a profile of the slow device.
func reportsKnobs(t *testing.T, profile string) {
	t.Helper()
	const really = "the program really ran with the network and the disk of slow: loopback 1.00 MB/s"
	if text := whatif(t, "report", profile); !strings.Contains(text, really) {
		t.Error(text)
	}
	out := whatif(t, "report", "--format", "json", profile)
	if err := checkContract(out); err != nil {
		t.Error(err)
	}
	var report struct {
		Runs []struct {
			Knobs struct {
				Device   string
				NetBytes float64 `json:"net_bytes"`
				ReadOps  float64 `json:"read_ops"`
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if k := report.Runs[0].Knobs; k.Device != "slow" || k.NetBytes != 1e6 || k.ReadOps != 100 {
		t.Errorf("%+v", k)
	}
}

// TestKilledWithKnobs: when whatif is killed, the program runs on with the disk as it was, and nothing is left.
func TestKilledWithKnobs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may do that")
	}
	realkernel.NeedBeside(t)
	dir, host, device := slowDevice(t)
	cmd := exec.Command(realkernel.Whatif(t), "record", "-q", "--device", device, "--host", host, "--device-knobs", "--",
		"sh", "-c", "echo $$; exec sleep 60")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	program, notNumber := strconv.Atoi(strings.TrimSpace(line))
	if err = errors.Join(err, notNumber); err != nil {
		_ = cmd.Process.Kill()
		t.Fatal(err)
	}
	defer unix.Kill(program, unix.SIGKILL)
	groupOf := func() (path string) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", program))
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			if strings.Contains(l, "/whatif-device-") {
				path = strings.TrimSpace(strings.SplitN(l, ":", 3)[2])
			}
		}
		return path
	}
	group := groupOf()
	_, number, _ := strings.Cut(group, "whatif-device-")
	keeper, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // that it was killed

	soon := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("after a minute %s", what)
				return
			}
		}
	}
	soon("the program is in the group of the slow disk", func() bool { return groupOf() == "" })
	soon("the group is there", func() bool {
		_, first := os.Stat("/sys/fs/cgroup/blkio" + group)
		_, second := os.Stat("/sys/fs/cgroup" + group)
		return errors.Is(first, fs.ErrNotExist) && errors.Is(second, fs.ErrNotExist)
	})
	if err := unix.Kill(program, 0); err != nil {
		t.Errorf("the program: %v", err)
	}
	if err := unix.Kill(program, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	soon("the keeper is there", func() bool {
		_, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", keeper)) // one that has ended has none
		return err != nil
	})
}

// TestWrongKnobs: what cannot be set has one line, and a remedy.
func TestWrongKnobs(t *testing.T) {
	realkernel.NeedKernel(t)
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	for _, c := range []struct {
		args       []string
		status     int
		line, hint string
	}{
		{[]string{"run", "--device-knobs", "--", "true"}, 2, "--device-knobs without --device", "whatif help run"},
		{[]string{"attach", "--device-knobs", "1"}, 2, "attach --device-knobs: a process that runs already", "whatif run"},
		{[]string{"system", "--device-knobs"}, 2, "system --device-knobs: the whole machine cannot", "whatif run"},
		{[]string{"record", "--device", "net=0.5", "--device-knobs", "--", "true"}, 125,
			"setting net to 0.5 of its speed here:", "whatif device -o here.json"},
		{[]string{"record", "--device", "cpu=0.5", "--device-knobs", "--", "true"}, 125,
			"nothing of cpu=0.5 can be set here", "leave --device-knobs out"},
	} {
		cmd := exec.Command(realkernel.Whatif(t), c.args...)
		cmd.Dir = t.TempDir()
		text, _ := cmd.CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		if cmd.ProcessState.ExitCode() != c.status || len(lines) != 2 || !strings.Contains(lines[0], c.line) ||
			!strings.Contains(lines[1], c.hint) {
			t.Errorf("whatif %s: status %d\n%s", strings.Join(c.args, " "), cmd.ProcessState.ExitCode(), text)
		}
	}
}

// TestReportsOfKnobs: a run with the network of a device is about this device only, and is not like one without.
func TestReportsOfKnobs(t *testing.T) {
	plain := recordedProfile(t, synthetic.Asking(1500e6))
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	set := filepath.Join(t.TempDir(), "set.profile")
	const host = `"host":"h"`
	knobs := host + `,"knobs":{"device":"net=0.25","text":"loopback 1.00 MB/s","net_bytes":1e6}`
	if !strings.Contains(string(text), host) {
		t.Fatalf("%.300s", text)
	}
	if err := os.WriteFile(set, []byte(strings.Replace(string(text), host, knobs, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := whatif(t, "report", plain, set); !strings.Contains(out, "[several-knobs]") {
		t.Errorf("merged with a run without it:\n%s", out)
	}
	// All of this device was really there, so it is not simulated once more.
	out := whatif(t, "report", "--device", "net=0.25", set)
	if strings.Contains(out, "limited by") || !strings.Contains(out, "really ran with the network of net=0.25") {
		t.Error(out)
	}
	half := whatif(t, "ask", "--device", "net=0.25", "--together", "parse.c:20=50", set)
	if strings.Contains(half, "it ran on") {
		t.Error(half)
	}
	if page := whatif(t, "report", "--format", "html", "--device", "net=0.25", set); !strings.Contains(page, "1.00 MB/s") {
		t.Error("the page does not say with what the program ran")
	}
	for _, c := range []struct{ args, line string }{
		{"report --device net=0.5", "the program really had the network and disk of net=0.25, not of net=0.5"},
		{"ask --device net=0.25", "the program really had all of net=0.25 when it was recorded"},
	} {
		var stdout, stderr bytes.Buffer
		args := append(strings.Fields(c.args), set)
		status := cli.Run(t.Context(), strings.NewReader(""), &stdout, &stderr, args)
		if status != 125 || !strings.Contains(stderr.String(), c.line) || !strings.Contains(stderr.String(), "hint: ") {
			t.Errorf("whatif %s: status %d\n%s", c.args, status, stderr.String())
		}
	}
}
