package test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/profile"
	"whatif/internal/testing/jdk"
	"whatif/internal/testing/realkernel"
)

var compilesJava sync.Mutex

// javaPrograms compiles the programs once for all tests, and gives the directory of their classes.
func javaPrograms(t *testing.T) (java, classes string) {
	t.Helper()
	java, _ = jdk.Find(t)
	compilesJava.Lock()
	defer compilesJava.Unlock()
	kept, err := realkernel.Kept()
	if err != nil {
		t.Fatal(err)
	}
	classes = filepath.Join(kept, "java")
	if _, err := os.Stat(classes); err == nil {
		return java, classes
	}
	sources, err := filepath.Glob("testdata/java/*.java")
	if err == nil {
		err = os.Mkdir(classes, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return jdk.CompileTo(t, classes, sources...), classes
}

// samplesIn counts the samples of all experiments, and those in methods of this name.
func samplesIn(d *profile.Data, method string) (all, in int64) {
	of, all := samplesOf(d)
	return all, of[method]
}

// TestJava: code that HotSpot compiles while the program runs has units, without a flag for the JVM. A method has what
// is inlined into it. Nothing of what told of the code stays behind.
func TestJava(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	d, out := profiled(t, []string{"-p", "syscall:write", "-t", "func:Toy.longWork", "-s", "0", "--period", "1ms"},
		[]string{java, "-cp", classes, "Toy", "3", "0"}, 0)
	if !regexp.MustCompile(`^rounds \d+\n$`).MatchString(out) {
		t.Errorf("the program printed %q", out)
	}
	all, longer := samplesIn(d, "Toy.longWork")
	lines, _ := linesOf(d, "Toy.java") // of code that is not in longWork
	shorter := lines[13] + lines[14] + lines[15] + lines[28] + lines[29]
	// The work is 3 to 2. The rest is the JVM's own, which is much at the beginning, and more on a busy machine.
	if longer < all/10 || longer < shorter*12/10 || longer > shorter*19/10 {
		t.Errorf("of %d samples %d in longWork, %d in shortWork: %+v", all, longer, shorter, d.Units)
	}
	left, err := filepath.Glob("/tmp/perf-*.map")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		if fi, err := os.Lstat(name); err != nil || !fi.Mode().IsRegular() || fi.Size() > 64<<20 {
			continue // another test's: a pipe, or a hole of a terabyte
		}
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), "Toy.longWork") {
			t.Errorf("%s is left", name)
		}
	}
}

// linesOf adds up the samples of lines of a file, each a unit.
func linesOf(d *profile.Data, file string) (of map[int]int64, all int64) {
	of = make(map[int]int64)
	for _, e := range d.Experiments {
		all += e.Samples
		for id, n := range e.UnitSamples {
			if u := d.Units[id]; u.Kind == "line" && u.File == file {
				of[u.Line] += n
			}
		}
	}
	return of, all
}

// TestJavaLines: units are lines, also those of a method that is inlined into the loop that calls it, and a line can be
// named by its class. A JVM that leaves SIGQUIT alone (-Xrs) is asked, too, as it listens by itself.
func TestJavaLines(t *testing.T) {
	realkernel.NeedSession(t)
	java, classes := javaPrograms(t)
	d, out := profiled(t, []string{"-p", "syscall:write", "-t", "Toy:14", "-s", "0,50", "--experiment", "100ms"},
		[]string{java, "-Xcheck:jni", "-Xrs", "-cp", classes, "Toy", "4", "0"}, 0)
	if !regexp.MustCompile(`^rounds \d+\n$`).MatchString(out) {
		t.Errorf("the program printed %q", out)
	}
	// Each of these lines is two instructions of one cycle each, in all rounds of both loops.
	lines, all := linesOf(d, "Toy.java")
	mix := lines[13] + lines[14] + lines[15]
	if mix < all/4 || slices.Min([]int64{lines[13], lines[14], lines[15]}) < mix/5 {
		t.Errorf("of %d samples %v in mix, by lines: %+v", all, lines, d.Units)
	}
	if len(spedUp(d)) == 0 || warned(d, "java", "") || warned(d, "target-nowhere", "") {
		t.Errorf("%d experiments, %+v", len(spedUp(d)), d.Warnings)
	}
}

// TestJavaInterpreted: lines of methods that are interpreted are units, in all JDKs that are here, and so is their
// waiting. Java's own library counts for the line that calls it.
func TestJavaInterpreted(t *testing.T) {
	realkernel.NeedBeside(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("frames of the interpreter are read on x86-64 only")
	}
	_, classes := javaPrograms(t)
	for _, java := range allJava(t) {
		d, _ := profiled(t, []string{"-p", "syscall:write", "-s", "0", "--period", "1ms", "--waiting", "sleep"},
			[]string{java, "-Xint", "-cp", classes, "Rest", "250"}, 0)
		lines, _ := linesOf(d, "Rest.java")
		loop := lines[9] + lines[10]
		if other := lines[16] + lines[22]; lines[10] < 50 || lines[9] == 0 || loop < 3*other {
			t.Errorf("%s: %d samples in the loop, by lines: %v; %+v", java, loop, lines, d.Warnings)
		}
		var slept int64
		for _, e := range d.Experiments {
			for id, classes := range e.UnitWaitedNS {
				u := d.Units[id]
				if u.File == "Rest.java" && u.Line == 16 {
					slept += classes["sleep"]
				}
				if u.Name == "jvm:gc" {
					t.Errorf("%s: %s waits for work, which counts: %v", java, u.Name, classes)
				}
			}
		}
		// A second in all; what was before the agent was there belongs to no line.
		if slept < int64(time.Second/4) {
			t.Errorf("%s: line 16 slept for %v: %+v", java, time.Duration(slept), d.Units)
		}
	}
}

// allJava gives the Java VMs that are installed, each once; the first only, if the tests are to be short.
func allJava(t *testing.T) (found []string) {
	t.Helper()
	all, err := filepath.Glob("/usr/lib/jvm/*/bin/java")
	if err != nil {
		t.Fatal(err)
	}
	for _, java := range all {
		if java, err = filepath.EvalSymlinks(java); err != nil || slices.Contains(found, java) ||
			testing.Short() && len(found) > 0 {
			continue
		}
		found = append(found, java)
	}
	return found
}

// TestJavaWithoutAgent: without the agent units are methods, and the report says so.
func TestJavaWithoutAgent(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	flags := []string{"-p", "syscall:write", "-s", "0", "--period", "1ms"}
	without := [][]string{{java, "--java-agent", "off"}}
	if later, _ := filepath.Glob("/usr/lib/jvm/*-2[1-9]-*/bin/java"); len(later) > 0 && !testing.Short() {
		without = append(without, []string{later[0], "-XX:-EnableDynamicAgentLoading"})
	}
	for _, w := range without {
		flags, program := flags, []string{w[0]}
		if w[1] == "--java-agent" {
			flags = append(flags, w[1:]...)
		} else {
			program = append(program, w[1:]...)
		}
		d, out := profiled(t, flags, append(program, "-cp", classes, "Toy", "3", "0"), 0)
		if !regexp.MustCompile(`^rounds \d+\n$`).MatchString(out) {
			t.Errorf("%v: the program printed %q", w, out)
		}
		// What is inlined counts for the method that it is in: HotSpot chooses.
		of, all := samplesOf(d)
		in := int64(0)
		for unit, n := range of {
			if strings.HasPrefix(unit, "Toy") {
				in += n
			}
		}
		if lines, _ := linesOf(d, "Toy.java"); in < all/10 || len(lines) > 0 {
			t.Errorf("%v: of %d samples %d are in methods of Toy: %+v", w, all, in, d.Units)
		}
		if !warned(d, "java", "methods, not lines") {
			t.Errorf("%v: %+v", w, d.Warnings)
		}
	}
}

// TestJavaCollector: garbage collection is a unit, wherever the VM does it.
func TestJavaCollector(t *testing.T) {
	realkernel.NeedSession(t)
	java, classes := javaPrograms(t)
	runUntil(t, "a tenth of all samples to be in jvm:gc, and an experiment with it", func(d *profile.Data) bool {
		all, gc := samplesIn(d, "jvm:gc")
		return all > 1000 && gc > all/10 && len(spedUp(d)) > 0
	}, []string{"-p", "syscall:write", "-t", "jvm:gc", "-s", "0,50", "--experiment", "100ms"},
		java, "-XX:+UseSerialGC", "-Xmx100m", "-cp", classes, "Garbage", "600")
}

// TestJavaRefuses: a JVM that cannot be asked is not disturbed: SIGQUIT would print its stacks, or end it.
func TestJavaRefuses(t *testing.T) {
	realkernel.NeedBeside(t)
	java, classes := javaPrograms(t)
	d, out := profiled(t, []string{"-p", "syscall:write", "-s", "0", "--period", "1ms"},
		[]string{java, "-XX:+DisableAttachMechanism", "-cp", classes, "Toy", "1.5", "0"}, 0)
	if !warned(d, "java", "attaching is switched off") {
		t.Errorf("%+v", d.Warnings)
	}
	if lines, _ := linesOf(d, "Toy.java"); len(lines) != 0 {
		t.Errorf("%v", lines)
	}
	if !regexp.MustCompile(`^rounds \d+\n$`).MatchString(out) {
		t.Errorf("the program printed %q", out)
	}
}

// TestJavaAttach: code that was compiled before whatif came has its lines, too, in all JDKs that are here.
func TestJavaAttach(t *testing.T) {
	realkernel.NeedSession(t)
	_, classes := javaPrograms(t)
	for _, java := range allJava(t) {
		realkernel.Whatif(t) // the test's turn begins, or the VM would be busy while others' turns last
		cmd := exec.Command(java, "-cp", classes, "Toy", "600", "0")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		const compiled = 100 // of 10 ms
		awaitUntil(t, "its methods to be compiled", func() bool { return cpuTime(t, cmd.Process.Pid) > compiled })
		a := attach(t, "-s", "0,50", "-p", "syscall:write", "-t", "Toy.java:14", strconv.Itoa(cmd.Process.Pid))
		var lines map[int]int64
		var mix int64
		a.until(t, "most samples to be in lines of mix", func(d *profile.Data) bool {
			var n int64
			lines, n = linesOf(d, "Toy.java")
			mix = lines[13] + lines[14] + lines[15]
			return mix > 500 && mix > n/2
		})
		if slices.Min([]int64{lines[13], lines[14], lines[15]}) < mix/5 {
			t.Errorf("%s: by lines, %v", java, lines)
		}
		a.detach(t)
		if err := cmd.Process.Signal(unix.Signal(0)); err != nil {
			t.Errorf("%s has ended: %v", java, err)
		}
	}
}
