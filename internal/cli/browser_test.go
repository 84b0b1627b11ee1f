package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
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
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox /* root has none */)
	all, stopAll := chromedp.NewExecAllocator(context.Background(), options...)
	defer stopAll()
	tab, stop := chromedp.NewContext(all)
	defer stop()
	tab, cancel := context.WithTimeout(tab, 90*time.Second)
	defer cancel()
	// Started before the run, which is not to be over by then.
	if err := chromedp.Do(tab, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}

	cmd := exec.Command("sh", "-c", "exec whatif run --view --quiet -p func:request_done -d 6s -- ./server")
	cmd.Dir = town(t)
	cmd.Env = append(os.Environ(), "DISPLAY=", "WAYLAND_DISPLAY=", fmt.Sprintf("PATH=%s:%s", filepath.Dir(realkernel.Whatif(t)), os.Getenv("PATH")))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(stderr)
	over := func() {
		cmd.Process.Signal(syscall.SIGINT)
		for said.Scan() {
		}
		cmd.Wait()
	}
	defer over()
	address := ""
	for address == "" && said.Scan() {
		if strings.Contains(said.Text(), "the page is at") {
			address = pageAddress.FindString(said.Text())
		}
	}
	if address == "" {
		t.Fatal("no address")
	}
	if err := chromedp.Do(tab, chromedp.Navigate(address)); err != nil {
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
	until("the end", `document.querySelector('#live').hidden`)
	until("what came out of it", `document.querySelector('#answer').innerText.includes('parse.c:') && document.body.innerText.includes('request_done')`)
}
