package web

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"image/png"
	"strings"
	"testing"

	"whatif/internal/profile"
)

func pageRunsOf(run *profile.Data) []*profile.Data { return []*profile.Data{run} }

// keepDownloads makes the page keep the last file that it gives to the browser in window.taken, as a data URL.
const keepDownloads = `void (URL.createObjectURL = blob => {
	const reader = new FileReader();
	reader.onload = () => { window.taken = reader.result; };
	reader.readAsDataURL(blob);
	return 'data:,';
}, HTMLAnchorElement.prototype.click = function () { window.takenName = this.download; })`

// downloaded is the file that a click gives.
func (b *tab) downloaded(selector string) (name string, content []byte) {
	b.Helper()
	b.run(`delete window.taken, void document.querySelector("` + selector + `").click()`)
	b.until(`window.taken !== undefined`)
	_, text, _ := strings.Cut(value[string](b, `window.taken`), ",")
	content, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		b.Fatal(err)
	}
	return value[string](b, `window.takenName`), content
}

// TestMarkdown: the table as it is shown, with nothing in a name that Markdown would act upon.
func TestMarkdown(t *testing.T) {
	p := estimatedPage(world{})
	b := at(t, onDisk(t, p), size(1400, 900))
	b.run(`void (navigator.clipboard.writeText = async s => { window.copied = s })`)
	copied := func() string {
		b.Helper()
		b.run(`delete window.copied, void document.querySelector('#markdown').click()`)
		b.until(`window.copied !== undefined`)
		return value[string](b, `window.copied`)
	}
	text := copied()
	for _, want := range []string{
		"**`./server --name 'a b'`**: `request: time per visit`. less time per visit",
		"\n| # | unit | source | share | 25% faster | 50% faster | 100% faster | verdict |\n" +
			"| ---: | --- | --- | ---: | ---: | ---: | ---: | --- |\n",
		"\n| 1 | `parse.c:18` `parse_row` |  | 60.0% | 15.0±1.9 | 29.9±3.8 | 59.9±7.7 | optimize |\n",
		"\n| 2 | `index.c:9` `find` | `while (low < high) {` | 8.0% | ~10.5±2.3 | ~14.8±3.2 | ~21.0±4.4 | " +
			"optimize (estimated) |",
		"confidence: fair: experiments and the recording disagree; \\~ is estimated: recorded 4.8 s",
		"\nwhatif 0.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	b.click("#chip-slower")
	b.want("spin.c:7")
	if text := copied(); strings.Contains(text, "parse.c:18") || !strings.Contains(text, "| `spin.c:7` `lock` |") {
		t.Errorf("filtered:\n%s", text)
	}
	run := world{}.made()
	u := run.Units[1]
	u.Name, u.Func = "a``b|c<img>", "`"
	run.Units[1] = u
	b = at(t, served(t, pageOf(run)), size(1400, 900))
	b.run(`void (navigator.clipboard.writeText = async s => { window.copied = s })`)
	if text := copied(); !strings.Contains(text, "| 1 | ```a``b\\|c<img>``` `` ` `` | 60.0% |") {
		t.Errorf("odd names:\n%s", text)
	}
	// Without a clipboard it is there to be copied by hand.
	b.run(`void (navigator.clipboard.writeText = async () => { throw new Error('no') })`)
	b.click("#markdown")
	b.until(`document.querySelector('#link').open && document.querySelector('#link-text').value.startsWith('**')`)
}

// TestCSVDownload: all rows that the filters leave, and no cell that a spreadsheet takes for a formula.
func TestCSVDownload(t *testing.T) {
	run := world{units: 150, experiments: 600}.made()
	u := run.Units[1]
	u.Func, u.Text = "=1+1", `say("a, b");`
	run.Units[1] = u
	p := New(Profile{Label: "whatif.profile", Runs: pageRunsOf(run), Estimates: world{}.estimates()}, nil, 0, false)
	b := at(t, onDisk(t, p), size(1400, 900))
	b.run(keepDownloads)
	name, content := b.downloaded("#csv")
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil || name != "server-name-a-b.csv" || len(rows) != 1+157 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), err)
	}
	column := map[string]int{}
	for i, head := range rows[0] {
		column[head] = i
	}
	for _, c := range []struct{ unit, column, want string }{
		{"parse.c:18", "function", "'=1+1"}, {"parse.c:18", "source", `say("a, b");`}, {"parse.c:18", "line", "18"},
		{"parse.c:18", "basis", "both"}, {"parse.c:18", "verdict", "optimize"}, {"index.c:9", "basis", "estimated"},
		{"index.c:9", "50% faster, half of the interval", "3.2"}, {"wait:cpu", "50% faster", ""},
	} {
		for _, row := range rows[1:] {
			if row[1] == c.unit && row[column[c.column]] != c.want {
				t.Errorf("%s of %s: %q, want %q", c.column, c.unit, row[column[c.column]], c.want)
			}
		}
	}
	b.enter("#search", "spin")
	b.want("spin.c:7")
	if _, content = b.downloaded("#csv"); bytes.Count(content, []byte("\r\n")) != 2 {
		t.Errorf("filtered: %s", content)
	}
}

// TestPNG: a curve and the map as pictures, in the colours of the page, on paper of the page's colour.
func TestPNG(t *testing.T) {
	for _, kind := range []string{"light", "dark"} {
		b := at(t, onDisk(t, estimatedPage(world{}))+"#show=map", size(1400, 900), scheme(kind))
		b.run(keepDownloads)
		b.detail("parse.c:18")
		for selector, want := range map[string]struct {
			name string
			w, h int
		}{
			"#detail .of-curve button": {"parse.c-18-less-time-per-visit.png", 920, 620},
			"#map button":              {"server-name-a-b-request-time-per-visit.png", 1360, 860},
		} {
			name, content := b.downloaded(selector)
			picture, err := png.Decode(bytes.NewReader(content))
			if err != nil || name != want.name || picture.Bounds().Dx() != want.w || picture.Bounds().Dy() != want.h {
				t.Fatalf("%s: %s, %v", kind, name, err)
			}
			red, _, _, alpha := picture.At(5, want.h-5).RGBA()
			if isLight := red > 0x8000; alpha != 0xffff || isLight != (kind == "light") {
				t.Errorf("%s, %s: paper is %v", kind, name, picture.At(5, want.h-5))
			}
			greens := 0 // of what is worth optimizing
			for x := range want.w {
				for y := range want.h {
					if red, green, _, _ := picture.At(x, y).RGBA(); green > red+0x2000 {
						greens++
					}
				}
			}
			if greens < 100 {
				t.Errorf("%s, %s: %d green dots", kind, name, greens)
			}
		}
	}
}
