package point

import (
	"strings"
	"testing"
)

func TestParseLatency(t *testing.T) {
	for _, c := range []struct {
		in                 string
		name, begin, end   string // the points' texts
		beginKey, endKey   int
		beginKind, endKind Kind
	}{
		{"request=func:start..func:done", "request", "func:start", "func:done", 0, 0, Func, Func},
		{" request = func:start .. func:done ", "request", "func:start", "func:done", 0, 0, Func, Func},
		{"r=func:start%arg1..func:done%arg6", "r", "func:start", "func:done", 1, 6, Func, Func},
		{"r=func:../lib/libx.so:start..func:../lib/libx.so:done", "r",
			"func:../lib/libx.so:start", "func:../lib/libx.so:done", 0, 0, Func, Func},
		{"r=func:main.(*T).Get..func:main.(*T).Put", "r", "func:main.(*T).Get", "func:main.(*T).Put", 0, 0, Func, Func},
		{"request", "request", "request%begin", "request%end", 0, 0, Source, Source},
		{" r = source:a:b ", "r", "a:b%begin", "a:b%end", 0, 0, Source, Source},
		{"r=begun..source:ended%end", "r", "begun", "source:ended%end", 0, 0, Source, Source},
		{"r=func:start%arg2..request%end", "r", "func:start", "request%end", 2, 0, Func, Source},
		{"r=../a.c:3..../a.c:9", "r", "../a.c:3", "../a.c:9", 0, 0, Line, Line},
	} {
		l, err := ParseLatency(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if l.Name != c.name || l.Begin.Text != c.begin || l.End.Text != c.end ||
			l.BeginKey != c.beginKey || l.EndKey != c.endKey || l.Begin.Kind != c.beginKind || l.End.Kind != c.endKind {
			t.Errorf("%s: %+v", c.in, l)
		}
		if l.End.Name != c.name || l.Begin.Name != c.name+"/begin" {
			t.Errorf("%s: the points are called %s and %s", c.in, l.Begin.Name, l.End.Name)
		}
	}
}

func TestParseLatencyErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                           "no name",
		"func:start..func:done":      "no name",
		"r=func:start":               "expected NAME=BEGIN..END",
		"r=..":                       "expected",
		"r=func:start..":             "expected",
		"r=..func:done":              "expected",
		"r=func:f..func:f":           "begins where it ends",
		"r=func:f%arg1..func:g":      "only one of the two",
		"r=func:f..func:g%arg1":      "only one of the two",
		"r=func:f%arg0..func:g%arg1": "%arg1 to %arg6",
		"r=func:f%arg7..func:g%arg1": "%arg1 to %arg6",
		"r=func:f%argx..func:g%arg1": "%arg1 to %arg6",
		"r=a=func:f..func:g":         "a name of its own",
		"r=func:f..b=func:g":         "a name of its own",
		"r=request%begin":            "expected NAME=BEGIN..END",
		"r=exit":                     "expected",
		"r=g%arg1..h":                "given a key there",
		"r=source:":                  "expected",
	} {
		l, err := ParseLatency(in)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %+v, %v, not %q", in, l, err, want)
		}
	}
}

func FuzzParseLatency(f *testing.F) {
	for _, s := range []string{
		"r=func:a..func:b", "r=func:a%arg1..func:b%arg2", "r=../a:3..../b:4", "r=..", "=..", "r=func:a.....func:b",
		"r=exit..usdt:x", "request", "r=source:a:b", "r=a..func:b%arg1",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := ParseLatency(s)
		if err != nil {
			return
		}
		oneKey := (l.BeginKey == 0) != (l.EndKey == 0) && l.Begin.Kind != Source && l.End.Kind != Source
		if l.Name == "" || l.Begin.Text == "" || l.End.Text == "" || oneKey || l.BeginKey > maxArguments {
			t.Errorf("%q: %+v", s, l)
		}
		again, err := ParseLatency(l.Name + "=" + l.Text)
		if err != nil || again != l {
			t.Errorf("%q: %+v, then %+v, %v", s, l, again, err)
		}
	})
}
