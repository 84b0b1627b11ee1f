package point

import (
	"slices"
	"testing"

	"whatif/internal/code/symbol"
)

// TestFindLater checks that binaries which are loaded later do not widen a point's meaning.
func TestFindLater(t *testing.T) {
	reads := map[string][]symbol.Func{"*_read": funcs(0x1100), "done": funcs(0x1200)}
	line := func(path, file string, offset uint64) *fake {
		return &fake{path: path, funcs: reads, entries: []symbol.LineEntry{{File: file, FileOffset: offset}}}
	}
	server, plugin := line("/home/u/server", "/src/util.c", 1), line("/home/u/plugin.so", "/other/util.c", 2)
	own, nss := line("/home/u/libown.so", "/src/util.c", 3), line("/usr/lib/libnss_files.so.2", "/src/util.c", 4)
	libc := line("/proc/7/root/usr/lib/libc.so.6", "/src/util.c", 5)
	other := line("/proc/7/root/lib64/libc.so.7", "/src/util.c", 6) // of another distribution
	for _, c := range []struct {
		spec  string
		first *fake
		later []*fake // in which the point is found
	}{
		{"func:*_read", server, []*fake{plugin, own}},
		{"func:done", server, []*fake{plugin, own}},
		{"util.c:10", server, []*fake{own}},
		{"func:*_read", libc, []*fake{plugin, own, other}},
		{"func:done", libc, []*fake{plugin, own, nss, other}},
		{"util.c:10", libc, []*fake{own, other}},
		{"func:/usr/lib/libc.so.6:done", libc, nil},
	} {
		spec, before := mustParse(t, c.spec), new(Before)
		sites, err := Resolve(spec, []*fake{c.first}, before)
		if err != nil || len(sites) != 1 {
			t.Errorf("%s: %+v, %v", c.spec, sites, err)
			continue
		}
		before.Add(sites[0], c.first.Name())
		for _, b := range []*fake{plugin, own, nss, other} {
			b.asked = ""
			sites, err := Find(spec, []*fake{b}, before)
			if err != nil || (len(sites) > 0) != slices.Contains(c.later, b) {
				t.Errorf("%s, found in %s, then in %s: %+v, %v", c.spec, c.first.path, b.path, sites, err)
			}
			if spec.Kind == Line && b == nss && b.asked != "" {
				t.Errorf("%s: the debug information of %s is read", c.spec, b.path)
			}
		}
	}
	// The program and another one have different files of the name.
	before := new(Before)
	before.Add(Site{File: "/src/util.c"}, server.path)
	if sites, err := Resolve(mustParse(t, "util.c:10"), []*fake{plugin}, before); err == nil {
		t.Errorf("in another program: %+v", sites)
	}
}
