package debuginfod

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"whatif/internal/outfile"
	"whatif/internal/target"
)

// cache is the directory of elfutils' client. HEX/debuginfo is the file for a build id; if it is empty, no server
// had the file when it was written. Under sudo it is the calling user's cache, and is read and written with
// that user's rights.
type cache struct{ dir string }

// missAge is the time after which servers are asked again for a missing file. The file cache_miss_s in the
// cache may state another time, in seconds.
const missAge = 10 * time.Minute

// cacheDir returns the directory in which elfutils' client keeps its files, "" if no variable names one.
func cacheDir(getenv func(string) string) string {
	if dir := getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	if dir := getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "debuginfod_client")
	}
	if dir := getenv("HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, ".cache", "debuginfod_client")
	}
	return ""
}

// ownCacheDir is cacheDir for the user to whom the files will belong: under sudo the calling user. For root it
// returns no directory that others can change.
func ownCacheDir(getenv func(string) string) string {
	home := func(home string, getenv func(string) string) func(string) string {
		return func(name string) string {
			if name == "HOME" {
				return home
			}
			return getenv(name)
		}
	}
	u, other, err := target.InvokingUser()
	if err != nil {
		return ""
	}
	if other {
		return cacheDir(home(u.Home, getenv))
	}
	dir := cacheDir(getenv)
	if dir == "" || outfile.Own(dir) {
		return dir
	}
	// HOME is another user's, for instance under su.
	root, err := target.LookupUser("0")
	if dir = cacheDir(home(root.Home, func(string) string { return "" })); err != nil || !outfile.Own(dir) {
		return ""
	}
	return dir
}

func (c cache) file(id string) string { return filepath.Join(c.dir, id, "debuginfo") }

// look returns the cached file for a build id. known says that the cache has an answer, which may be that
// there is no file.
func (c cache) look(id string) (path string, known bool) {
	err := target.AsInvokingUser(func() error {
		path, known = c.lookUp(id)
		return nil
	})
	return path, known && err == nil
}

func (c cache) lookUp(id string) (path string, known bool) {
	st, err := os.Stat(c.file(id))
	switch {
	case err != nil || !st.Mode().IsRegular():
		return "", false
	case st.Size() > 0:
		return c.file(id), true
	}
	return "", time.Since(st.ModTime()) < c.missAge()
}

func (c cache) missAge() time.Duration {
	data, err := os.ReadFile(filepath.Join(c.dir, "cache_miss_s"))
	if err != nil {
		return missAge
	}
	s, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 31)
	if err != nil {
		return missAge
	}
	return time.Duration(s) * time.Second
}

// create creates a temporary file for a transfer. Then store or discard must be called.
func (c cache) create(id string) (f *os.File, err error) {
	err = target.AsInvokingUser(func() error {
		dir := filepath.Join(c.dir, id)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		removeStale(dir)
		f, err = os.CreateTemp(dir, "debuginfo.")
		return err
	})
	return f, err
}

// store renames the complete file to its final name.
func (c cache) store(id string, f *os.File) (path string, err error) {
	err = target.AsInvokingUser(func() error {
		// Read-only, as elfutils does, because several programs share the file.
		if err := errors.Join(f.Chmod(0o400), f.Close()); err != nil {
			return err
		}
		return os.Rename(f.Name(), c.file(id))
	})
	if err != nil {
		discard(f)
		return "", err
	}
	return c.file(id), nil
}

// discard removes a transfer's file.
func discard(f *os.File) {
	f.Close()
	_ = target.AsInvokingUser(func() error { return os.Remove(f.Name()) })
}

// miss records that no server has the file. If that fails, the servers are asked again.
func (c cache) miss(id string) {
	if f, err := c.create(id); err == nil {
		_, _ = c.store(id, f)
	}
}

// removeStale removes files of transfers that ended with their program: those that did not change for a day.
func removeStale(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, "debuginfo.*"))
	for _, name := range left {
		if st, err := os.Stat(name); err == nil && time.Since(st.ModTime()) > 24*time.Hour {
			os.Remove(name)
		}
	}
}
