package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"whatif/internal/analyze"
	"whatif/internal/code/sourcepath"
	"whatif/internal/device"
	"whatif/internal/estimate"
	"whatif/internal/experiment"
	"whatif/internal/hint"
	"whatif/internal/knobs"
	"whatif/internal/profile"
	"whatif/internal/report"
	"whatif/internal/target"
)

// elsewhere is another machine, as the flags --device and --host name it.
type elsewhere struct {
	device, host string
}

func (w *elsewhere) define(f *flags) {
	f.StringVar(&w.device, "device", "",
		"what it would be on another machine, `DEVICE`: a name of whatif device list, a device file, or\n"+
			"speeds there relative to here, cpu=0.43,mem=0.6,net=0.18,disk=1,wake=1")
	f.StringVar(&w.host, "host", "",
		"with --device: the machine that was recorded, a name or device `FILE` (default: the measured\n"+
			"device in the database that has the machine's name)")
}

// check refuses --host alone.
func (w *elsewhere) check() error {
	if w.host != "" && w.device == "" {
		return wrongLine("--host without --device: there is no other machine to compare it with")
	}
	return nil
}

// A comparison is two machines.
type comparison struct {
	host, device *device.Device
	factors      *device.Factors
}

// compare finds the device and the host. name is that of the machine that was recorded. measured: the host's measures
// are needed where they are known, also beside ratios.
func (w *elsewhere) compare(name string, measured bool) (*comparison, error) {
	store, err := device.Open(os.Getenv)
	if err != nil {
		return nil, err
	}
	c := &comparison{}
	if c.device, err = store.Find(w.device); err != nil {
		return nil, err
	}
	if c.device.Kind == device.ByHand {
		c.device.Name = w.device
	}
	if c.host, err = w.findHost(store, name, c.device, measured); err != nil {
		return nil, err
	}
	if c.factors, err = device.Compare(c.host, c.device); err != nil {
		return nil, err
	}
	return c, nil
}

// compareRun compares the machine of a recorded run with the device. What the run really had of the device is not to be
// simulated. It gives nil if that was all.
func (w *elsewhere) compareRun(run *profile.Run) (*comparison, error) {
	c, err := w.compare(run.Host, false)
	if err != nil {
		return nil, err
	}
	if err := c.factors.SetReally(run.Knobs); err != nil {
		return nil, fmt.Errorf("comparing with %s: %w", c.device.Name, err)
	}
	if run.Knobs != nil && c.factors.Same() {
		return nil, nil
	}
	return c, nil
}

// splitMemory decides whether time that waits for memory is told apart. A recording of an older whatif, or of a
// processor the code of which whatif does not know, does not say which time that is.
func (c *comparison) splitMemory(here *estimate.Estimator) error {
	memory, known := c.factors.Of(device.Memory)
	cpu, also := c.factors.Of(device.CPU)
	if !known || !also || memory.Ratio == cpu.Ratio || here.MemoryKnown() {
		return nil
	}
	const why = "the recording does not say which time waits for memory"
	if c.device.Kind == device.ByHand {
		return hint.New(fmt.Errorf("memory=%v beside cpu=%v: %s", memory.Ratio, cpu.Ratio, why),
			"record it again with this whatif, or leave memory out: all time on a core is then cpu")
	}
	c.factors.Without(device.Memory, why+": all time on a core is cpu")
	const alike = 1.3 // as of the measures of one class
	if max(memory.Ratio/cpu.Ratio, cpu.Ratio/memory.Ratio) > alike {
		c.factors.Warnings = append(c.factors.Warnings, fmt.Sprintf("memory has %.2f of its speed here, the processor "+
			"%.2f: code that waits for memory takes another time there than estimated; record the program again, with "+
			"this whatif, to tell it apart", memory.Ratio, cpu.Ratio))
	}
	return nil
}

// findHost finds the machine that was recorded.
func (w *elsewhere) findHost(store device.Store, name string, other *device.Device, measured bool) (
	*device.Device, error,
) {
	switch {
	case w.host != "":
		host, err := store.Find(w.host)
		if err == nil && host.Kind == device.ByHand {
			err = hint.New(fmt.Errorf("--host %s has only ratios", w.host), "name a device with measures: whatif device "+
				"measures this one; or give the ratios with --device")
		}
		return host, err
	case other.Kind == device.ByHand && !measured:
		return &device.Device{Name: cmp.Or(name, "here"), Kind: device.Measured}, nil
	case device.CheckName(name) != nil:
		name = unnamedDevice
	}
	all, err := store.List()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(e device.Entry) bool { return e.Device.Name == name && e.Path != "" })
	switch {
	case i < 0 && other.Kind == device.ByHand:
		return &device.Device{Name: name, Kind: device.Measured}, nil
	case i < 0:
		return nil, hint.New(fmt.Errorf("comparing with %s: the machine that was recorded, %s, has not been measured",
			other.Name, name), "there: whatif device --name "+name+" -o here.json && whatif device add here.json; "+
			"or name its device file with --host FILE, or give ratios: --device cpu=0.43,net=0.18")
	case all[i].Err != nil:
		return nil, fmt.Errorf("reading the device file %s: %w", all[i].Path, all[i].Err)
	}
	return all[i].Device, nil
}

// on gives the estimates for the device.
func (c *comparison) on(here *estimate.Estimator) (*estimate.Estimator, error) {
	if err := c.splitMemory(here); err != nil {
		return nil, fmt.Errorf("running it on %s: %w", c.device.Name, err)
	}
	d := estimate.Device{Cores: c.cores(here.Cores())}
	for class, to := range map[device.Class][2]*float64{
		device.CPU: {&d.Ratios.CPU, &d.Unsure.CPU}, device.Memory: {&d.Ratios.Memory, &d.Unsure.Memory},
		device.Disk: {&d.Ratios.Disk, &d.Unsure.Disk},
		device.Net:  {&d.Ratios.Net, &d.Unsure.Net}, device.Wake: {&d.Ratios.Wake, &d.Unsure.Wake},
	} {
		if f, ok := c.factors.Of(class); ok {
			*to[0], *to[1] = f.Ratio, f.Unsure()
		}
	}
	if d.Ratios.Memory == 0 {
		d.Ratios.Memory = d.Ratios.CPU
	}
	there, err := here.On(d)
	if err != nil {
		return nil, fmt.Errorf("running it on %s: %w", c.device.Name, err)
	}
	return there, nil
}

// cores is how many cores the target could use on the device; 0: as many as here. A target that could not use all cores
// of the host is taken to be restricted there, too.
func (c *comparison) cores(recorded int) int {
	n := c.device.Cores
	if recorded < c.host.Cores {
		n = min(n, recorded)
	}
	return n
}

// doubts are the warnings about the comparison, and about classes that were given by hand and change nothing.
func (c *comparison) doubts(here *estimate.Estimator) (all []analyze.Warning) {
	for _, text := range c.factors.Warnings {
		all = append(all, analyze.Warning{Code: "device-ratio", Text: text})
	}
	for _, class := range device.Classes() {
		ratio, given := c.device.Ratios[class]
		if given && ratio != 1 && !here.Uses(string(class)) {
			all = append(all, analyze.Warning{Code: "device-class-unused", Text: fmt.Sprintf(
				"%s=%v changes nothing: the recorded threads never waited for %s", class, ratio,
				map[device.Class]string{device.Disk: "a disk", device.Net: "a network or a process outside"}[class])})
		}
	}
	return all
}

// standing is the standing speed-up with which experiments here are about the device. why says that there is none, and
// that a recording alone answers; both are empty where the device is like this machine.
func (c *comparison) standing(cores int) (s *profile.Standing, why string) {
	by, why := c.factors.Standing()
	switch n := c.cores(cores); {
	case why != "":
		return nil, why
	case n != 0 && n != cores:
		return nil, fmt.Sprintf("it has %d cores for the program, experiments can only be made with %d", n, cores)
	case by.None():
		return nil, ""
	}
	return &profile.Standing{Name: c.device.Name, CPU: by.CPU, Disk: by.Disk, Net: by.Net, Clock: by.Clock}, ""
}

// experimentsThere are the runs, each with its experiments about the device in place of those about this machine: none
// if they were about another device.
func (c *comparison) experimentsThere(runs []*profile.Data) (there []*profile.Data) {
	for _, d := range runs {
		on := d.OnDevice()
		if s, _ := c.standing(d.Run.CPUs); s == nil || d.Run.Device == nil || !d.Run.Device.Alike(*s) {
			on.Experiments = nil
		}
		if len(on.Experiments) == 0 {
			on.Units = nil
		}
		if on.End != nil { // what the run has lost is said of this machine
			end := *on.End
			end.Losses = nil
			on.End = &end
		}
		there = append(there, on)
	}
	return there
}

// tellFactors prints the factors, before anything runs.
func (c *comparison) tellFactors(w io.Writer) error {
	if err := c.factors.Text(cleaned{w}); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// beside is what the last recording of some runs says of the device, beside the result here, to which it adds what the
// recording says of this machine.
func (c *comparison) beside(here *analyze.Result, runs []*profile.Data, moved sourcepath.Map) (*report.There, error) {
	d := recordedRun(runs)
	if d == nil {
		return nil, fmt.Errorf("running it on %s: %w", c.device.Name, profile.ErrNoRecording)
	}
	recorded, err := openRecording(d, moved)
	if err != nil {
		return nil, err
	}
	on, err := c.on(recorded)
	if err != nil {
		return nil, err
	}
	all := allEstimates(recorded, d)
	all.Within = len(d.Experiments) > 0
	here.AddEstimates(all)
	there, moves := c.tested(runs)
	estimated := allEstimates(on, d)
	estimated.Within = all.Within
	there.AddEstimates(estimated)
	there.Warnings = append(there.Warnings, c.doubts(recorded)...)
	if _, why := c.standing(d.Run.CPUs); why != "" && len(d.Experiments) > 0 {
		there.Warnings.Add("device-replay-only", recordingAlone, c.device.Name, why)
	}
	t := &report.There{Host: c.host.Name, Device: c.device.Name, Factors: c.factors, Here: here, There: there}
	t.Moves, t.Tested, t.Memory = answersOf(on.Move()), moves, recorded.Memory()
	return t, nil
}

// tested is what experiments say of the device, and how long everything takes there.
func (c *comparison) tested(runs []*profile.Data) (*analyze.Result, []analyze.Move) {
	there := analyze.Analyze(c.experimentsThere(runs), analyze.Options{})
	by, _ := c.factors.Standing()
	if there.Baselines == 0 {
		return there, nil
	}
	moves := analyze.Analyze(runs, analyze.Options{}).MovesTo(there, by.Scale)
	there.Stretch(by.Scale)
	for i := range there.Warnings {
		there.Warnings[i].Text = "experiments about " + c.device.Name + ": " + there.Warnings[i].Text
	}
	return there, moves
}

// knobsFlag is the flag with which a program really has a part of the device.
const knobsFlag = "device-knobs"

// compareMachines compares this machine with the device that a run is also about, and prints how they differ. With
// --device-knobs it gives the place where the program really has what can be set of the device.
func (sh *shell) compareMachines(cfg *experiment.Config, r *runFlags) (place *knobs.Place, err error) {
	if r.on.device == "" {
		return nil, nil
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("finding the name of this machine: %w", err)
	}
	if r.machines, err = r.on.compare(host, r.knobs); err != nil {
		return nil, err
	}
	if r.knobs {
		if place, err = r.machines.set(cfg); err != nil {
			return nil, err
		}
	}
	device, why := r.machines.standing(experiment.CPUs())
	if !r.noDelays {
		cfg.Device = device
	}
	if !r.quiet {
		err = sh.tellMachines(r, why)
	}
	if r.machines.factors.Same() {
		r.machines = nil // the program runs on the device, as far as it is known
	}
	if err != nil {
		return nil, errors.Join(err, place.Close())
	}
	return place, nil
}

// recordingAlone says of a device why there are no experiments about it.
const recordingAlone = "what it would be on %s is estimated from the recording, without experiments: %s"

// tellMachines prints how the machines differ. why says that there are no experiments about the device.
func (sh *shell) tellMachines(r *runFlags, why string) error {
	if err := r.machines.tellFactors(sh.stderr); err != nil {
		return err
	}
	if !r.noDelays && why != "" {
		sh.say("whatif: ", fmt.Sprintf(recordingAlone, r.machines.device.Name, why))
	}
	return nil
}

// set gives the program what can really be had of the device here, and leaves the rest to be simulated.
func (c *comparison) set(cfg *experiment.Config) (*knobs.Place, error) {
	limits, err := device.Knobs(c.host, c.device)
	if err != nil {
		return nil, err
	}
	if err := c.factors.SetReally(limits); err != nil {
		return nil, err
	}
	user, err := target.ProgramUser(cfg.User)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the disk of this directory: %w", err)
	}
	place, err := knobs.Set(*limits, dir, user)
	if err != nil {
		return nil, err
	}
	cfg.Knobs, cfg.Place = limits, place.Place
	return place, nil
}

// summaryThere prints the tables of one run, here and on the device.
func (sh *shell) summaryThere(d *profile.Data, r *runFlags) {
	runs := []*profile.Data{d}
	t, err := r.machines.beside(analyze.Analyze(runs, analyze.Options{}), runs, nil)
	if err == nil {
		opt := sh.terminalOptions(sh.stderr, report.Options{Top: 20, Width: 100})
		err = report.TextThere(sh.stderr, t, opt)
	}
	if err != nil {
		sh.complain(explainRecording(err))
	}
}

// readThere prints the tables of the run that was just recorded.
func (sh *shell) readThere(r *runFlags) {
	runs, err := profile.ReadFiles([]string{r.output})
	if err != nil {
		sh.complain(explainProfile(err))
		return
	}
	if len(runs) == 0 {
		return
	}
	fmt.Fprintln(sh.stderr)
	sh.summaryThere(runs[len(runs)-1], r)
}
