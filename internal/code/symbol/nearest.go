package symbol

import (
	"cmp"
	"debug/elf"
	"slices"
	"strings"

	"whatif/internal/code/symbol/pclntab"
	"whatif/internal/spelling"
)

// Nearest returns up to n names of the binary's functions that are most like a name: names that
// contain it first, then names that differ in a few letters.
func (b *Binary) Nearest(name string, n int) (near []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	var err error
	defer guard("looking for similar names", &err)()
	t, isGo := b.symbolTable(), b.IsGo()
	r := newRanking(name, LastComponent)
	// Demangling takes long, so of a giant only the first names are tried.
	for _, x := range t.all[:min(len(t.all), maxNearest)] {
		if s := t.name(x); x.kind == elf.STT_FUNC && !isPartial(s) {
			r.add(namesOf(s, isGo).short)
		}
	}
	if g := b.goTable(); g != nil && !b.hasSymbolTable() {
		left := maxNearest
		g.Functions(func(f pclntab.Func) bool {
			r.add(goName(f.Name))
			left--
			return left > 0
		})
	}
	return r.best(n)
}

// maxNearest bounds the names that Nearest compares.
const maxNearest = 300_000

// NearestOf returns up to n of the names that are most like a name. The part behind the last colon
// counts most.
func NearestOf(name string, names []string, n int) []string {
	return nearestBy(func(s string) string { return s[strings.LastIndexByte(s, ':')+1:] }, name, names, n)
}

// NearestWhole is NearestOf for names without such parts.
func NearestWhole(name string, names []string, n int) []string {
	return nearestBy(func(s string) string { return s }, name, names, n)
}

func nearestBy(last func(string) string, name string, names []string, n int) []string {
	r := newRanking(name, last)
	for _, s := range names {
		r.add(s)
	}
	return r.best(n)
}

// ranking collects the candidates that are like a wanted name.
type ranking struct {
	want, wantLast string
	last           func(string) string // the part of a name that counts most
	score          map[string]int
}

func newRanking(want string, last func(string) string) *ranking {
	want = strings.ToLower(strings.Trim(want, "*"))
	return &ranking{want: want, wantLast: last(want), last: last, score: map[string]int{}}
}

// add considers a candidate.
func (r *ranking) add(name string) {
	if name == "" || r.want == "" {
		return
	}
	if _, ok := r.score[name]; ok {
		return
	}
	if s, ok := r.distance(strings.ToLower(name)); ok {
		r.score[name] = s
	}
}

// distance returns how much a name differs from the wanted one, false if too much.
func (r *ranking) distance(name string) (int, bool) {
	last := r.last(name)
	plain := plainReceiver.Replace(name)
	switch {
	case name == r.want: // except for capitals
		return 0, true
	case strings.HasSuffix(plain, "."+r.want) || strings.HasSuffix(plain, "::"+r.want):
		return 0, true // the wanted name lacks a qualifier
	case last == r.wantLast:
		return 1, true
	case len(r.wantLast) >= 3 && strings.Contains(last, r.wantLast):
		return 2 + min(len(last)-len(r.wantLast), 20), true
	case len(last) >= 4 && strings.Contains(r.wantLast, last):
		return 4 + min(len(r.wantLast)-len(last), 20), true
	}
	// One letter in three may be wrong; a name of one letter must be right.
	if len(r.wantLast) < 2 {
		return 0, false
	}
	limit := max(1, len(r.wantLast)/3)
	d := min(spelling.Distance(last, r.wantLast, limit), spelling.Distance(name, r.want, limit))
	if d > limit {
		return 0, false
	}
	return 2 + 3*d, true
}

func (r *ranking) best(n int) []string {
	names := make([]string, 0, len(r.score))
	for name := range r.score {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.score[a], r.score[b]), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return names[:min(n, len(names))]
}

// plainReceiver turns Go's "main.(*T).Get" into "main.T.Get".
var plainReceiver = strings.NewReplacer(".(*", ".", ").", ".")

// LastComponent returns the function's own name in a qualified name.
func LastComponent(name string) string {
	name = plainReceiver.Replace(name)
	if i := strings.IndexAny(name, "<(["); i > 0 {
		name = name[:i]
	}
	for _, sep := range []string{"::", "/", "."} {
		if i := strings.LastIndex(name, sep); i >= 0 && i+len(sep) < len(name) {
			name = name[i+len(sep):]
		}
	}
	return name
}
