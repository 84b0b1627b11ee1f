package report

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/profile"
)

// TestVersions: each later version can report and compare the profiles of earlier ones, and its
// output changes only on purpose.
func TestVersions(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "profile", "testdata", "versions", "*.profile"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no profiles of earlier versions: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".profile")
		t.Run(name, func(t *testing.T) {
			runs, err := profile.ReadFiles([]string{file})
			if err != nil {
				t.Fatal(err)
			}
			result := analysed(runs...)
			golden(t, "versions/"+name+".txt", text(t, result, Options{Width: 100}))
			var b bytes.Buffer
			if err := JSON(&b, result, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, "versions/"+name+".json", bytes.Clone(b.Bytes()))

			same := diff.Compare(runs, runs, analyze.Options{})
			b.Reset()
			if err := Diff(&b, same, Options{Width: 100}); err != nil {
				t.Fatal(err)
			}
			golden(t, "versions/"+name+".diff.txt", bytes.Clone(b.Bytes()))
			b.Reset()
			if err := DiffJSON(&b, same, Options{}); err != nil {
				t.Fatal(err)
			}
			golden(t, "versions/"+name+".diff.json", b.Bytes())
			for _, p := range same.Points {
				if p.Gain.Known && math.Abs(p.Gain.Value) > 1e-9 {
					t.Errorf("point %s differs from itself: %+v", p.Name, p.Gain)
				}
			}
		})
	}
}
