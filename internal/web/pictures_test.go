package web

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"whatif/internal/profile"
)

const tutorial = "../../docs/tutorial"

// TestTutorialPictures: the tutorial's pictures are of today's page and of the profiles beside
// them. With -update (make pictures) it takes them anew. It compares a checksum of all that the
// page is made of, because the picture itself differs a little between versions of the browser, and
// with other fonts.
func TestTutorialPictures(t *testing.T) {
	var made strings.Builder
	for _, picture := range []struct {
		name, now, before string
		height            int64
	}{{"before.png", "before.profile", "", 860}, {"after.png", "after.profile", "before.profile", 1180}} {
		var before *Profile
		if picture.before != "" {
			p := tutorialProfile(t, picture.before)
			before = &p
		}
		p := New(tutorialProfile(t, picture.now), before, 0, false)
		path := filepath.Join(tutorial, picture.name)
		if *update {
			b := at(t, served(t, p), size(1280, picture.height))
			b.until(`document.querySelector('#detail').dataset.shown`)
			shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, shot, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		shot, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&made, "%x  %s\n%s  its page\n", sha256.Sum256(shot), picture.name, pageSum(t, p))
	}
	sums := filepath.Join(tutorial, "pictures.sum")
	if *update {
		if err := os.WriteFile(sums, []byte(made.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(sums)
	if err != nil {
		t.Fatal(err)
	}
	if made.String() != string(want) {
		t.Errorf("the tutorial's pictures are not those of today's page: make pictures takes them anew. %s "+
			"is\n%s\nand should be\n%s", sums, want, made.String())
	}
}

func tutorialProfile(t *testing.T, name string) Profile {
	t.Helper()
	runs, err := profile.ReadFiles([]string{filepath.Join(tutorial, name)})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		run.File = name
	}
	return Profile{Label: name, Runs: runs}
}

// pageSum is a checksum of what the page is made of, without source files: they are below what the
// pictures show, and are read from this machine.
func pageSum(t *testing.T, p *Page) string {
	t.Helper()
	sum := sha256.New()
	io.WriteString(sum, pageHTML+style()+pageJS)
	for _, name := range append([]string{"index"}, p.resources()...) {
		if strings.HasPrefix(name, "source-") {
			continue
		}
		data, err := p.resource(name, true)
		if err != nil {
			t.Fatal(err)
		}
		sum.Write(data)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
