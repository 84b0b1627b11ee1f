package cli

import (
	"context"
	"fmt"
	"os/signal"
	"strings"
	"syscall"

	"whatif/internal/profile"
	"whatif/internal/web"
)

func viewCommand(sh *shell, args []string) (int, error) {
	f := newFlags("view")
	against := f.String("compare", "", "show the profile `FILE` beside it, from before a change")
	noBrowser := f.Bool("no-browser", false, "only print the address")
	var profiles profilesFlags
	profiles.define(f)
	files, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	page, err := profiles.page(files, *against)
	if err != nil {
		return 0, err
	}
	page.Prepare()
	server, err := web.Listen(func() *web.Page { return page })
	if err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(sh.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	sh.announce(server, *noBrowser)
	return 0, server.Serve(ctx)
}

// announce prints the address of the page, and opens it where there is a display.
func (sh *shell) announce(server *web.Server, noBrowser bool) {
	fmt.Fprintf(sh.stderr, "whatif: the page is at %s (Ctrl-C ends it)\n", server.Address())
	if noBrowser {
		return
	}
	if err := web.OpenBrowser(server.OpenAddress()); err != nil {
		sh.complain(err)
	}
}

// page is the page of some profiles, and of one to compare them with.
func (p *profilesFlags) page(files []string, against string) (*web.Page, error) {
	now, err := p.side(files)
	if err != nil {
		return nil, err
	}
	if against == "" {
		return web.New(now, nil, 0, false), nil
	}
	before, err := p.side([]string{against})
	if err != nil {
		return nil, err
	}
	return web.New(now, &before, 0, false), nil
}

func (p *profilesFlags) side(files []string) (web.Profile, error) {
	if len(files) == 0 {
		files = []string{defaultOutput}
	}
	runs, doubts, err := p.read(files)
	return web.Profile{Label: strings.Join(files, ", "), Runs: runs, Warnings: doubts}, err
}

// watcher is the page of a run that goes on.
type watcher struct {
	live   *web.Live
	server *web.Server
	served chan error
}

// watch serves the page from now on; nil if it is not wanted.
func (sh *shell) watch(r *runFlags, args []string) (*watcher, error) {
	if !r.view {
		return nil, nil
	}
	w := &watcher{live: web.NewLive(r.output, args), served: make(chan error, 1)}
	var err error
	if w.server, err = web.Listen(w.live.Page); err != nil {
		return nil, err
	}
	go func() { w.served <- w.server.Serve(context.Background()) }()
	sh.announce(w.server, false)
	return w, nil
}

func (w *watcher) update(d *profile.Data) {
	if w != nil {
		w.live.Update(d, false)
	}
}

// wait shows what came out of the run until Ctrl-C.
func (w *watcher) wait(sh *shell, d *profile.Data) error {
	w.live.Update(d, true)
	ctx, stop := signal.NotifyContext(sh.ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	fmt.Fprintf(sh.stderr, "whatif: the run has ended; the page stays until Ctrl-C: %s\n", w.server.Address())
	select {
	case <-ctx.Done():
		w.server.Close()
		return <-w.served
	case err := <-w.served:
		return err
	}
}

func (w *watcher) close() {
	if w != nil {
		w.server.Close()
	}
}
