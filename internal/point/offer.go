package point

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"whatif/internal/code/symbol"
)

// Offer is a progress point or a latency that a binary could have.
type Offer struct {
	Spec string // the argument of -p, or of -l for a pair
	Note string // for the user
	Pair bool
}

// Offers are a binary's offers of one kind.
type Offers struct {
	Title  string
	Offers []Offer
	Note   string // about points that cannot be listed
}

// Lister is the part of *symbol.Binary that OffersOf needs.
type Lister interface {
	USDTProbes() ([]symbol.USDTProbe, error)
	EachFunc(possible func(symbol string) bool, visit func(f symbol.Func, exported bool) bool) error
	Frames(fileOffset uint64) ([]symbol.Frame, error)
	IsGo() bool
}

// OffersOf lists what could be progress points in a binary: its USDT probes, then functions with
// likely names. SourceOffers lists the points in its source, which are better than either.
func OffersOf(b Lister) ([]Offers, error) {
	usdt, err := usdtOffers(b)
	if err != nil {
		return nil, err
	}
	likely, err := likelyOffers(b)
	if err != nil {
		return nil, err
	}
	return []Offers{usdt, likely}, nil
}

// usdtOffers lists the static probes.
func usdtOffers(b Lister) (Offers, error) {
	o := Offers{Title: "USDT probes"}
	all, err := b.USDTProbes()
	if err != nil {
		return o, err
	}
	for len(all) > 0 {
		same := func(p symbol.USDTProbe) bool { return p.Provider == all[0].Provider && p.Name == all[0].Name }
		n := slices.IndexFunc(all, func(p symbol.USDTProbe) bool { return !same(p) })
		if n < 0 {
			n = len(all)
		}
		note := "1 site"
		if n > 1 {
			note = fmt.Sprintf("%d sites", n)
		}
		if slices.ContainsFunc(all[:n], func(p symbol.USDTProbe) bool { return p.Semaphore != 0 }) {
			note += ", with a semaphore"
		}
		o.Offers = append(o.Offers, Offer{Spec: "usdt:" + all[0].Provider + ":" + all[0].Name, Note: note})
		all = all[n:]
	}
	return o, nil
}

// maxLikely bounds the functions that are offered.
const maxLikely = 12

// likelyOffers lists the functions with names that suggest a unit of work, best first.
func likelyOffers(b Lister) (Offers, error) {
	o := Offers{Title: "functions named like a unit of work"}
	type candidate struct {
		symbol.Func
		score int
	}
	like := likeWork
	if b.IsGo() {
		like = likeGoWork
	}
	best := map[string]candidate{} // by name, which a template's instances share
	err := b.EachFunc(couldBeWork, func(f symbol.Func, exported bool) bool {
		score := like(f.Name)
		if score <= 0 {
			return true
		}
		if exported {
			score++
		}
		if c, known := best[f.Name]; !known || c.score < score {
			best[f.Name] = candidate{f, score}
		}
		return true
	})
	if err != nil {
		return o, err
	}
	var found []candidate
	for _, c := range best {
		found = append(found, c)
	}
	slices.SortFunc(found, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(len(x.Name), len(y.Name)), cmp.Compare(x.Name, y.Name))
	})
	for _, c := range found[:min(len(found), maxLikely)] {
		note := ""
		if frames, err := b.Frames(c.FileOffset); err == nil && len(frames) > 0 && frames[len(frames)-1].Line > 0 {
			f := frames[len(frames)-1]
			note = fmt.Sprintf("%s:%d", path.Base(f.File), f.Line)
		}
		o.Offers = append(o.Offers, Offer{Spec: "func:" + c.Name, Note: note})
	}
	return o, nil
}

// workWords are words in names of functions that are called about once for each unit of useful
// work. The number says how strongly the word suggests that.
var workWords = map[string]int{
	"request": 5, "requests": 3, "transaction": 5, "txn": 4, "commit": 5, "query": 4, "command": 4, "message": 3,
	"job": 4, "task": 3, "handle": 4, "handler": 2, "process": 4, "serve": 5, "dispatch": 4, "execute": 4, "exec": 2,
	"reply": 4, "respond": 4, "response": 3, "done": 5, "complete": 5, "completed": 5, "finish": 4, "finished": 4,
	"finalize": 2, "end": 2, "submit": 2, "flush": 1, "batch": 3, "item": 2, "row": 1, "record": 1, "packet": 3,
	"frame": 2, "event": 2, "render": 2, "step": 2, "round": 2, "iteration": 4, "iterate": 3,
}

// setupWords are words in names of functions that are called once, or do something else than work.
var setupWords = map[string]bool{
	"init": true, "initialize": true, "setup": true, "register": true, "unregister": true, "create": true, "new": true,
	"alloc": true, "free": true, "destroy": true, "delete": true, "close": true, "open": true, "config": true,
	"parse": true, "print": true, "dump": true, "usage": true, "error": true, "fail": true, "abort": true, "drop": true,
	"fmt": true, "get": true, "set": true, "is": true, "main": true, "cleanup": true, "exit": true,
}

// couldBeWork reports whether a symbol, which may be mangled, has a word of workWords in it.
func couldBeWork(s string) bool {
	for _, library := range []string{"_ZNSt", "_ZSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZN4core", "_ZN5alloc", "_ZN3std"} {
		if strings.HasPrefix(s, library) {
			return false
		}
	}
	s = strings.ToLower(s)
	for w := range workWords {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// likeWork scores how much a function's name suggests a unit of work; not, if 0 or below.
func likeWork(name string) int {
	if strings.ContainsFunc(name, unicode.IsControl) {
		return 0 // a user cannot type it, and a terminal would obey it
	}
	for _, library := range []string{"__", "std::", "core::", "alloc::", "<"} {
		if strings.HasPrefix(name, library) {
			return 0
		}
	}
	score, words := 0, wordsOf(symbol.LastComponent(name))
	for _, w := range words {
		score += workWords[w]
		if setupWords[w] {
			score -= 4
		}
	}
	// Long names are of special things.
	return score - max(0, len(words)-3)
}

// goClosure is the end of the name of a function that stands in another one's body.
var goClosure = regexp.MustCompile(`(\.func\d+|\.gowrap\d+|\.\d+|-fm|-range\d+)+$`)

// ownGo is what a name in the program's own packages, or in those that it fetches, is before one in Go's.
const ownGo = 4

// likeGoWork is likeWork for a Go program, where a name begins with the path of its package.
func likeGoWork(name string) int {
	// The compiler makes these, or makes calls of them.
	for _, part := range []string{"type:", "go:", "runtime.", "runtime/", "internal/", "vendor/"} {
		if strings.HasPrefix(name, part) {
			return 0
		}
	}
	score := likeWork(goClosure.ReplaceAllString(name, ""))
	first, _, _ := strings.Cut(name, "/")
	isFetched := first != name && strings.Contains(first, ".")
	if score > 0 && (isFetched || strings.HasPrefix(name, "main.")) {
		score += ownGo
	}
	return score
}

// wordsOf splits a name into words at capitals and at everything but letters, in lower case.
func wordsOf(name string) []string {
	var words []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
		}
		word = nil
	}
	runes := []rune(name)
	for i, r := range runes {
		if !unicode.IsLetter(r) {
			end()
			continue
		}
		before := i > 0 && unicode.IsLower(runes[i-1])
		after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && (before || after) {
			end()
		}
		word = append(word, r)
	}
	end()
	return words
}
