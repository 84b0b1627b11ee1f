package device

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
	"whatif/internal/openfile"
	"whatif/internal/outfile"
	"whatif/internal/spelling"
	"whatif/internal/target"
)

// A Store is the user's database of devices: a directory with a file for each, NAME.json. Under sudo it is that of the
// user who called sudo, and is read and written with that user's rights.
type Store struct{ Dir string }

// Open finds the database: $XDG_DATA_HOME/whatif/devices. It need not exist.
func Open(getenv func(string) string) (Store, error) {
	u, other, err := target.InvokingUser()
	if err != nil {
		return Store{}, err
	}
	// sudo mostly keeps neither variable. Where it keeps one, the file's rights are still the user's own.
	home := getenv("HOME")
	if other {
		home = u.Home
	}
	data := getenv("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		if !filepath.IsAbs(home) {
			return Store{}, hint.New(errors.New("finding the database of devices: there is no home directory"),
				"set XDG_DATA_HOME, or name a device file by its path")
		}
		data = filepath.Join(home, ".local", "share")
	}
	return Store{filepath.Join(data, "whatif", "devices")}, nil
}

const ending = ".json"

// An Entry is a device of the database.
type Entry struct {
	Device *Device
	// Path is the file of a device of the user's; "": it is built in.
	Path string
	// Err says why the file cannot be used.
	Err error
}

// List lists the user's devices by name, then the built-in ones. One of the user's hides a built-in one of its name.
func (s Store) List() ([]Entry, error) {
	var names []string
	err := target.AsInvokingUser(func() error {
		files, err := os.ReadDir(s.Dir)
		for _, f := range files {
			if name, ok := strings.CutSuffix(f.Name(), ending); ok && CheckName(name) == nil {
				names = append(names, name)
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the database of devices: %w", err)
	}
	slices.Sort(names)
	var all []Entry
	for _, name := range names {
		path := s.path(name)
		d, err := readAs(openfile.Invoker(), path)
		if err != nil {
			d = &Device{Name: name}
		} else {
			d.Name = name // the file's name is what the user types
		}
		all = append(all, Entry{Device: d, Path: path, Err: err})
	}
	for _, d := range BuiltIn() {
		if !slices.Contains(names, d.Name) {
			all = append(all, Entry{Device: d})
		}
	}
	return all, nil
}

func (s Store) path(name string) string { return filepath.Join(s.Dir, name+ending) }

// Find finds the device that a word on the command line means: ratios (cpu=0.43), a name in the database, or a file.
func (s Store) Find(word string) (*Device, error) {
	if IsByHand(word) {
		d, err := ParseByHand(word)
		if err != nil {
			return nil, fmt.Errorf("reading the device %q: %w", word, err)
		}
		return d, nil
	}
	if strings.Contains(word, "/") || CheckName(word) != nil {
		return ReadFile(word)
	}
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if e.Device.Name == word {
			if e.Err != nil {
				return nil, fmt.Errorf("reading the device file %s: %w", e.Path, e.Err)
			}
			return e.Device, nil
		}
	}
	d, err := ReadFile(word)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.New(fmt.Errorf("finding the device %q: no file and no device of the database has that name", word),
			"whatif device list has all of them"+nearest(word, all))
	}
	return d, err
}

func nearest(word string, all []Entry) string {
	for _, e := range all {
		if len(word) > 2 && spelling.Distance(word, e.Device.Name, 2) <= 2 {
			return "; did you mean " + e.Device.Name + "?"
		}
	}
	return ""
}

// ReadFile reads a device file that the user has named.
func ReadFile(path string) (*Device, error) {
	f, err := openfile.Named(path)
	if err != nil {
		return nil, fmt.Errorf("reading the device file %s: %w", path, err)
	}
	defer f.Close()
	d, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("reading the device file %s: %w", path, err)
	}
	return d, nil
}

func readAs(rights openfile.Rights, path string) (*Device, error) {
	f, err := openfile.Regular(rights, "", path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f)
}

func read(r io.Reader) (*Device, error) {
	text, err := io.ReadAll(io.LimitReader(r, MostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MostBytes {
		return nil, hint.New(fmt.Errorf("it has more than %d bytes", MostBytes), "is it a device file?")
	}
	return Parse(text)
}

// Add writes a device into the database under its name, and returns the path. It replaces one of that name only if
// replace is set.
func (s Store) Add(d *Device, replace bool) (path string, err error) {
	if err := CheckName(d.Name); err != nil {
		return "", err
	}
	path = s.path(d.Name)
	var text strings.Builder
	if err := d.Write(&text); err != nil {
		return "", err
	}
	there := false
	err = target.AsInvokingUser(func() error {
		if err := os.MkdirAll(s.Dir, 0o755); err != nil {
			return err
		}
		_, err := os.Lstat(path)
		there = err == nil
		return nil
	})
	if err == nil && there && !replace {
		return "", hint.New(fmt.Errorf("adding %s: the database has a device of that name", d.Name),
			"--name NAME gives it another name, --overwrite replaces the old one")
	}
	if err == nil {
		err = outfile.Replace(path, []byte(text.String()))
	}
	if errors.Is(err, unix.EROFS) || errors.Is(err, fs.ErrPermission) {
		err = hint.New(err, "set XDG_DATA_HOME to a directory in which you can write")
	}
	if err != nil {
		return "", fmt.Errorf("adding %s to the database: %w", d.Name, err)
	}
	return path, nil
}
