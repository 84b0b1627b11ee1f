package point

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in   string
		want Spec
	}{
		{"func:done", Spec{Name: "done", Text: "func:done", Kind: Func, Func: "done"}},
		{"req=func:done", Spec{Name: "req", Text: "func:done", Kind: Func, Func: "done"}},
		{" req = func: done ", Spec{Name: "req", Text: "func: done", Kind: Func, Func: "done"}},
		{"func:done%return", Spec{Name: "done%return", Kind: Func, Func: "done", Return: true}},
		{"end=func:./x.so:done %return", Spec{Name: "end", Kind: Func, Func: "done", Binary: "./x.so", Return: true}},
		{"func:handle_*", Spec{Name: "handle_*", Kind: Func, Func: "handle_*"}},
		{"func:main.(*T).Get", Spec{Kind: Func, Func: "main.(*T).Get"}},
		{"func:net/http.(*conn).serve", Spec{Kind: Func, Func: "net/http.(*conn).serve"}},
		{"func:ns::Foo::bar", Spec{Kind: Func, Func: "ns::Foo::bar"}},
		{"func:operator==", Spec{Kind: Func, Func: "operator=="}},
		{"eq=func:ns::operator==(A const&, A const&)",
			Spec{Name: "eq", Kind: Func, Func: "ns::operator==(A const&, A const&)"}},
		{"func:main.Size./(_:_:)", Spec{Kind: Func, Func: "main.Size./(_:_:)"}},
		{"func:/opt/a (1)/x:f(_:)", Spec{Kind: Func, Func: "f(_:)", Binary: "/opt/a (1)/x"}},
		{"func:/opt/x/libz.so:deflate", Spec{Kind: Func, Func: "deflate", Binary: "/opt/x/libz.so"}},
		{"func:./server:ns::done", Spec{Kind: Func, Func: "ns::done", Binary: "./server"}},
		{"func:./server:main.(*T).Get", Spec{Kind: Func, Func: "main.(*T).Get", Binary: "./server"}},
		{"parse.c:118", Spec{Name: "parse.c:118", Kind: Line, File: "parse.c", Line: 118}},
		{"row=src/parse.c:118", Spec{Name: "row", Kind: Line, File: "src/parse.c", Line: 118}},
		{"/a=b/parse.c:118", Spec{Name: "parse.c:118", Kind: Line, File: "/a=b/parse.c", Line: 118}},
		{"a:b.c:3", Spec{Kind: Line, File: "a:b.c", Line: 3}},
		{"usdt:hit", Spec{Name: "hit", Kind: USDT, Event: "hit"}},
		{"usdt:app:hit", Spec{Name: "hit", Kind: USDT, Provider: "app", Event: "hit"}},
		{"tracepoint:sched:sched_switch",
			Spec{Name: "sched_switch", Kind: Tracepoint, Category: "sched", Event: "sched_switch"}},
		{"syscall:write", Spec{Name: "write", Kind: Syscall, Event: "write"}},
		{"syscall:write%exit",
			Spec{Name: "write%exit", Text: "syscall:write%exit", Kind: Syscall, Event: "write", AtExit: true}},
		{"sample:src/parse.c:118", Spec{Name: "parse.c:118", Kind: Sample, File: "src/parse.c", Line: 118}},
		{"exit", Spec{Name: "exit", Kind: Exit}},
		{"run=exit", Spec{Name: "run", Kind: Exit}},
		{"requests", Spec{Name: "requests", Text: "requests", Kind: Source, Event: "requests"}},
		{"rq=requests", Spec{Name: "rq", Text: "requests", Kind: Source, Event: "requests"}},
		{"request%begin", Spec{Name: "request%begin", Kind: Source, Event: "request", Edge: AtBegin}},
		{"source:request%end", Spec{Name: "request%end", Kind: Source, Event: "request", Edge: AtEnd}},
		{"source:src/main.c:12", Spec{Name: "src/main.c:12", Kind: Source, Event: "src/main.c:12"}},
		{"source:exit", Spec{Name: "exit", Kind: Source, Event: "exit"}},
	} {
		got, err := Parse(c.in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
		}
		if c.want.Name == "" {
			c.want.Name = got.Name
		}
		if c.want.Text == "" {
			c.want.Text = got.Text
		}
		if got != c.want {
			t.Errorf("%s:\n%+v, not\n%+v", c.in, got, c.want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "expected FILE:LINE, func:NAME",
		"req=":                          "expected FILE:LINE, func:NAME",
		"func:":                         "expected func:NAME",
		"func:/bin/x:":                  "NAME a function",
		"func:%return":                  "NAME a function",
		"func:/bin/x::f":                "separated by one colon",
		"parse.c:":                      "not a line number",
		"parse.c:0":                     "not a line number",
		"parse.c:-1":                    "not a line number",
		"parse.c:12x":                   "not a line number",
		":12":                           "no file",
		"src/:12":                       "no file",
		"usdt:":                         "expected usdt:NAME",
		"usdt:a:b:c":                    "expected usdt:NAME",
		"usdt::b":                       "expected usdt:NAME",
		"tracepoint:sched":              "expected tracepoint:CATEGORY:NAME",
		"tracepoint::x":                 "expected tracepoint:CATEGORY:NAME",
		"syscall:":                      "expected syscall:NAME",
		"syscall:a/b":                   "expected syscall:NAME",
		"syscall:%exit":                 "expected syscall:NAME",
		"syscall:write%return":          "expected syscall:NAME or syscall:NAME%exit",
		"sample:parse.c":                "expected sample:FILE:LINE",
		"function:done":                 "not a line number",
		"parse.c:999999999999999999999": "not a line number",
	} {
		_, err := Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, not %q", in, err, want)
		}
	}
}

func TestParseTarget(t *testing.T) {
	for in, want := range map[string]Target{
		"parse.c:118":         {File: "parse.c", Line: 118},
		"src/parse.c:118":     {File: "src/parse.c", Line: 118},
		"func:parse_row":      {Func: "parse_row"},
		"func:ns::Cart::add":  {Func: "ns::Cart::add"},
		"func:main.(*T).Get":  {Func: "main.(*T).Get"},
		" func:parse_row ":    {Func: "parse_row"},
		"func-self:parse_row": {Func: "parse_row", Self: true},
		"func:f<int>":         {Func: "f<int>"},
		"jvm:gc":              {Func: "jvm:gc", Self: true},
		"func:operator<":      {Func: "operator<"},
		"func:f(int, char*)":  {Func: "f(int, char*)"},
	} {
		got, err := ParseTarget(in)
		same := got.File == want.File && got.Line == want.Line && got.Func == want.Func && got.Self == want.Self
		if err != nil || !same || got.Callers != nil {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "func:", "func-self:", "parse.c", "a<", "<a", "a<<b", "a<func:", "a<b<c<d<e<f<g<h", "parse.c:0<a", "parse.c:x",
		":3", "usdt:x",
	} {
		if got, err := ParseTarget(in); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a=func:b", "func:/x/y:z::w", "parse.c:3", "usdt:a:b", "tracepoint:a:b", "exit", "=", ":", "func:operator==",
		"a<b<c", "operator<<b", "f<int>(a)<g", "f< (1>2)>< g",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		spec, err := Parse(s)
		if err == nil {
			if spec.Name == "" || spec.Kind == "" {
				t.Errorf("%q: %+v", s, spec)
			}
			if spec.Kind == Func && spec.Func == "" || spec.Kind == Line && (spec.File == "" || spec.Line <= 0) {
				t.Errorf("%q: %+v", s, spec)
			}
			// A point's name and text parse as the same point.
			again, err2 := Parse(spec.Name + "=" + spec.Text)
			plain := !strings.ContainsAny(spec.Name, ":/=") && strings.TrimSpace(spec.Name) == spec.Name
			if plain && (again != spec || err2 != nil) {
				t.Errorf("%q: %+v, then %+v", s, spec, again)
			}
		}
		// A target's text parses as the same target, with the same text.
		if target, err := ParseTarget(s); err == nil {
			again, err := ParseTarget(target.Text)
			if err != nil || again.Text != target.Text || again.Func != target.Func ||
				len(again.Callers) != len(target.Callers) {
				t.Errorf("%q: %+v, then %+v, %v", s, target, again, err)
			}
		}
	})
}
