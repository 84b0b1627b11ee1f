package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"whatif/internal/hint"
	"whatif/internal/profile"
	"whatif/internal/target"
	"whatif/internal/web"
)

func viewCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("view")
	against := f.String("compare", "", "show the profile `FILE` beside it, from before a change")
	noBrowser := f.Bool("no-browser", false, "only print the address")
	port := f.Int("port", 0, "serve on port `N` (default: any that is free)")
	var profiles profilesFlags
	profiles.define(f)
	files, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	if *port < 0 || *port > 65535 {
		return 0, hint.New(wrongLine("--port %d: there is no such port", *port), "a port is a number from 1 to 65535")
	}
	page, err := profiles.page(files, *against)
	if err != nil {
		return 0, err
	}
	page.Prepare()
	server, err := web.Listen(*port, func() *web.Page { return page })
	if err != nil {
		return 0, err
	}
	// Not sooner: until here a signal ends whatif at once.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	sh.announce(server, *noBrowser)
	return 0, server.Serve(ctx)
}

// announce prints the address of the page, and opens the page in a browser if there is a display.
func (sh *shell) announce(server *web.Server, noBrowser bool) {
	fmt.Fprintf(sh.stderr, "whatif: the page is at %s (Ctrl-C ends it)\n", server.Address())
	if isRemote(os.Getenv) {
		fmt.Fprintf(sh.stderr, "whatif: from another machine, open the same address there after: %s\n",
			forwarding(os.Getenv, server))
	}
	if noBrowser {
		return
	}
	if err := web.OpenBrowser(server.OpenAddress()); err != nil {
		sh.complain(err)
	}
}

// isRemote tells whether the user probably sits at another machine.
func isRemote(getenv func(string) string) bool {
	return getenv("SSH_CONNECTION") != "" || getenv("DISPLAY") == "" && getenv("WAYLAND_DISPLAY") == ""
}

// forwarding is the command that forwards the page to another machine. The port is the same there, because the server
// refuses requests that name another host or port.
func forwarding(getenv func(string) string, server *web.Server) string {
	// SSH_CONNECTION has the addresses and ports of the client and of this machine. Without it, the user replaces HOST.
	words := strings.Fields(getenv("SSH_CONNECTION"))
	host, option := "HOST", ""
	if len(words) == 4 {
		host = words[2]
		if words[3] != "22" {
			option = "-p " + words[3] + " "
		}
	} else if name, err := os.Hostname(); err == nil && name != "" {
		host = name
	}
	return fmt.Sprintf("ssh -L %d:%s %s%s@%s", server.Port(), server.Host(), option, userName(getenv), host)
}

// userName is the name that the user logs in with.
func userName(getenv func(string) string) string {
	if u, other, err := target.InvokingUser(); err == nil && other {
		return u.Name
	}
	if u, err := target.LookupUser(strconv.Itoa(os.Getuid())); err == nil {
		return u.Name
	}
	return cmp.Or(getenv("USER"), "USER")
}

// page makes the page of some profiles, with one to compare them with if against is not empty.
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
	if err != nil {
		return web.Profile{}, err
	}
	moved, err := sourcePaths(p.paths)
	if err != nil {
		return web.Profile{}, usageError{err}
	}
	estimates, more := estimatesOf(runs, moved)
	return web.Profile{Label: strings.Join(files, ", "), Runs: runs, Warnings: append(doubts, more...),
		Estimates: estimates}, nil
}

// watcher is the page that shows a run while it goes on.
type watcher struct {
	live   *web.Live
	server *web.Server
	served chan error
}

// watch serves the page from now on; it returns nil without --view.
func (sh *shell) watch(ctx context.Context, r *runFlags, args []string) (*watcher, error) {
	if !r.view {
		return nil, nil
	}
	w := &watcher{live: web.NewLive(r.output, args), served: make(chan error, 1)}
	var err error
	if w.server, err = web.Listen(0, w.live.Page); err != nil {
		return nil, err
	}
	go func() { w.served <- w.server.Serve(ctx) }()
	sh.announce(w.server, false)
	return w, nil
}

func (w *watcher) update(d *profile.Data) {
	if w != nil {
		w.live.Update(d, false)
	}
}

// wait shows the result of the run until Ctrl-C, or until ctx is done.
func (w *watcher) wait(ctx context.Context, sh *shell, d *profile.Data) error {
	estimates, _ := estimatesOf([]*profile.Data{d}, nil) // the table has said why not
	w.live.End(d, estimates)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
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
