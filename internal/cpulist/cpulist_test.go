package cpulist

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
)

func TestText(t *testing.T) {
	system := fstest.MapFS{
		"cpu/online":    {Data: []byte("0-3\n")},
		"cpu/isolated":  {Data: []byte("\n")},
		"cpu/nohz_full": {Data: []byte(" (null)\n")},
	}
	for name, want := range map[string]string{"online": "0-3", "isolated": "", "nohz_full": ""} {
		if got, err := Text(system, name); err != nil || got != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := Text(system, "offline"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a list that does not exist: %v", err)
	}
}

func TestParse(t *testing.T) {
	for list, want := range map[string][]int{
		"0":         {0},
		"0-3":       {0, 1, 2, 3},
		"0-1,4":     {0, 1, 4},
		"2,5-6,127": {2, 5, 6, 127},
		"7-7":       {7},
	} {
		if got, err := Parse(list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v", list, got, err)
		}
	}
	for _, list := range []string{"", "x", "0-", "-3", "0,,2", "0-y", "0 1"} {
		if got, err := Parse(list); err == nil {
			t.Errorf("%q: %v, no error", list, got)
		}
	}
}
