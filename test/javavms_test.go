package test

import (
	"bufio"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/testing/realkernel"
)

// TestJavaSeveral: several VMs with different collectors, which a script starts, count together.
func TestJavaSeveral(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	var script strings.Builder
	for _, collector := range []string{"Serial", "G1", "Z"} {
		fmt.Fprintf(&script, "%s -XX:+Use%sGC -Xmx64m -cp %s com.shop.Shop 5000 &\n", java, collector, classes)
	}
	script.WriteString("wait\n")
	d, out := profiled(t, []string{"-s", "0", "-p", "func:com.shop.Shop.sell", "-p", "Shop.java:24"},
		[]string{"sh", "-c", script.String()}, 0)
	if out != strings.Repeat("sold 5000\n", 3) {
		t.Errorf("the programs printed %q", out)
	}
	if want := []int64{15000, 7500}; !slices.Equal(d.End.Visits, want) {
		t.Errorf("visits: %d, not %d; %+v", d.End.Visits, want, d.Warnings)
	}
}

// TestJavaContainer: a VM of another user, with mounts and process numbers of its own, is attached to. All that is made
// for it is made where it can see it, and gone afterwards.
func TestJavaContainer(t *testing.T) {
	realkernel.NeedSession(t)
	java, classes := javaPrograms(t)
	const script = `mount -t tmpfs none /mnt && cp -r "$1" /mnt/classes && chmod -R a+rX /mnt &&
		mount -t tmpfs none /tmp && chmod 1777 /tmp &&
		exec setpriv --reuid 12345 --regid 12345 --clear-groups "$0" -Xcheck:jni -cp /mnt/classes com.shop.Shop`
	program := exec.Command("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, java, classes)
	in, err := program.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	defer program.Wait()
	defer program.Process.Kill()
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); line != "open\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
	pid := onlyChild(t, program.Process.Pid)
	const sell = "func:com.shop.Shop.sell"
	a := attach(t, "-s", "0", "-p", sell, "-l", "sale="+sell+".."+sell+"%return", strconv.Itoa(pid))
	for _, n := range []int{5000, -200} { // the latter is time for ticks: at them it is read what was counted
		fmt.Fprintln(in, n)
		if line, err := out.ReadString('\n'); line != fmt.Sprintf("sold %d\n", n) {
			t.Fatalf("the program said %q, %v", line, err)
		}
	}
	d := a.detach(t)
	if want := []int64{5000, 5000, 5000}; !slices.Equal(d.End.Visits, want) {
		t.Errorf("visits: %d, not %d; %s", d.End.Visits, want, a.said.String())
	}
	for _, pattern := range []string{"/tmp/.whatif*", "/tmp/.attach*", "/tmp/perf-*"} {
		if left, _ := filepath.Glob(fmt.Sprintf("/proc/%d/root%s", pid, pattern)); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	}
	in.Close()
	if err := program.Process.Signal(unix.Signal(0)); err != nil {
		t.Error(err)
	}
}

// TestJavaVirtual: what virtual threads do is counted, and belongs to its lines.
func TestJavaVirtual(t *testing.T) {
	realkernel.NeedSession(t)
	_, classes := javaPrograms(t)
	later, _ := filepath.Glob("/usr/lib/jvm/*-2[1-9]-*/bin/java")
	if len(later) == 0 {
		t.Skip("no Java with virtual threads")
	}
	flags := []string{"-s", "0,50", "--experiment", "100ms", "-p", "func:Virtual.turn", "-t", "Virtual.java:17"}
	d, out := profiled(t, flags,
		[]string{later[0], "-XX:+EnableDynamicAgentLoading", "-cp", classes, "Virtual", "20", "150"}, 0)
	if out != "turns 3000\n" || !slices.Equal(d.End.Visits, []int64{3000}) {
		t.Errorf("the program printed %q; %d visits", out, d.End.Visits)
	}
	lines, all := linesOf(d, "Virtual.java")
	var known int64
	for _, n := range lines {
		known += n
	}
	// The rest is the VM's start and its compilers, which have half of the time on a slow machine.
	if work := lines[15] + lines[16] + lines[17] + lines[18]; work < known*9/10 || work < all/4 {
		t.Errorf("of %d samples %d are in the loop: %v; %+v", all, work, lines, d.Warnings)
	}
}
