package said

import (
	"slices"
	"strings"
	"testing"
)

// Read ignores the kernel's own lines, and the console's line ends.
func TestReadBack(t *testing.T) {
	want := []Result{{"doctor", true, "able"}, {"run", false, "a|b; c"}}
	var out strings.Builder
	out.WriteString("[    0.000000] Linux version 6.1\nwhatif: 1s, 2 experiments")
	Write(&out, Result{"doctor", true, "able"})
	Write(&out, Result{"run", false, "a|b\nc\n"})
	WriteEnd(&out)
	console := strings.ReplaceAll(out.String(), "\n", "\r\n")
	got, ended := Read(console)
	if !slices.Equal(got, want) || !ended {
		t.Errorf("%+v, %v; want %+v", got, ended, want)
	}
	if _, ended := Read(console[:len(console)-5]); ended {
		t.Error("a guest that was cut off has ended")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("\n@result|run|ok|3 rounds\n@end\n")
	f.Fuzz(func(t *testing.T, console string) {
		results, _ := Read(console)
		for _, r := range results {
			var out strings.Builder
			Write(&out, r)
			again, _ := Read(out.String())
			if len(again) != 1 || again[0].Name != strings.TrimSpace(r.Name) && again[0].Name != r.Name {
				t.Errorf("%+v is read back as %+v", r, again)
			}
		}
	})
}
