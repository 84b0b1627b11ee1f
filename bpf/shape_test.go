package bpf_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	mostColumns  = 100
	mostFunction = 60 // lines
	levels       = "vtime/level.h"
)

// sources are the kernel side's own files, by path.
func sources(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*/*.h")
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range append(names, "whatif.bpf.c", "record.bpf.c") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	if len(texts) < 30 {
		t.Fatalf("found %d files only", len(texts))
	}
	return texts
}

var (
	comment = regexp.MustCompile(`(?s)/\*.*?\*/`)
	// An account's level is assigned, or a whole account is.
	assigned = regexp.MustCompile(`account(?:\.|->)level\s*[-+]?=[^=]|\ba->level\s*[-+]?=[^=]|account = [^{]*;|\*a = `)
	verb     = regexp.MustCompile(`(?m)^static __always_inline void (account_\w+)\(`)
)

// TestOneFileChangesLevels finds the verbs that change a level, their uses, and no other assignment.
func TestOneFileChangesLevels(t *testing.T) {
	texts := sources(t)
	var verbs []string
	for _, m := range verb.FindAllStringSubmatch(texts[levels], -1) {
		verbs = append(verbs, m[1])
	}
	if len(verbs) < 8 || !assigned.MatchString(texts[levels]) {
		t.Fatalf("%s has the verbs %v", levels, verbs)
	}
	for name, text := range texts {
		if name == levels {
			continue
		}
		for _, m := range assigned.FindAllString(comment.ReplaceAllString(text, ""), -1) {
			t.Errorf("%s changes a level: %s", name, strings.TrimSpace(m))
		}
	}
	for _, v := range verbs {
		users := 0
		for name, text := range texts {
			if name != levels && strings.Contains(text, v+"(") {
				users++
			}
		}
		if users == 0 {
			t.Errorf("nothing uses %s", v)
		}
		t.Logf("%s: used in %d headers", v, users)
	}
}

// TestHeadersCompileAlone compiles each header by itself: each includes what it needs.
func TestHeadersCompileAlone(t *testing.T) {
	clang, err := exec.LookPath("clang")
	if err != nil {
		t.Skip("no clang: make test installs it")
	}
	for name := range sources(t) {
		if !strings.HasSuffix(name, ".h") {
			continue
		}
		args := []string{"-target", "bpf", "-D__TARGET_ARCH_x86", "-O2", "-fsyntax-only", "-Wall", "-Werror",
			"-Wno-undefined-internal", "-Wno-undefined-inline", "-Wno-unused-function", "-Wno-unused-variable",
			"-Wno-pragma-once-outside-header",
			"-idirafter", "/usr/include/x86_64-linux-gnu", "-idirafter", "/usr/include/aarch64-linux-gnu", "-x", "c", name}
		if out, err := exec.Command(clang, args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// TestColumns keeps lines short; tabs stop at each eighth column.
func TestColumns(t *testing.T) {
	for name, text := range sources(t) {
		for i, line := range strings.Split(text, "\n") {
			if n := columns(line); n > mostColumns {
				t.Errorf("%s:%d has %d columns", name, i+1, n)
			}
		}
	}
}

func columns(line string) int {
	n := 0
	for _, r := range line {
		n++
		if r == '\t' {
			n += 7 - (n-1)%8
		}
	}
	return n
}

var function = regexp.MustCompile(`(?m)^(?:SUBPROGRAM |static |SEC\([^)]*\)\n)?` +
	`(?:__always_inline |__noinline )?[a-z][\w *]*?(\w+)\(([^;{}]*)\)\n\{\n`)

// TestFunctions keeps functions short, and names the longest.
func TestFunctions(t *testing.T) {
	type found struct {
		name  string
		lines int
	}
	var all []found
	for name, text := range sources(t) {
		for _, at := range function.FindAllStringSubmatchIndex(text, -1) {
			end := strings.Index(text[at[1]:], "\n}\n")
			f := text[at[2]:at[3]]
			if f == "BPF_PROG" {
				f, _, _ = strings.Cut(text[at[4]:at[5]], ",")
			}
			all = append(all, found{name + " " + f, 2 + strings.Count(text[at[1]:at[1]+end+1], "\n")})
		}
	}
	if len(all) < 300 {
		t.Fatalf("found %d functions only", len(all))
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.lines, a.lines) })
	t.Logf("the longest of %d functions is %s, with %d lines", len(all), all[0].name, all[0].lines)
	for _, f := range all {
		if f.lines > mostFunction {
			t.Errorf("%s has %d lines", f.name, f.lines)
		}
	}
}
