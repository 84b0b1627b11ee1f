package version

import (
	"runtime/debug"
	"testing"
)

const hash = "0123456789abcdef0123456789abcdef01234567"

func TestRead(t *testing.T) {
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{
			{Key: "GOARCH", Value: "arm64"}, {Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: hash},
			{Key: "vcs.time", Value: "2026-01-02T23:04:05-02:00"}, {Key: "vcs.modified", Value: modified},
		}
	}
	bare := vcs("")[:2]
	for _, test := range []struct {
		name, commit, date, module string
		settings                   []debug.BuildSetting
		want                       string
	}{
		{"a release", hash, "1767323045", "(devel)", bare, "commit 0123456789ab of 2026-01-02"},
		{"SOURCE_DATE_EPOCH, without a repository", "", "86400", "(devel)", bare, "commit unknown of 1970-01-02"},
		{"changed", hash + "+", "1767323045", "(devel)", bare, "commit 0123456789ab of 2026-01-02, with changes"},
		{"the linker is right", "abc", "0", "(devel)", vcs("true"), "commit abc of 1970-01-01"},
		{"a clone", "", "", "v0.1.1-0.20260103010405-0123456789ab", vcs("false"), "commit 0123456789ab of 2026-01-03"},
		{"a changed clone", "", "", "(devel)", vcs("true"), "commit 0123456789ab of 2026-01-03, with changes"},
		{"a module of no version", "", "", "v0.0.0-20260102030405-0123456789ab", bare, "commit 0123456789ab of 2026-01-02"},
		{"a module after a version", "", "", "v0.1.1-0.20260102030405-0123456789ab", bare,
			"commit 0123456789ab of 2026-01-02"},
		{"a module of a version", "", "", "v0.1.0", bare, "commit unknown"},
		{"a source archive, by hand", "", "", "(devel)", bare, "commit unknown"},
		{"no date", "", "soon", "(devel)", vcs("false"), "commit unknown"},
	} {
		build := &debug.BuildInfo{GoVersion: "go1.26.0", Settings: test.settings}
		build.Main.Version = test.module
		want := test.want + ", go1.26.0, linux/arm64"
		if got := read(test.commit, test.date, build).String(); got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}
