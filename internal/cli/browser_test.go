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

	"whatif/internal/testing/realkernel"
)

// TestRunViewInBrowser shows a run in a browser while it goes on. Units appear with the experiments, and at the end the
// page has the result. The test ends the run when it has seen all of that, so a slow machine does no harm.
func TestRunViewInBrowser(t *testing.T) {
	realkernel.NeedBeside(t)
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no chromium")
	}
	// What takes long comes before the run begins, and needs no turn.
	dir := town(t)
	realkernel.Whatif(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox /* root has none */)
	all, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	defer stopAll()
	tab, stop := chromedp.NewContext(all)
	defer stop()
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}

	const run = "whatif run --view --quiet -p func:request_done --experiment 50ms -- ./server"
	release, err := turnFor(run)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	v := start(t, dir, run)
	if err := chromedp.Do(tab, chromedp.Navigate(v.address("the page is at"))); err != nil {
		t.Fatal(err)
	}
	until := func(what, condition string) {
		t.Helper()
		poll := chromedp.Poll[chromedp.Void](condition,
			chromedp.WithPollingInterval(20*time.Millisecond), chromedp.WithPollingTimeout(70*time.Second))
		if _, err := chromedp.Run(tab, poll); err != nil {
			text, _ := chromedp.Run(tab, chromedp.Evaluate[string](`document.body.innerText`))
			t.Fatalf("waiting for %s: %v\n%s", what, err, text)
		}
	}
	const goesOn = `!document.querySelector('#live').hidden && `
	// On a busy machine it may say for long that the units which were tried are not clear yet.
	const answer = `/parse\.c:|\d units? (was|were) tried/.test(document.querySelector('#answer').innerText)`
	until("the run to be shown as going on", goesOn+`document.documentElement.dataset.ready !== undefined`)
	until("units while the run goes on", goesOn+`document.querySelectorAll('#body tr').length > 0`)
	until("an answer while the run goes on", goesOn+answer)
	terminate(t, filepath.Join(dir, "server"))
	v.address("the run has ended")
	until("the end", `document.querySelector('#live').hidden`)
	until("what came out of it", answer+` && document.body.innerText.includes('exit status 143')`)
	v.end(128 + int(syscall.SIGTERM))
}

// terminate ends the only process that runs a program.
func terminate(t *testing.T, program string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, err := os.Readlink(link); err != nil || to != program {
			continue // another process, or one that has ended
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
