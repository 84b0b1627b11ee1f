package web

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"whatif/internal/profile"
)

// TestScreenshots takes pictures for people to look at, and prints what a screen reader sees: WHATIF_SCREENSHOTS is the
// directory for them, WHATIF_PROFILE, if set, a profile to show, and WHATIF_SHOWN the names of pages if not all.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("WHATIF_SCREENSHOTS")
	if dir == "" {
		t.Skip("WHATIF_SCREENSHOTS is not set")
	}
	pages := map[string]*Page{"made": pageOf(world{latency: true, waiting: true, units: 40, experiments: 800}.made()),
		"unlucky": pageOf(unlucky()["names"]...), "empty": pageOf(unlucky()["empty"]...),
		"estimates": estimatedPage(world{waiting: true, units: 40, experiments: 800})}
	if names := os.Getenv("WHATIF_SHOWN"); names != "" { // only these
		maps.DeleteFunc(pages, func(name string, _ *Page) bool { return !strings.Contains(names, name) })
	}
	before := Profile{Label: "before.profile", Runs: pageRuns(world{scale: 0.5})}
	pages["compared"] = New(Profile{Label: "after.profile", Runs: pageRuns(world{waiting: true})}, &before, 0, false)
	if path := os.Getenv("WHATIF_PROFILE"); path != "" {
		runs, err := profile.ReadFiles([]string{path})
		if err != nil {
			t.Fatal(err)
		}
		pages["real"] = New(Profile{Label: filepath.Base(path), Runs: runs}, nil, 0, false)
	}
	for name, p := range pages {
		address := served(t, p)
		shot := func(kind string, b *tab) {
			picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+"-"+kind+".png"), picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range []string{"light", "dark"} {
			b := at(t, address, size(1440, 1000), scheme(kind))
			shot(kind, b)
			if kind == "light" {
				tree := []byte(accessible(b))
				if err := os.WriteFile(filepath.Join(dir, name+"-tree.txt"), tree, 0o644); err != nil {
					t.Fatal(err)
				}
				b.run(`void (document.querySelector('#detail').scrollTop = 900)`)
				shot("lower", b)
				b = at(t, address+"#view=latency:put", size(1440, 1000), scheme(kind))
				shot("latency", b)
			}
			b = at(t, address+"#show=map", size(1440, 1000), scheme(kind))
			shot("map-"+kind, b)
		}
		b := at(t, address, size(390, 844), scheme("dark"))
		shot("phone-dark", b)
		b = at(t, address, size(390, 844), scheme("light"))
		shot("phone", b)
		b.run(`void document.querySelector('#body tr')?.click()`)
		b.until(`!document.querySelector('#body tr') || document.querySelector('#detail').dataset.shown`)
		shot("phone-detail", b)
		b = at(t, address+"#show=map", size(390, 844), scheme("light"))
		shot("phone-map", b)
	}
}

// accessible is the page as a screen reader sees it: a line for each thing with a role, its name and what it says.
func accessible(b *tab) string {
	var tree accessibility.GetFullAXTreeResult
	b.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) (err error) {
		tree, err = cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
		return err
	}))
	nodes := map[accessibility.NodeID]*accessibility.Node{}
	for _, n := range tree.Nodes {
		nodes[n.NodeID] = n
	}
	var out strings.Builder
	var write func(id accessibility.NodeID, depth int)
	write = func(id accessibility.NodeID, depth int) {
		n := nodes[id]
		if n == nil {
			return
		}
		role := said(n.Role)
		if !n.Ignored && !slices.Contains([]string{"none", "generic", "InlineTextBox"}, role) {
			fmt.Fprintf(&out, "%s%s %q", strings.Repeat("  ", depth), role, said(n.Name))
			for _, p := range n.Properties {
				if v := said(p.Value); v != "" && v != "false" {
					fmt.Fprintf(&out, " %s=%s", p.Name, v)
				}
			}
			if v := said(n.Value); v != "" {
				fmt.Fprintf(&out, " value=%s", v)
			}
			out.WriteByte('\n')
			depth++
		}
		for _, child := range n.ChildIDs {
			write(child, depth)
		}
	}
	write(tree.Nodes[0].NodeID, 0)
	return out.String()
}

func said(v *accessibility.Value) string {
	if v == nil || len(v.Value) == 0 {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}
