package target

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/spelling"
)

// defaultPath is what execvp searches when PATH is not set.
const defaultPath = "/bin:/usr/bin"

func searchPath(env []string) string {
	for _, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return path
		}
	}
	return defaultPath
}

// look lists the files that a shell would try for name, in the same order. The program's user may not have access to
// some of them, so only exec can tell which one is executed. A relative name and a relative part of PATH are relative
// to dir.
func look(name, path, dir string) ([]string, error) {
	if name == "" {
		return nil, notExecuted(hint.New(errors.New("the name is empty"), "whatif run [flags] -- PROGRAM [ARG...]"), false)
	}
	if strings.Contains(name, "/") {
		if err := startable(within(dir, name)); err != nil {
			return nil, notExecuted(hint.New(err, remedyFor(err, within(dir, name), name)), !missing(err))
		}
		return []string{name}, nil
	}
	var found []string
	var first error
	for _, part := range filepath.SplitList(path) {
		if part == "" {
			part = "."
		}
		candidate := strings.TrimSuffix(part, "/") + "/" + name
		err := startable(within(dir, candidate))
		if err == nil {
			found = append(found, candidate)
		} else if first == nil && !missing(err) {
			first = fmt.Errorf("%s: %w", candidate, err)
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	if first != nil && !errors.Is(first, unix.EISDIR) {
		return nil, notExecuted(hint.New(first, remedyFor(first, name, name)), true)
	}
	return nil, notExecuted(hint.New(errors.New("not found in PATH"), suggest(name, path, dir)), false)
}

func within(dir, name string) string {
	if dir == "" || filepath.IsAbs(name) {
		return name
	}
	return dir + "/" + name
}

// startable says why no user could exec path; nil: some user may.
func startable(path string) error {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return err
	}
	switch {
	case st.Mode&unix.S_IFMT == unix.S_IFDIR:
		return unix.EISDIR
	case st.Mode&unix.S_IFMT != unix.S_IFREG:
		return unix.EACCES
	case st.Mode&0o111 == 0:
		return unix.EACCES
	}
	return nil
}

func remedyFor(err error, path, name string) string {
	switch {
	case missing(err):
		if near := nearestIn(filepath.Dir(path), filepath.Base(path)); near != "" {
			dir, _ := filepath.Split(strings.TrimRight(name, "/")) // filepath.Dir would remove ./, which a shell needs
			return fmt.Sprintf("did you mean %s?", dir+near)
		}
		return "check the name and the directory whatif runs in"
	case errors.Is(err, unix.EISDIR):
		return "name a program inside the directory"
	case errors.Is(err, unix.EACCES):
		if with := interpreterFor(name); with != "" {
			return fmt.Sprintf("make it executable (chmod +x %s) or name its interpreter: whatif run -- %s %s",
				name, with, name)
		}
		return fmt.Sprintf("make it executable: chmod +x %s", name)
	}
	return ""
}

// interpreterFor guesses a script's interpreter from the script's name; "" if there is no guess.
func interpreterFor(name string) string {
	return map[string]string{
		".py": "python3", ".sh": "sh", ".rb": "ruby", ".pl": "perl", ".js": "node", ".lua": "lua", ".php": "php",
	}[filepath.Ext(name)]
}

// suggest gives a hint for a name that is not in PATH.
func suggest(name, path, dir string) string {
	if startable(within(dir, "./"+name)) == nil {
		return fmt.Sprintf("did you mean ./%s?", name)
	}
	for _, part := range filepath.SplitList(path) {
		if near := nearestIn(within(dir, part), name); near != "" {
			return fmt.Sprintf("did you mean %s?", near)
		}
	}
	if os.Getenv("SUDO_UID") != "" {
		return "sudo has its own PATH: give the program's path, as in \"$(which " + name + ")\""
	}
	return "give the program's path; PATH is " + path
}

// nearestIn finds a program in dir whose name differs from name by one typing error; "" if there is none.
func nearestIn(dir, name string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, entry := range entries {
		if oneSlip(name, entry.Name()) && startable(dir+"/"+entry.Name()) == nil {
			return entry.Name()
		}
	}
	return ""
}

// oneSlip tells whether a and b differ by one typing error. Names of one or two letters would be similar to too many.
func oneSlip(a, b string) bool {
	return len(a) >= 3 && len(b) >= 3 && spelling.Distance(a, b, 1) == 1
}
