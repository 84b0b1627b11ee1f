package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"whatif/internal/realkernel"
)

// TestRunViewInBrowser looks at a run in a browser while it goes on: units come with the experiments, and at the end
// the page says what came out of it. The run ends when the test has seen all of that, however slow the machine is.
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

	v := start(t, dir, "whatif run --view --quiet -p func:request_done -- ./server")
	if err := chromedp.Do(tab, chromedp.Navigate(v.address("the page is at"))); err != nil {
		t.Fatal(err)
	}
	until := func(what, condition string) {
		t.Helper()
		if _, err := chromedp.Run(tab, chromedp.Poll[chromedp.Void](condition, chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(70*time.Second))); err != nil {
			text, _ := chromedp.Run(tab, chromedp.Evaluate[string](`document.body.innerText`))
			t.Fatalf("waiting for %s: %v\n%s", what, err, text)
		}
	}
	until("the run to be shown as going on", `document.documentElement.dataset.ready !== undefined && !document.querySelector('#live').hidden`)
	until("units while the run goes on", `!document.querySelector('#live').hidden && document.querySelectorAll('#body tr').length > 0`)
	until("an answer while the run goes on", `!document.querySelector('#live').hidden && document.querySelector('#answer').innerText.includes('parse.c:')`)
	terminate(t, filepath.Join(dir, "server"))
	v.address("the run has ended")
	until("the end", `document.querySelector('#live').hidden`)
	until("what came out of it", `document.querySelector('#answer').innerText.includes('parse.c:') && document.body.innerText.includes('exit status 143')`)
	v.end(128 + int(syscall.SIGTERM))
}

// terminate ends the one process that runs a program.
func terminate(t *testing.T, program string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != program {
			continue // another one, or it has ended meanwhile
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("nobody runs %s", program)
}
