package classfile_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"whatif/internal/code/jvm/classfile"
	"whatif/internal/testing/compiled"
	"whatif/internal/testing/jdk"
)

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parsed(t *testing.T, path string) *classfile.Class {
	t.Helper()
	c, err := classfile.Parse(read(t, path))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}

// counted is something that is counted, and how often it has to be.
type counted struct {
	name string
	want int
}

// counting are the calls that count: the i-th method of the class Counts is for the i-th of all.
type counting struct {
	all   []counted
	calls map[*classfile.Class][]classfile.Call
}

func (c *counting) add(name string, want int) { c.all = append(c.all, counted{name, want}) }

// at has the last of all counted at places.
func (c *counting) at(class *classfile.Class, places ...classfile.Place) {
	for _, p := range places {
		call := classfile.Call{Place: p, Class: "Counts", Name: classfile.HelperMethod(len(c.all) - 1)}
		c.calls[class] = append(c.calls[class], call)
	}
}

// line has a line counted in some classes.
func (c *counting) line(t *testing.T, line, want int, classes ...*classfile.Class) {
	t.Helper()
	c.add(fmt.Sprintf("line %d", line), want)
	found := 0
	for _, class := range classes {
		places, err := class.Line(line)
		if err != nil {
			t.Fatal(err)
		}
		c.at(class, places...)
		found += len(places)
	}
	if found == 0 {
		t.Errorf("line %d has no code", line)
	}
}

// method has the entries and returns of a method counted.
func (c *counting) method(t *testing.T, class *classfile.Class, method int, entries, returns int) {
	t.Helper()
	places, err := class.Returns(method)
	if err != nil {
		t.Fatal(err)
	}
	c.add("entries of "+class.Methods[method].Name, entries)
	c.at(class, classfile.Entry(method))
	c.add("returns of "+class.Methods[method].Name, returns)
	c.at(class, places...)
}

// programs gives a copy of the classes of all programs, which a test may change.
func programs(t *testing.T) (java, dir string) {
	t.Helper()
	java, classes := jdk.Programs(t, compiled.Texts(map[string]string{
		"Shapes.java": string(read(t, "testdata/Shapes.java")), "Counts.java": countsSource(), "Wide.java": wideSource(),
		"Keys.java": keysSource(), "Longs.java": longsSource,
	}))
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(classes)); err != nil {
		t.Fatal(err)
	}
	return java, dir
}

// execute executes the main method of a class, which the VM verifies.
func execute(t *testing.T, java, dir, class string) string {
	t.Helper()
	args := append(slices.Clone(jdk.Short), "-Xverify:all", "-cp", dir, class)
	out, err := exec.Command(java, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", class, err, out)
	}
	return string(out)
}

// counters is how many the class Counts has.
const counters = 150

// countsSource runs the programs, and prints all counts.
func countsSource() string {
	var b strings.Builder
	fmt.Fprintf(&b, "public class Counts {\n  static int[] n = new int[%d];\n", counters)
	for i := range counters {
		fmt.Fprintf(&b, "  public static void %s() { n[%d]++; }\n", classfile.HelperMethod(i), i)
	}
	b.WriteString("  public static void main(String[] args) throws Exception {\n" +
		"    Shapes.main(args);\n    Wide.main(args);\n    for (int each : n) System.out.println(each);\n  }\n}\n")
	return b.String()
}

// wideSource is a program with a method so long that javac takes wide jumps. Lines 3 to 5 are executed 1, 3 and 3
// times.
func wideSource() string {
	return "public class Wide {\n  static int main(String[] a) {\n    int x = 1; for (int i = 0; i < 3; i++) {\n" +
		"      x++;\n      if (x == 5) x = 6;\n" + strings.Repeat("      x = (x ^ 123456789) * 31 + i;\n", 3200) +
		"    }\n    return x;\n  }\n}\n"
}

// compare compares what Counts has printed.
func (c *counting) compare(t *testing.T, printed string) {
	t.Helper()
	lines := strings.Fields(printed)
	if len(lines) != counters || len(c.all) > counters {
		t.Fatalf("%d counts were printed for %d: %s", len(lines), len(c.all), printed)
	}
	for i, each := range c.all {
		if lines[i] != strconv.Itoa(each.want) {
			t.Errorf("%s: counted %s, not %d", each.name, lines[i], each.want)
		}
	}
}

// marks are the numbers behind a mark, by lines of a source file.
func marks(source []byte, mark string) map[int][]int {
	all := make(map[int][]int)
	for i, text := range strings.Split(string(source), "\n") {
		_, behind, _ := strings.Cut(text, mark)
		for _, word := range strings.Fields(behind) {
			if n, err := strconv.Atoi(word); err == nil {
				all[i+1] = append(all[i+1], n)
			}
		}
	}
	return all
}

// methodAt gives the method whose first line of code is that line, or one of the two behind it.
func methodAt(c *classfile.Class, line int) int {
	for i := range c.Methods {
		if strings.HasPrefix(c.Methods[i].Name, "lambda$") {
			continue
		}
		for l := line; l < line+3; l++ {
			if lines := c.MethodLines(i); len(lines) > 0 && lines[0] == l {
				return i
			}
		}
	}
	return -1
}

// TestCounts: calls at lines, entries and returns of programs with many kinds of statements are made exactly as often
// as their comments say. HotSpot verifies the classes.
func TestCounts(t *testing.T) {
	java, dir := programs(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	shapes, inner, wide := parsed(t, at("Shapes.class")), parsed(t, at("Shapes$1.class")), parsed(t, at("Wide.class"))

	c := &counting{calls: make(map[*classfile.Class][]classfile.Call)}
	source := read(t, "testdata/Shapes.java")
	for line, n := range marks(source, "//= ") {
		c.line(t, line, n[0], shapes, inner)
	}
	for line, n := range marks(source, "//@ ") {
		class := shapes
		if methodAt(class, line) < 0 {
			class = inner
		}
		c.method(t, class, methodAt(class, line), n[0], n[1])
	}
	for i, n := range []int{1, 3, 3} {
		c.line(t, 3+i, n, wide)
	}
	for class, calls := range c.calls {
		changed, err := class.Insert(calls)
		if err != nil {
			t.Fatal(err)
		}
		write(t, at(class.Name+".class"), changed)
	}
	c.compare(t, execute(t, java, dir, "Counts"))

	calls := c.calls[wide]
	for len(calls) < 1<<14 {
		calls = append(calls, calls...)
	}
	if _, err := wide.Insert(calls); !errors.Is(err, classfile.ErrTooLong) {
		t.Errorf("a method of more than 64 KB: %v", err)
	}
}
