package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"whatif/internal/estimate"
	"whatif/internal/hint"
	"whatif/internal/profile"
	"whatif/internal/report"
)

// change is one value of --together.
type change struct {
	unit    string
	percent float64
}

// changes is the value of --together.
type changes []change

func (c *changes) String() string { return "" }

// Set reads UNIT=PERCENT. A unit may have a = in its name, as operators have.
func (c *changes) Set(s string) error {
	at := strings.LastIndexByte(s, '=')
	if at < 0 {
		return hint.New(fmt.Errorf("%q has no percentage", s), "write it as UNIT=PERCENT: parse.c:118=50")
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(s[at+1:]), "%"), 64)
	if err != nil || !(percent >= -leastSpeed && percent <= 100) {
		return fmt.Errorf("%q is not a percentage up to 100; less than 0, down to -%d, is slower", s[at+1:], leastSpeed)
	}
	unit := strings.TrimSpace(s[:at])
	if err := estimate.CheckUnit(unit); err != nil {
		return err
	}
	*c = append(*c, change{unit, percent})
	return nil
}

const (
	leastSpeed = 1000 // percent of its time that a unit may take longer
	mostCores  = 4096
)

func askCommand(_ context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("ask")
	var together changes
	f.Var(&together, "together",
		"make a unit faster: `UNIT=PERCENT`, repeatable, all of them at once; below 0 it is slower. UNIT is "+
			"as for --target of whatif run, or file:NAME or binary:NAME")
	cores := f.Int("cores", 0, "give the program `N` cores (default: as many as when it was recorded)")
	var on elsewhere
	on.define(f)
	format := f.String("format", "text", "`text|json`")
	f.colored()
	files, err := parse(sh, f, args, 0, 1)
	switch {
	case err != nil:
		return 0, err
	case !slices.Contains([]string{"text", "json"}, *format):
		return 0, unknownFormat(*format, "text|json")
	case *cores < 0 || *cores > mostCores || f.given("cores") && *cores == 0:
		return 0, wrongLine("--cores %d: from 1 to %d are possible", *cores, mostCores)
	case len(together) == 0 && *cores == 0 && on == elsewhere{}:
		return 0, hint.New(wrongLine("nothing to ask"), "give --together UNIT=PERCENT, --cores N or --device DEVICE")
	}
	if err := on.check(); err != nil {
		return 0, err
	}
	answer, err := ask(together, *cores, &on, files)
	if err != nil {
		return 0, fmt.Errorf("asking: %w", explainRecording(explainProfile(err)))
	}
	return 0, sh.writeTo("", func(w io.Writer) error {
		if *format == "json" {
			return report.AskJSON(w, &answer.Asked)
		}
		if err := answer.tell(w); err != nil {
			return err
		}
		return report.Ask(w, &answer.Asked, sh.terminalOptions(w, report.Options{}))
	})
}

// asked is an answer, with the machines that it is about.
type asked struct {
	report.Asked
	machines *comparison // nil: the machine of the recording
}

// tell prints how the machines differ, if there are two.
func (a *asked) tell(w io.Writer) error {
	if a.machines == nil {
		return nil
	}
	return a.machines.tellFactors(w)
}

// ask answers the question from the last recording in a file.
func ask(together changes, cores int, on *elsewhere, files []string) (*asked, error) {
	if len(files) == 0 {
		files = []string{defaultOutput}
	}
	runs, err := profile.ReadFiles(files)
	if err != nil {
		return nil, err
	}
	d := recordedRun(runs)
	if d == nil {
		return nil, fmt.Errorf("%s: %w", files[0], profile.ErrNoRecording)
	}
	answer := &asked{}
	if on.device != "" {
		if answer.machines, err = on.compareRun(&d.Run); err != nil {
			return nil, err
		}
		if answer.machines == nil && len(together) == 0 && cores == 0 {
			return nil, hint.New(fmt.Errorf("the program really had all of %s when it was recorded: "+
				"nothing is left to simulate", on.device),
				"ask about a change on that machine: give --together UNIT=PERCENT or --cores N, too")
		}
	}
	e, err := openRecording(d, nil)
	if err != nil {
		return nil, err
	}
	q := estimate.Question{Cores: cores}
	answer.Asked = report.Asked{Args: d.Run.Args, Seconds: e.Seconds(), Cores: cores, Recorded: e.Cores()}
	for _, c := range together {
		u, err := e.Find(c.unit)
		if err != nil {
			return nil, err
		}
		q.Faster = append(q.Faster, estimate.Faster{Unit: u, Percent: c.percent})
		answer.Together = append(answer.Together, report.AskedUnit{Unit: u.Unit, Percent: c.percent, Share: u.Share,
			Waited: u.Waited})
	}
	answer.Points = answersOf(e.Ask(q))
	if answer.machines != nil {
		return answer, answer.move(e, q)
	}
	return answer, nil
}

// move makes an answer one about the program on the device. Without another change the device is the change.
func (a *asked) move(here *estimate.Estimator, q estimate.Question) error {
	there, err := a.machines.on(here)
	if err != nil {
		return err
	}
	a.On = &report.Elsewhere{Host: a.machines.host.Name, Device: a.machines.device.Name, Factors: a.machines.factors,
		Moves: answersOf(there.Move()), Warnings: a.machines.doubts(here)}
	if len(q.Faster) == 0 && q.Cores == 0 {
		a.Points = a.On.Moves
		return nil
	}
	a.On.Here, a.Points = a.Points, answersOf(there.Ask(q))
	return nil
}

func answersOf(from []estimate.Answer) (all []report.Answer) {
	for _, a := range from {
		all = append(all, report.Answer(a))
	}
	return all
}

// largest is the hint that names the largest units of a recording.
func largest(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "most of the recorded time is in " + strings.Join(names, ", ")
}
