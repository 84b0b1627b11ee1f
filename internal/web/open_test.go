package web

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestBrowserWithoutCapabilities: a browser does not inherit the ambient capabilities of the whatif
// that opens it.
func TestBrowserWithoutCapabilities(t *testing.T) {
	if os.Getenv("TEST_OPEN") != "" {
		if err := OpenBrowser("http://127.0.0.1:1/"); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := exec.LookPath("setpriv"); err != nil || os.Geteuid() != 0 {
		t.Skip("needs root and setpriv, to give capabilities to another user")
	}
	dir, err := os.MkdirTemp("/var/tmp", "whatif-open")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self, opener, said := filepath.Join(dir, "self"), filepath.Join(dir, "xdg-open"), filepath.Join(dir, "said")
	text, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(self, text, 0o755)
	}
	if err == nil {
		err = os.WriteFile(opener,
			[]byte("#!/bin/sh\ngrep Cap /proc/self/status > "+said+".part; mv "+said+".part "+said+"\n"), 0o755)
	}
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	const caps = "+bpf,+perfmon,+sys_ptrace"
	cmd := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		"--inh-caps="+caps, "--ambient-caps="+caps,
		self, "-test.run", "^TestBrowserWithoutCapabilities$")
	cmd.Dir = dir
	cmd.Env = []string{"TEST_OPEN=1", "DISPLAY=:0", "PATH=" + dir + ":/usr/bin:/bin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got string
	until := time.Now().Add(time.Minute)
	for ; got == "" && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(said)
		got = string(text)
	}
	for _, name := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if !strings.Contains(got, name+":\t0000000000000000\n") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
