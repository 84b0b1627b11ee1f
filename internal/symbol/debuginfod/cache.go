package debuginfod

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// cache is elfutils' directory: HEX/debuginfo is the file of a build id; an
// empty one says that no server had it when it was made.
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

func (c cache) file(id string) string { return filepath.Join(c.dir, id, "debuginfo") }

// look says what the cache knows of a build id: a file, or that there is none.
func (c cache) look(id string) (path string, known bool) {
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
func (c cache) create(id string) (*os.File, error) {
	dir := filepath.Join(c.dir, id)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	removeStale(dir)
	return os.CreateTemp(dir, "debuginfo.")
}

// store gives the file its name, at once and as a whole.
func (c cache) store(id string, f *os.File) (path string, err error) {
	if err := f.Close(); err != nil {
		os.Remove(f.Name())
		return "", err
	}
	// As elfutils leaves them: nobody is to change what is shared.
	if err = os.Chmod(f.Name(), 0o400); err == nil {
		err = os.Rename(f.Name(), c.file(id))
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return c.file(id), nil
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
