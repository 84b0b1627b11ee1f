package web

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"whatif/internal/privilege"
	"whatif/internal/target"
)

// OpenBrowser shows an address in the user's browser, if there is a display, and does not wait for
// it. Under sudo the browser runs as the invoking user.
func OpenBrowser(address string) error {
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return nil
	}
	opener, err := exec.LookPath("xdg-open")
	if err != nil {
		return nil // there is a display, but no desktop
	}
	cmd := exec.Command(opener, address)
	u, other, err := target.InvokingUser()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is meant for whatif
	if other {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}
		dir := cmp.Or(os.Getenv("XDG_RUNTIME_DIR"), "/run/user/"+strconv.Itoa(int(u.UID)))
		cmd.Env = append(target.EnvironmentOf(u), "XDG_RUNTIME_DIR="+dir)
		cmd.Dir = "/"
	}
	start := cmd.Start
	if !other && os.Geteuid() != 0 { // ambient capabilities are meant for whatif
		start = func() error { return privilege.With(nil, cmd.Start) }
	}
	if err := start(); err != nil {
		return fmt.Errorf("opening the browser: %w", err)
	}
	go cmd.Wait()
	return nil
}
