package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"whatif/internal/testing/realkernel"
)

const nobody = 65534

// directoryOf makes a directory of user uid that everybody may enter.
func directoryOf(t *testing.T, uid int) string {
	t.Helper()
	dir := t.TempDir()
	for d := dir; d != filepath.Clean(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	return dir
}

// whatifIn runs whatif in a directory, as if user had called sudo. If user is empty, nobody has.
func whatifIn(t *testing.T, dir, user string, args ...string) (status int, stderr string) {
	t.Helper()
	release, err := turnFor(append([]string{"whatif"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	cmd := exec.Command(realkernel.Whatif(t), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SUDO_UID="+user, "SUDO_GID="+user, "PKEXEC_UID=", "DOAS_USER=")
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func ownerAndMode(t *testing.T, path string) (uid uint32, mode os.FileMode) {
	t.Helper()
	fi, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Sys().(*syscall.Stat_t).Uid, fi.Mode()
}

// TestFilesOfRun checks the files that run writes under sudo, and in a directory of another user.
func TestFilesOfRun(t *testing.T) {
	realkernel.NeedBeside(t)
	dir := directoryOf(t, nobody)
	ran := filepath.Join(dir, "ran")
	for i, want := range []string{"whatif: wrote whatif.profile; ", "whatif: added run 2 to whatif.profile; "} {
		if status, out := whatifIn(t, dir, "65534", "run", "--", "true"); status != 0 || !strings.Contains(out, want) {
			t.Errorf("run %d: status %d, %s", i+1, status, out)
		}
		if uid, mode := ownerAndMode(t, dir+"/whatif.profile"); uid != nobody || mode != 0o600 {
			t.Errorf("run %d: the profile belongs to %d and is %v", i+1, uid, mode)
		}
	}

	// Root may write in this directory, the user may not.
	roots := directoryOf(t, 0)
	status, out := whatifIn(t, roots, "65534", "run", "--", "touch", ran)
	const denied = "whatif: opening profile whatif.profile: permission denied\n" +
		"whatif: hint: files are written with the rights of nobody, "
	if status != 125 || !strings.Contains(out, denied) {
		t.Errorf("where the user may not write: status %d, %s", status, out)
	}

	// A symbolic link by which a user tries to have root overwrite a file.
	trap := directoryOf(t, nobody)
	link := filepath.Join(trap, "whatif.profile")
	if err := errors.Join(os.Symlink(roots+"/ld.so.preload", link), os.Lchown(link, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"", "65534", "1"} {
		for _, flag := range []string{"--quiet", "--overwrite"} {
			status, out := whatifIn(t, trap, user, "run", flag, "--", "touch", ran)
			if status != 125 || !strings.Contains(out, "it is a symbolic link") {
				t.Errorf("a link, user %q: status %d, %s", user, status, out)
			}
		}
	}
	if files, err := os.ReadDir(roots); err != nil || len(files) > 0 {
		t.Errorf("root made %v, %v", files, err)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("the program ran although its profile was refused")
	}
}

// TestFilesOfReport checks the files that report writes. It needs root, but profiles nothing.
func TestFilesOfReport(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	dir := directoryOf(t, nobody)
	const profile = `{"run":{"version":1,"points":[{"name":"p"}]}}` + "\n"
	if err := os.WriteFile(dir+"/p", []byte(profile), 0o644); err != nil {
		t.Fatal(err)
	}
	// The other formats need a recording.
	for _, format := range []string{"text", "json", "csv", "html", "svg", "map", "github", "pprof", "coz", "coz-json"} {
		if status, out := whatifIn(t, dir, "65534", "report", "--format", format, "-o", "out", "p"); status != 0 {
			t.Errorf("%s: status %d, %s", format, status, out)
			continue
		}
		if uid, mode := ownerAndMode(t, dir+"/out"); uid != nobody || mode != 0o644 {
			t.Errorf("%s: the report belongs to %d and is %v", format, uid, mode)
		}
		if err := errors.Join(os.Remove(dir+"/out"), os.Symlink("victim", dir+"/out")); err != nil {
			t.Fatal(err)
		}
		for _, user := range []string{"", "65534"} {
			status, out := whatifIn(t, dir, user, "report", "--format", format, "-o", "out", "p")
			if status != 125 || !strings.Contains(out, "it is a symbolic link") {
				t.Errorf("%s through a link: status %d, %s", format, status, out)
			}
		}
		if _, err := os.Lstat(dir + "/victim"); err == nil {
			t.Fatalf("%s: written through the link", format)
		}
		if err := os.Remove(dir + "/out"); err != nil {
			t.Fatal(err)
		}
	}
}
