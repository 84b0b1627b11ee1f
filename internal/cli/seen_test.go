package cli

import (
	"bytes"
	"strings"
	"testing"

	"whatif/internal/experiment"
)

// What happens too seldom is left out, and what happens too often is named as that.
func TestSeen(t *testing.T) {
	var out bytes.Buffer
	err := printSeen(&out, &experiment.Seen{
		Functions: []experiment.SeenPlace{
			{Spec: "func:main", Note: "m.c:1", Rate: 0.5, Share: 99},
			{Spec: "func:(anonymous namespace)::zeta", Note: "m.c:9", Rate: 1831.4, Share: 92.86},
			{Spec: "func:tiny", Rate: 2e6, Share: 80, TooOften: true},
			{Spec: "func:\x1b[2Jodd", Rate: 10, Share: 1},
		},
		Calls: []experiment.SeenPlace{{Spec: "syscall:write", Rate: 20_000}, {Spec: "syscall:fsync", Rate: 9}},
	})
	const want = "  functions seen to be entered 10 to 10,000 times a second:\n" +
		"    -p 'func:(anonymous namespace)::zeta'  1831/s  92.9% of the time  m.c:9\n" +
		"    -p 'func:\\x1b[2Jodd'                   10.0/s  1.0% of the time\n" +
		"  system calls for input and output as often: none\n" +
		"  too often: func:tiny, syscall:write\n" +
		"  Shares of the time are with what a function calls. The best point is passed once for each unit of useful work.\n"
	if err != nil || out.String() != want {
		t.Errorf("%v\n%s", err, &out)
	}
	out.Reset()
	err = printSeen(&out, &experiment.Seen{Methods: []experiment.SeenPlace{
		{Spec: "func:Shop.total", Note: "Shop.java", Rate: 25_000, Share: 40}, {Spec: "func:Shop.add", Rate: 3e7, Share: 9},
	}})
	const inJava = "  methods seen to be entered 10 to a million times a second:\n" +
		"    -p func:Shop.total  25000/s  40.0% of the time  Shop.java\n  too often: func:Shop.add\n"
	if err != nil || !strings.HasPrefix(out.String(), inJava) {
		t.Errorf("%v\n%s", err, &out)
	}
	out.Reset()
	if err := printSeen(&out, &experiment.Seen{}); err != nil || !strings.Contains(out.String(), "-p FILE:LINE") {
		t.Errorf("nothing was seen, and no way on is named: %v\n%s", err, &out)
	}
}
