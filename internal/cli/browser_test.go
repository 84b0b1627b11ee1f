package cli_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"whatif/internal/realkernel"
)

// TestRunViewInBrowser looks at a run in a browser while it goes on: units come with the experiments, and at the end
// the page says what came out of it.
func TestRunViewInBrowser(t *testing.T) {
	realkernel.Need(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	// All that takes time before the run begins, which is not to be over before it is looked at.
	dir := town(t)
	realkernel.Whatif(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox /* root has none */)
	all, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	defer stopAll()
	tab, stop := chromedp.NewContext(all)
	defer stop()
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}

	v := start(t, dir, "whatif run --view --quiet -p func:request_done -d 12s -- ./server")
	if err := chromedp.Do(tab, chromedp.Navigate(v.address("the page is at"))); err != nil {
		t.Fatal(err)
	}
	until := func(what, condition string) {
		t.Helper()
		if _, err := chromedp.Run(tab, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(30*time.Second))); err != nil {
			text, _ := chromedp.Run(tab, chromedp.Evaluate[string](`document.body.innerText`))
			t.Fatalf("waiting for %s: %v\n%s", what, err, text)
		}
	}
	until("the run to be shown as going on", `document.documentElement.dataset.ready !== undefined && !document.querySelector('#live').hidden`)
	until("units while the run goes on", `!document.querySelector('#live').hidden && document.querySelectorAll('#body tr').length > 0`)
	v.address("the run has ended")
	until("the end", `document.querySelector('#live').hidden`)
	until("what came out of it", `document.querySelector('#answer').innerText.includes('parse.c:') && document.body.innerText.includes('exit status 143')`)
	v.end(0)
}
