// Package version says which whatif this is: its version, the commit that it was built from, and that commit's date.
//
// The Makefile gives commit and date to the linker, also in a source archive without a repository. Otherwise they are
// what the go command has noted in the program: of a clone the state of the repository, of a module (go install) its
// pseudo-version. The date is the commit's and not the clock's, so that equal sources make equal programs.
package version

import (
	"fmt"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// Number is the version. A release has the tag v and this number.
const Number = "0.1"

// The linker sets these: -X PATH/internal/version.commit=…
var (
	commit string // the commit's hash, with + behind it if files were changed since
	date   string // seconds since 1970: SOURCE_DATE_EPOCH, or the commit's date
)

// Info is what is known of a build. Commit and Date are zero if nothing is known of them.
type Info struct {
	Commit  string
	Changed bool // files were changed since the commit
	Date    time.Time
	// Go is the compiler's version, System the operating system and the architecture.
	Go, System string
}

// Get reads what the linker and the go command have noted in this program.
func Get() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = new(debug.BuildInfo)
	}
	return read(commit, date, build)
}

func read(commit, date string, build *debug.BuildInfo) Info {
	i := Info{Go: build.GoVersion}
	set := make(map[string]string)
	for _, s := range build.Settings {
		set[s.Key] = s.Value
	}
	i.System = set["GOOS"] + "/" + set["GOARCH"]
	switch {
	case commit != "" || date != "":
		i.Commit, i.Changed = strings.CutSuffix(commit, "+")
		if seconds, err := strconv.ParseInt(date, 10, 64); err == nil {
			i.Date = time.Unix(seconds, 0).UTC()
		}
	case set["vcs.revision"] != "":
		i.Commit, i.Changed = set["vcs.revision"], set["vcs.modified"] == "true"
		i.Date = parse(time.RFC3339, set["vcs.time"])
	default:
		if m := pseudo.FindStringSubmatch(build.Main.Version); m != nil {
			i.Date, i.Commit = parse("20060102150405", m[1]), m[2]
		}
	}
	return i
}

// pseudo matches a pseudo-version of a Go module, such as v0.0.0-20260102030405-0123456789ab, which has the commit's
// date and hash.
var pseudo = regexp.MustCompile(`[-.](\d{14})-([0-9a-f]{12})(?:\+dirty)?$`)

// parse reads a date. It is zero if there is none.
func parse(layout, text string) time.Time {
	t, err := time.Parse(layout, text)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// String is a build in words, such as "commit 0123456789ab of 2026-01-02, go1.26.0, linux/amd64".
func (i Info) String() string {
	text := "commit unknown"
	if i.Commit != "" {
		text = "commit " + i.Commit[:min(12, len(i.Commit))]
	}
	if !i.Date.IsZero() {
		text += " of " + i.Date.Format(time.DateOnly)
	}
	if i.Changed {
		text += ", with changes"
	}
	return fmt.Sprintf("%s, %s, %s", text, i.Go, i.System)
}
