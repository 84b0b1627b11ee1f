package classfile_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/code/jvm/classfile"
)

// keysProgram is a program that prints the keys that calls were given. Each method has a comment: the number of the
// argument that is the key, and its value. A star stands for an identity hash code.
const keysProgram = `public class Keys {
  static Object thing = new Object();
  static void whole(int i) {} // 1 5
  static void negative(byte a, short b) {} // 2 -3
  static void letter(char c) {} // 1 97
  static void truth(double a, boolean b) {} // 2 1
  static void wide(long a, double b, long c) {} // 3 1234567890123
  static void text(long a, String s) {} // 2 92599395
  static void boxed(Long n) {} // 1 77
  static void none(String s) {} // 1 0
  static void object(int[][] a, Object o) {} // 2 *
  static void list(long[] a) {} // 1 *
  void own(int i) {} // 1 *
  void mine(int i) { for (int k = 0; k < i; k++) { i--; } } // 2 9
  static void many(LONGS int last) {} // MANY 42
  static int zero(int i) { return i == 3 ? i * 2 : i; } // 0 0
  public static void main(String[] args) {
    Keys k = new Keys();
    whole(5);
    negative((byte) 1, (short) -3);
    letter('a');
    truth(1, true);
    wide(1, 2, 1234567890123L);
    text(1, new String("abcde".substring(0, 3)) + "de");
    boxed(77L);
    none(null);
    Got.expect(thing);
    object(null, thing);
    long[] a = {};
    Got.expect(a);
    list(a);
    Got.expect(k);
    k.own(1);
    k.mine(9);
    many(ZEROS 42);
    zero(3);
  }
}
class Got {
  static long expected = -1;
  static void expect(Object o) { expected = System.identityHashCode(o); }
  static void t0(long key) { System.out.println(key == expected ? "*" : "" + key); }
}
`

// keysSource is the program, with as many parameters as a method may have.
func keysSource() string {
	const longs = 127
	var parameters strings.Builder
	for i := range longs {
		fmt.Fprintf(&parameters, "long a%d, ", i)
	}
	return strings.NewReplacer("LONGS", parameters.String(), "ZEROS", strings.Repeat("0, ", longs), "MANY",
		fmt.Sprint(longs+1)).Replace(keysProgram)
}

// TestKeys: a call is given the key in each kind of argument. HotSpot verifies the class.
func TestKeys(t *testing.T) {
	java, dir := programs(t)
	source := keysSource()
	class := parsed(t, filepath.Join(dir, "Keys.class"))
	var calls []classfile.Call
	var want []string
	for line := range strings.Lines(source) {
		_, mark, ok := strings.Cut(strings.TrimSpace(line), "} // ")
		if !ok {
			continue
		}
		number, value, _ := strings.Cut(mark, " ")
		argument := 0
		for _, digit := range number {
			argument = 10*argument + int(digit-'0')
		}
		head, _, _ := strings.Cut(line, "(")
		name := head[strings.LastIndexByte(head, ' ')+1:]
		want = append(want, value)
		for i, m := range class.Methods {
			if m.Name == name {
				calls = append(calls, classfile.Call{Place: classfile.Entry(i), Class: "Got", Name: classfile.TimedMethod(0),
					Long: true, Argument: argument})
			}
		}
	}
	if len(calls) != 14 {
		t.Fatalf("%d methods were found", len(calls))
	}
	changed, err := class.Insert(calls)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "Keys.class"), changed)
	if got := execute(t, java, dir, "Keys"); got != strings.Join(want, "\n")+"\n" {
		t.Errorf("the keys are\n%swant\n%s", got, strings.Join(want, "\n"))
	}
}

// longsSource is a program that prints how many calls Shapes made.
const longsSource = `public class Longs {
  static int n;
  static void t0(long key) { n++; }
  public static void main(String[] a) throws Exception {
    Shapes.main(a);
    System.out.println(n);
  }
}
`

// TestLongCalls: a call with a number is made at all places, also where something is on the stack.
func TestLongCalls(t *testing.T) {
	java, dir := programs(t)
	path := filepath.Join(dir, "Shapes.class")
	class := parsed(t, path)
	calls, err := everywhere(class)
	if err != nil {
		t.Fatal(err)
	}
	for i := range calls {
		calls[i].Class, calls[i].Name, calls[i].Long = "Longs", classfile.TimedMethod(0), true
	}
	changed, err := class.Insert(calls)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, changed)
	if got := execute(t, java, dir, "Longs"); len(got) < 3 {
		t.Errorf("counted %q", got)
	}
}

// TestNoKey: what is no key is refused.
func TestNoKey(t *testing.T) {
	class, err := classfile.Parse(read(t, "testdata/Shapes.class"))
	if err != nil {
		t.Fatal(err)
	}
	for _, argument := range []int{1, 200} {
		for i, m := range class.Methods {
			if !m.HasCode || argument == 1 && m.Name != "<init>" {
				continue
			}
			call := classfile.Call{Place: classfile.Entry(i), Class: "Got", Name: "t0", Long: true, Argument: argument}
			if _, err := class.Insert([]classfile.Call{call}); err == nil {
				t.Errorf("argument %d of %s is taken", argument, m.Name)
			}
		}
	}
}
