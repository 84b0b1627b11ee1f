package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// resource makes one of the page's resources, by name: index; rows-V of view V; detail-V-C of the
// C-th chunk of units in it; source-N of file N. single says that they go into one file.
func (p *Page) resource(name string, single bool) ([]byte, error) {
	kind, rest, _ := strings.Cut(name, "-")
	var numbers []int
	for word := range strings.SplitSeq(rest, "-") {
		if n, err := strconv.Atoi(word); err == nil && n >= 0 && strconv.Itoa(n) == word {
			numbers = append(numbers, n)
		}
	}
	has := func(limits ...int) bool {
		if len(numbers) != len(limits) || strings.Count(rest, "-") != len(limits)-1 {
			return false
		}
		for i, n := range numbers {
			if n >= limits[i] {
				return false
			}
		}
		return true
	}
	switch {
	case name == "index":
		if single {
			name += " of a file"
		}
		return p.once(name, func() any { return p.withText(single, mostText) })
	case kind == "rows" && has(len(p.index.Views)):
		return p.once(name, func() any { return p.rows(&p.index.Views[numbers[0]]) })
	case kind == "detail" && has(len(p.index.Views), p.chunks()):
		return encode(p.details(&p.index.Views[numbers[0]], numbers[1]))
	case kind == "source" && has(len(p.files)):
		return encode(p.source(numbers[0], single))
	}
	return nil, errNone
}

var errNone = fmt.Errorf("no such resource")

// resources are the names of all but the index.
func (p *Page) resources() []string {
	var all []string
	for v := range p.index.Views {
		all = append(all, fmt.Sprintf("rows-%d", v))
		for c := range p.chunks() {
			all = append(all, fmt.Sprintf("detail-%d-%d", v, c))
		}
	}
	for n := range p.files {
		all = append(all, fmt.Sprintf("source-%d", n))
	}
	return all
}

func (p *Page) chunks() int { return (len(p.index.Units) + perChunk - 1) / perChunk }

// once keeps the resources that are needed first, and again at each reload.
func (p *Page) once(name string, make func() any) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if data := p.encoded[name]; data != nil {
		return data, nil
	}
	data, err := encode(make())
	if err != nil {
		return nil, err
	}
	if p.encoded == nil {
		p.encoded = map[string][]byte{}
	}
	p.encoded[name] = data
	return data, nil
}

// Prepare makes what the first view needs, so that no browser waits for it.
func (p *Page) Prepare() {
	for _, name := range []string{"index", "rows-0"} {
		_, _ = p.resource(name, false) // a request meets an error again, and gets it
	}
}

// encode writes JSON without <, > and &, so that it can be in a script element.
func encode(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encoding the page: %w", err)
	}
	return bytes.TrimSpace(b), nil
}
