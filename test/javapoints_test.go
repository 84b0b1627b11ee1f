package test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/profile"
	"whatif/internal/testing/jdk"
	"whatif/internal/testing/realkernel"
)

// TestJavaPoints: a VM that a script starts counts exactly from the first bytecode of main on, at lines, entries and
// returns, also in a class that is loaded later. The program's output is its own.
func TestJavaPoints(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	script := filepath.Join(t.TempDir(), "shop.sh")
	text := fmt.Sprintf("#!/bin/sh\nexec %s -Xcheck:jni -cp %s com.shop.Shop 20000\n", java, classes)
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	d, out := profiled(t, []string{"-s", "0", "-p", "loop=Shop.java:16", "-p", "com.shop.Shop:24",
		"-p", "func:com.shop.Shop.main", "-p", "func:com.shop.Shop$Cart.t*%return"}, []string{script}, 0)
	if out != "sold 20000\n" {
		t.Errorf("the program printed %q", out)
	}
	if want := []int64{20000, 10000, 1, 20000}; !slices.Equal(d.End.Visits, want) {
		t.Errorf("visits: %d, not %d; %+v", d.End.Visits, want, d.Warnings)
	}
	if d.Run.Points[0].Name != "loop" || !slices.Equal(d.End.Sites, []int{1, 1, 1, 1}) {
		t.Errorf("points %+v at %d places", d.Run.Points, d.End.Sites)
	}
	if left := jdk.Left(t, "/tmp/.whatif-java-*"); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestJavaPointsMissing: points that classes do not have are named, with what to do.
func TestJavaPointsMissing(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	for spec, want := range map[string]string{
		"Shop.java:12":             "no code of com/shop/Shop.java is on this line",
		"func:com.shop.Shop.steal": "com.shop.Shop has no such method",
	} {
		cmd := exec.Command(realkernel.Whatif(t), "run", "--quiet", "-s", "0", "-o", filepath.Join(t.TempDir(), "p"),
			"-p", spec, "--", java, "-cp", classes, "com.shop.Shop", "1")
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", spec, err, out)
		}
	}
}

// TestJavaPointsAttached: in a VM that runs already points count exactly from the methods' next entries on, and whatif
// says which method goes on as it was. When whatif has ended the VM goes on.
func TestJavaPointsAttached(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	program := exec.Command(java, "-cp", classes, "com.shop.Shop")
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
	out := bufio.NewReader(pipe)
	expect := func(want string) {
		t.Helper()
		if line, err := out.ReadString('\n'); err != nil || line != want+"\n" {
			t.Fatalf("the program said %q, %v", line, err)
		}
	}
	expect("open")

	file := filepath.Join(t.TempDir(), "p")
	whatif := exec.Command(realkernel.Whatif(t), "attach", "-v", "-s", "0", "-o", file, "-p", "func:com.shop.Shop.sell",
		"-p", "Shop.java:24", "-p", "Shop.java:16", strconv.Itoa(program.Process.Pid))
	said, err := whatif.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := whatif.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(said)
	const old = "was in com.shop.Shop.main when whatif attached"
	found := false
	for !found && lines.Scan() {
		found = strings.Contains(lines.Text(), old)
	}
	if !found {
		t.Error("whatif did not say that main goes on as it was")
	}
	fmt.Fprintln(in, 20000)
	expect("sold 20000")
	in.Close()
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("the program has also printed %q, %v", rest, err)
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
	rest, _ := io.ReadAll(said)
	if err := whatif.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, rest)
	}
	runs, err := profile.ReadFiles([]string{file})
	if err != nil || len(runs) != 1 || runs[0].End == nil {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	if want := []int64{20000, 10000, 0}; !slices.Equal(runs[0].End.Visits, want) {
		t.Errorf("visits: %d, not %d", runs[0].End.Visits, want)
	}
}
