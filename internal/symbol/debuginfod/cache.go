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

// cache is elfutils' directory: HEX/debuginfo is the file of a build id; an
// empty one says that no server had it when it was made. Under sudo it is the
// cache of the user who called it, and is read and written with that user's rights.
type cache struct{ dir string }

// missAge is after which time servers are asked again for what they did not
// have; the file cache_miss_s in the cache may say another, in seconds.
const missAge = 10 * time.Minute

// cacheDir is where elfutils' client keeps its files, "" if nothing says.
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

// ownCacheDir is cacheDir of whoever the files will belong to: under sudo of
// the user who called it, and for root of no directory that others can change.
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
	// As with su, which keeps the HOME of a user.
	root, err := target.LookupUser("0")
	if dir = cacheDir(home(root.Home, func(string) string { return "" })); err != nil || !outfile.Own(dir) {
		return ""
	}
	return dir
}

func (c cache) file(id string) string { return filepath.Join(c.dir, id, "debuginfo") }

// look says what the cache knows of a build id: a file, or that there is none.
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

// create makes a file in which a transfer arrives; store or discard ends it.
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

// store gives the file its name, at once and as a whole.
func (c cache) store(id string, f *os.File) (path string, err error) {
	err = target.AsInvokingUser(func() error {
		// As elfutils leaves them: nobody is to change what is shared.
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

// discard removes a file that is of no use.
func discard(f *os.File) {
	f.Close()
	_ = target.AsInvokingUser(func() error { return os.Remove(f.Name()) })
}

// miss notes that no server has the file. Where it cannot, they are asked again.
func (c cache) miss(id string) {
	if f, err := c.create(id); err == nil {
		_, _ = c.store(id, f)
	}
}

// removeStale removes what transfers left that were cut off, by the end of
// their program: those in which nothing has arrived for a day.
func removeStale(dir string) {
	left, _ := filepath.Glob(filepath.Join(dir, "debuginfo.*"))
	for _, name := range left {
		if st, err := os.Stat(name); err == nil && time.Since(st.ModTime()) > 24*time.Hour {
			os.Remove(name)
		}
	}
}
