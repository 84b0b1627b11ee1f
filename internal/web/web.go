// Package web is the page: `whatif view` serves it on loopback, `whatif run --view` shows it while
// a run goes on, and `whatif report --format html` writes it into one file that needs nothing else.
//
// The normal sequence is New, and then WriteHTML for a file; or Listen, OpenBrowser and
// Server.Serve for a browser. For a run that goes on, a Live makes the pages.
//
// A Page is an analysis cut into resources: an index, which is all that the first view needs; the
// rows of each point or latency; the details of some units at a time; and the source files. The
// index and the first rows are in the page. The others are fetched when they are looked at: from
// the server, or, in the file, from the page itself, where they are compressed. So thousands of
// units and a hundred thousand experiments do not delay the first view.
//
// A unit that was only recorded has the gains that package estimate gives it, marked as in the text report.
//
// All drawings are made here, by package chart. The page's script filters, sorts and shows. It gets
// the effects in the form of `report --format json`.
//
// Anybody may have written what is in a profile. So names reach the page as JSON and are set as
// text, or are escaped in drawings. A Content-Security-Policy lets only the page's own script run.
// And only files that the profile names as its sources are read.
package web

import (
	"fmt"
	"sync"

	"whatif/internal/analyze"
	"whatif/internal/analyze/diff"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// Profile is runs that are shown as one.
type Profile struct {
	Label string // names of the files
	Runs  []*profile.Data
	// Warnings are those of reading the files, which the analysis does not know.
	Warnings []analyze.Warning
	// Estimates are what the recording of a run says; nil if there is none.
	Estimates *analyze.Estimates
}

// Page is everything that can be shown of a profile, and of another to compare it with.
type Page struct {
	index   index
	results []*analyze.Result // by side
	runs    [][]*profile.Data
	targets [][]int // side, place in index.Units → place in the result's Targets, or -1
	files   []sourceFile

	mu       sync.Mutex
	gathered map[gatheredKey]*gathered
	encoded  map[string][]byte // the resources that every view needs
}

// New makes the page of a profile. If before is not nil, it is shown beside it. version
// distinguishes the pages of a run that goes on; live says that more will follow.
func New(now Profile, before *Profile, version int, live bool) *Page {
	p := &Page{}
	opt := analyze.Options{Trials: true}
	if before == nil {
		p.add(now, analyze.Analyze(now.Runs, opt))
	} else {
		c := diff.Compare(before.Runs, now.Runs, opt)
		p.compare(c) // before estimates add units
		p.add(now, c.New)
		p.add(*before, c.Old)
	}
	p.index.Version = fmt.Sprint(version)
	p.index.Live = live
	p.merge()
	return p
}

// NewThere makes the page of a program on another machine, with this machine beside it. The results have estimates.
func NewThere(t *report.There, there, here Profile) *Page {
	p := &Page{}
	for _, m := range report.Moved(t) {
		p.index.Changes = append(p.index.Changes, change{m.Heading, m.Lines})
	}
	p.add(there, t.There)
	p.add(here, t.Here)
	p.index.Version = fmt.Sprint(0)
	p.merge()
	return p
}

// merge makes one list of what the sides have.
func (p *Page) merge() {
	p.index.Title = title(p.results[0])
	p.mergeUnits()
	p.mergeViews()
	p.listSources()
	p.recordText()
}

// compare adds what changed, in the words of diff.
func (p *Page) compare(c *diff.Comparison) {
	const few = 5
	doubts := change{Head: "with care", Lines: []string{}}
	for _, w := range c.Warnings {
		doubts.Lines = append(doubts.Lines, report.Clean(w.Text))
	}
	for _, of := range report.Changes(c, report.Options{Top: few}) {
		if of.More > 0 {
			of.Lines = append(of.Lines, fmt.Sprintf("%d more: whatif diff --top 0 shows them", of.More))
		}
		p.index.Changes = append(p.index.Changes, change{of.Head, of.Lines})
	}
	if len(doubts.Lines) > 0 {
		p.index.Changes = append(p.index.Changes, doubts)
	}
}

func (p *Page) add(of Profile, r *analyze.Result) {
	if of.Estimates != nil {
		r.AddEstimates(of.Estimates)
	}
	r.Warnings = append(r.Warnings, of.Warnings...)
	p.results = append(p.results, r)
	p.runs = append(p.runs, of.Runs)
	p.index.Sides = append(p.index.Sides, newSide(of.Label, r))
}
