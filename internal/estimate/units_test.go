package estimate

import (
	"math"
	"slices"
	"strings"
	"testing"

	"whatif/internal/point"
	"whatif/internal/profile"
	"whatif/internal/recording"
	"whatif/internal/simulate"
)

func target(text string) *point.Target {
	t, err := point.ParseTarget(text)
	if err != nil {
		panic(err)
	}
	return &t
}

const server, library = "/opt/app/server", "/lib/x86_64-linux-gnu/libc.so.6"

// Numbers of frames in sample.
const (
	parseRow  = iota // parse.cc:118, inlined into handlePut
	handlePut        // put.cc:20
	serve            // main.cc:7
	memcpy           // of the C library
	kernelFn
	logWrite // log.cc:3
	plain    // a function without lines
	handleGet
)

// sample is a recording with the stacks of a server: 100 samples and waits of several kinds in 1 s on two cores.
func sample(scoped bool) *recording.Recording {
	r := &recording.Recording{Cores: 2, Period: 1e7, Length: 1e9,
		Threads: []recording.Thread{{ID: 1, Program: server}, {ID: 2, Program: server}, {ID: 3, Goroutine: true}},
		Frames: []recording.Frame{
			parseRow:  {Function: "parse_row(char const*)", Short: "parse_row", File: "/src/parse.cc", Line: 118, Inlined: true},
			handlePut: {Function: "handle_put()", Short: "handle_put", File: "/src/put.cc", Line: 20},
			serve:     {Function: "serve(int)", Short: "serve", File: "/src/main.cc", Line: 7},
			memcpy:    {Function: "memcpy", Binary: library},
			kernelFn:  {Function: "do_syscall_64", Binary: "[kernel]", Kernel: true},
			logWrite:  {Function: "log_write()", Short: "log_write", File: "/src/log.cc", Line: 3},
			plain:     {Function: "hash", Short: ""},
			handleGet: {Function: "handle_get()", Short: "handle_get", File: "/src/get.cc", Line: 9},
		},
		Stacks: []recording.Stack{
			{memcpy, parseRow, handlePut, serve}, // 0: 60 samples; libc's time counts for parse.cc:118
			{kernelFn, logWrite, handlePut},      // 1: 20 samples; waits for the disk
			{plain, serve},                       // 2: 15
			{kernelFn},                           // 3: 4: nobody's
			{parseRow, handleGet, serve},         // 4: parse_row on behalf of handle_get: 1
		},
		Places: []recording.Place{{Stack: 1}, {Stack: 4}, {Stack: recording.No}},
	}
	for i := range r.Frames {
		f := &r.Frames[i]
		if f.Binary == "" {
			f.Binary = server
		}
		f.InScope = scoped && f.Binary == server
	}
	w := recording.Window{End: 1e9}
	now := int64(0)
	add := func(at int64, e recording.Event) {
		e.Time = at
		now = at
		w.Events = append(w.Events, e)
	}
	add(0, recording.Event{Kind: recording.State, Condition: recording.Running})
	add(0, recording.Event{Kind: recording.State, Thread: 1, Condition: recording.Waiting, Place: recording.No})
	for stack, n := range []int{60, 20, 15, 4, 1} {
		for range n {
			add(now+1e6, recording.Event{Kind: recording.Sample, Stack: int32(stack)})
		}
	}
	no := int32(recording.No)
	// 300 ms for the disk in log.cc:3, then 2 ms until it gets a core.
	add(200e6, recording.Event{Kind: recording.Switch, Thread: 0, Other: no, Condition: recording.Waiting, Place: 0})
	add(500e6, recording.Event{Kind: recording.Wake, Other: 0, Cause: recording.ByDevice, Class: recording.Disk})
	add(502e6, recording.Event{Kind: recording.Switch, Thread: no, Other: 0})
	// The other thread has waited since the begin, for a thread, at a place that is not known.
	add(600e6, recording.Event{Kind: recording.Wake, Other: 1, Cause: recording.ByThread, Class: recording.Lock})
	// A goroutine sleeps for 100 ms in handle_get, and waits for another goroutine at the end of the window.
	add(700e6, recording.Event{Kind: recording.Park, Thread: 2, Place: 1})
	add(800e6, recording.Event{Kind: recording.Ready, Other: 2, Cause: recording.ByTimer})
	add(900e6, recording.Event{Kind: recording.Park, Thread: 2, Place: 1})
	r.Windows = []recording.Window{w}
	return r
}

func still() machine { return &program{rest: []float64{1}, unit: []float64{0}, windows: 1} }

func estimatorOf(r *recording.Recording, opt Options) *Estimator {
	if opt.Waiting == nil {
		opt.Waiting = DefaultWaiting
	}
	return newEstimator(r, still(), "", opt)
}

// TestUnits: units have the names and keys that package experiment gives them, with their times.
func TestUnits(t *testing.T) {
	line := func(name, file string, n int, function string) profile.Unit {
		return profile.Unit{Kind: "line", Name: name, File: file, Line: n, Func: function, Binary: server}
	}
	hash := profile.Unit{Kind: "func", Name: "hash", Func: "hash", Binary: server, Self: true}
	disk, sleep := profile.Unit{Kind: "wait", Name: "wait:disk"}, profile.Unit{Kind: "wait", Name: "wait:sleep"}
	type want struct {
		unit          profile.Unit
		share, waited float64
	}
	function := func(short, full, file string) profile.Unit {
		return profile.Unit{Kind: "func", Name: short, Func: full, File: file, Binary: server}
	}
	whole := func(u profile.Unit) profile.Unit { u.Self = false; return u }
	for _, c := range []struct {
		kind string
		want []want
	}{
		{"line", []want{
			{line("parse.cc:118", "/src/parse.cc", 118, "parse_row"), 61, 10},
			{line("log.cc:3", "/src/log.cc", 3, "log_write"), 20, 30}, {hash, 15, 0}, {disk, 0, 30}, {sleep, 0, 10}}},
		{"func", []want{
			{function("parse_row", "parse_row(char const*)", "/src/parse.cc"), 61, 10},
			{function("log_write", "log_write()", "/src/log.cc"), 20, 30},
			{function("handle_put", "handle_put()", "/src/put.cc"), 80, 30},
			{function("serve", "serve(int)", "/src/main.cc"), 76, 10},
			{function("handle_get", "handle_get()", "/src/get.cc"), 1, 10}, {whole(hash), 15, 0},
			{disk, 0, 30}, {sleep, 0, 10}}},
		{"file", []want{
			{profile.Unit{Kind: "file", Name: "parse.cc", File: "/src/parse.cc", Binary: server}, 61, 10},
			{profile.Unit{Kind: "file", Name: "log.cc", File: "/src/log.cc", Binary: server}, 20, 30}, {hash, 15, 0},
			{disk, 0, 30}, {sleep, 0, 10}}},
		{"binary", []want{{profile.Unit{Kind: "binary", Name: "server", Binary: server}, 96, 40},
			{disk, 0, 30}, {sleep, 0, 10}}},
	} {
		for _, scoped := range []bool{true, false} { // what is in scope was recorded, or is the default
			e := estimatorOf(sample(scoped), Options{Kind: c.kind})
			found, wanted := e.Units(), slices.Clone(c.want)
			if !scoped { // code without lines in a binary with lines was linked in: its time is that of its caller
				i := slices.IndexFunc(wanted, func(w want) bool { return w.unit.Name == "hash" })
				switch c.kind {
				case "line":
					wanted[i].unit = line("main.cc:7", "/src/main.cc", 7, "serve")
				case "file":
					wanted[i].unit = profile.Unit{Kind: "file", Name: "main.cc", File: "/src/main.cc", Binary: server}
				case "func":
					wanted = slices.Delete(wanted, i, i+1)
				}
			}
			if len(found) != len(wanted) {
				t.Errorf("%s, %v: %d units, want %d: %+v", c.kind, scoped, len(found), len(wanted), found)
			}
			for _, w := range wanted {
				i := slices.IndexFunc(found, func(u Unit) bool { return u.Key() == w.unit.Key() })
				if i < 0 {
					t.Errorf("%s, %v: no %+v", c.kind, scoped, w.unit)
					continue
				}
				if u := found[i]; math.Abs(u.Share-w.share) > 1e-9 || math.Abs(u.Waited-w.waited) > 1e-9 || u.Unit != w.unit {
					t.Errorf("%s, %v: %+v has %.1f%% and waits %.1f%%, want %+v, %.1f and %.1f", c.kind, scoped, u.Unit, u.Share,
						u.Waited, w.unit, w.share, w.waited)
				}
			}
		}
	}
}

// TestCalls: what of a function's time other functions have that it calls. Code that is not in scope is its caller's.
func TestCalls(t *testing.T) {
	calls := map[string]float64{}
	for _, u := range estimatorOf(sample(true), Options{Kind: "func"}).Units() {
		calls[u.Name] = u.Calls
	}
	wanted := map[string]float64{"parse_row": 0, "log_write": 0, "handle_put": 100, "serve": 100, "hash": 0}
	for name, want := range wanted {
		if got, known := calls[name]; !known || got != want {
			t.Errorf("%s: %.1f%%, want %.1f", name, got, want)
		}
	}
	for _, u := range estimatorOf(sample(false), Options{Kind: "func"}).Units() {
		if want := 100 * 61.0 / 76; u.Name == "serve" && math.Abs(u.Calls-want) > 1e-9 {
			t.Errorf("serve with code of a library's: %.1f%%, want %.1f", u.Calls, want)
		}
	}
}

// TestMembers: a unit is made of the right stacks and places, for what may count.
func TestMembers(t *testing.T) {
	e := estimatorOf(sample(true), Options{})
	for text, want := range map[string]struct {
		kind, name string
		stacks     []int
		places     []int
	}{
		"parse.cc:118":           {"line", "parse.cc:118", []int{0, 4}, []int{1}},
		"put.cc:20":              {"line", "put.cc:20", []int{0}, nil}, // where parse_row was inlined
		"func:handle_put":        {"func", "handle_put", []int{0, 1}, []int{0}},
		"func-self:handle_put":   {"", "", nil, nil}, // all of its time is that of code further in
		"func-self:log_write":    {"func", "log_write", []int{1}, []int{0}},
		"parse_row<handle_put":   {"path", "parse_row<handle_put", []int{0}, nil},
		"parse_row<serve":        {"path", "parse_row<serve", []int{0, 4}, []int{1}},
		"parse_row<func:serve":   {"path", "parse_row<serve", []int{0, 4}, []int{1}},
		"log.cc:3<handle_put":    {"path", "log.cc:3<handle_put", []int{1}, []int{0}},
		"parse_row<handle_put<x": {"", "", nil, nil},
		"wait:disk":              {"wait", "wait:disk", nil, []int{0, 1, 2}},
		"file:src/log.cc":        {"file", "log.cc", []int{1}, []int{0}},
		"binary:server":          {"binary", "server", []int{0, 1, 2, 4}, []int{0, 1}},
		"file:og.cc":             {"", "", nil, nil},
	} {
		u, err := e.Find(text)
		if want.kind == "" {
			if _, ok := err.(*NotFoundError); !ok || !strings.Contains(err.Error(), "looking for "+text+": ") {
				t.Errorf("%s: %+v, %v", text, u.Unit, err)
			}
			continue
		}
		if err != nil || u.Kind != want.kind || u.Name != want.name ||
			!slices.Equal(set(u.sim.Stacks), want.stacks) || !slices.Equal(set(u.sim.Places), want.places) {
			t.Errorf("%s is %s %s with stacks %v and places %v, want %+v: %v", text, u.Kind, u.Name, set(u.sim.Stacks),
				set(u.sim.Places), want, err)
		}
		onlyDisk := text == "wait:disk"
		if c := u.sim.Classes; !c[recording.Disk] || c[recording.Sleep] == onlyDisk || c[recording.Lock] {
			t.Errorf("%s: classes %v", text, c)
		}
	}
	if err := CheckUnit("file:"); err == nil {
		t.Error("a file without a name")
	}
}

func set(in []bool) (numbers []int) {
	for i, yes := range in {
		if yes {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// TestTimes: waits by class, those for a core, and those without a place.
func TestTimes(t *testing.T) {
	times := measureTimes(sample(true))
	want := waited{recording.Disk: 300e6, recording.Lock: 600e6, recording.Sleep: 100e6, recording.CPU: 2e6}
	if times.all != want || times.total != 100 || times.length != 1e9 || times.percent(5e6) != 0.5 {
		t.Errorf("%+v, want %v", times, want)
	}
	e := estimatorOf(sample(true), Options{})
	if u := e.class(recording.CPU); u.refused == "" || math.Abs(u.Waiting["cpu"]-0.2) > 1e-9 {
		t.Errorf("wait:cpu: %+v", u)
	}
	if u, err := e.Find("log.cc:3"); err != nil || u.Waiting["disk"] != 30 || u.most() != 50 {
		t.Errorf("log.cc:3: %+v, %v", u, err)
	}
}

// TestNamed: units that were asked for are estimated beside those of the kind, once each, and small ones are left out.
func TestNamed(t *testing.T) {
	opt := Options{Targets: []point.Target{*target("func:serve"), *target("parse.cc:118"), *target("log_write<serve")}}
	var names []string
	for _, u := range estimatorOf(sample(true), opt).Units() {
		names = append(names, u.Name)
		if len(u.sim.Stacks) != 5 || len(u.sim.Places) != 3 {
			t.Errorf("%s cannot be simulated", u.Name)
		}
	}
	if want := "serve parse.cc:118 log.cc:3 wait:disk hash wait:sleep"; strings.Join(names, " ") != want {
		t.Errorf("%s, want %s", strings.Join(names, " "), want)
	}
	opt = Options{Least: 20}
	if units := estimatorOf(sample(true), opt).Units(); len(units) != 3 {
		t.Errorf("%d units with a fifth of the time, want 3", len(units))
	}
}

// TestEmpty: nothing in a recording, and numbers that name nothing, do no harm.
func TestEmpty(t *testing.T) {
	for _, r := range []*recording.Recording{
		{}, {Points: []recording.Point{{Name: "p", Latency: true}}, Windows: []recording.Window{{}}},
		{Stacks: []recording.Stack{{7, -1}}, Places: []recording.Place{{Stack: 9}, {Stack: -1}},
			Windows: []recording.Window{{End: 1, Events: []recording.Event{{Kind: recording.Sample, Stack: 9},
				{Kind: recording.Wake, Other: 5}, {Kind: recording.Switch, Thread: 3, Other: -2},
				{Kind: recording.Visit, Point: 3}}}}},
	} {
		e := newEstimator(r, simulated(func(simulate.Change) simulate.Outcome { return simulate.Outcome{} }), "",
			Options{Waiting: DefaultWaiting})
		all := e.All()
		if len(all.Units) != 0 || all.Refused != "" || len(all.Points) != len(r.Points) {
			t.Errorf("%+v", all)
		}
		for _, a := range e.Ask(Question{Cores: 2}) {
			if a.Refused == "" {
				t.Errorf("an answer from nothing: %+v", a)
			}
		}
	}
}

// simulated is a machine that is one function.
type simulated func(simulate.Change) simulate.Outcome

func (f simulated) Run(c simulate.Change) simulate.Outcome { return f(c) }

func (f simulated) Understood(simulate.Outcome) bool { return true }

func (f simulated) Flooded() bool { return false }

func (f simulated) Flushes(simulate.Change) bool { return false }

func (f simulated) Waking() float64 { return 0 }
func (f simulated) Taken() float64  { return 0 }
