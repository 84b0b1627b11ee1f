package target

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A process can say that its command line is all of its memory.
func TestWords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cmdline")
	if err := os.WriteFile(path, []byte("a\x00b\x00"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, whole, err := Words(path, 4); string(text) != "a\x00b\x00" || !whole || err != nil {
		t.Errorf("%q, %v, %v", text, whole, err)
	}
	if text, whole, err := Words(path, 3); string(text) != "a\x00b" || whole || err != nil {
		t.Errorf("%q, %v, %v", text, whole, err)
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Fatal(err)
	}
	if text, whole, err := Words(path, mostArgs); len(text) != mostArgs || whole || err != nil {
		t.Errorf("%d bytes, %v, %v", len(text), whole, err)
	}
}

func TestSplitArgs(t *testing.T) {
	for _, test := range []struct {
		text  string
		whole bool
		want  []string
	}{
		{"a\x00b c\x00", true, []string{"a", "b c"}},
		{"a\x00\x00c\x00", true, []string{"a", "", "c"}},
		{"title without an end", true, []string{"title without an end"}},
		{"", true, []string{""}},
		{"a\x00b\x00cut in tw", false, []string{"a", "b"}},
		{strings.Repeat("a", 100), false, []string{""}},
		{strings.Repeat("\x00", 100), false, []string{""}},
	} {
		if got := splitArgs([]byte(test.text), test.whole); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q, %v: %q, want %q", test.text, test.whole, got, test.want)
		}
	}
}
