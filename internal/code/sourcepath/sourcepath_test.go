package sourcepath

import (
	"strings"
	"testing"
)

func rules(t *testing.T, texts ...string) Map {
	t.Helper()
	var m Map
	for _, text := range texts {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		m = append(m, r)
	}
	return m
}

func TestApply(t *testing.T) {
	for _, c := range []struct {
		rule, file, want string
	}{
		{"/build/app-1.2=/home/u/app", "/build/app-1.2/src/a.c", "/home/u/app/src/a.c"},
		{"/build/app-1.2/=/home/u/app/", "/build/app-1.2/src/a.c", "/home/u/app/src/a.c"},
		{"/build/app-1.2=/home/u/app", "/build/app-1.23/src/a.c", "/build/app-1.23/src/a.c"},
		{"/build/*=/home/u", "/build/app-1.2/src/a.c", "/home/u/src/a.c"},
		{"/usr/src/=src", "/usr/src/app/a.c", "src/app/a.c"},
		{"/rustc/*=/opt/rust", "/rustc/59807616e1fa/library/core/src/ptr/mod.rs", "/opt/rust/library/core/src/ptr/mod.rs"},
		{"example.com/app@v1.2.3=/home/u/app", "example.com/app@v1.2.3/parse/row.go", "/home/u/app/parse/row.go"},
		{"example.com/app@*=.", "example.com/app@v1.2.3/parse/row.go", "./parse/row.go"},
		{"/build=", "/build/src/a.c", "src/a.c"},
		{"/=/sysroot", "/src/a.c", "/sysroot/src/a.c"},
		{".=/home/u", "src/a.c", "src/a.c"},
		{"/a=/b", "", ""},
		{"/a=/b", "/a", "/b"},
		{"/a/b=/c", "/a", "/a"},
	} {
		if got := rules(t, c.rule).Apply(c.file); got != c.want {
			t.Errorf("%s makes %q of %q, want %q", c.rule, got, c.file, c.want)
		}
	}
	m := rules(t, "/a/b=/x", "/a=/b", "/b=/c")
	for file, want := range map[string]string{"/a/b/f": "/x/f", "/a/f": "/b/f", "/b/f": "/c/f", "/f": "/f"} {
		if got := m.Apply(file); got != want {
			t.Errorf("%q becomes %q, want %q", file, got, want)
		}
	}
	if got := Map(nil).Apply("/a"); got != "/a" {
		t.Errorf("without rules /a becomes %q", got)
	}
}

func TestUndo(t *testing.T) {
	m := rules(t, "/build/*=/home/u/x", "/build/app=/home/u/app", "/gone=")
	for file, want := range map[string]string{
		"/home/u/app/src/a.c": "/build/app/src/a.c", "/home/u/x/a.c": "/home/u/x/a.c", "a.c": "a.c", "": "",
	} {
		if got := m.Undo(file); got != want {
			t.Errorf("%q was %q, want %q", file, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, s := range []string{"", "=", "=/x", "/x"} {
		if r, err := Parse(s); err == nil || !strings.Contains(err.Error(), "OLD=NEW") {
			t.Errorf("%q: %+v, %v", s, r, err)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add("/build/*", "/home", "/build/x/a.c")
	f.Fuzz(func(t *testing.T, old, to, file string) {
		if strings.Contains(old, "=") {
			return
		}
		r, err := Parse(old + "=" + to)
		if err != nil {
			return
		}
		Map{r}.Undo(Map{r}.Apply(file))
	})
}
