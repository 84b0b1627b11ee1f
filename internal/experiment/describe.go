package experiment

import (
	"os"
	"slices"
	"strconv"
	"time"

	"whatif/internal/profile"
)

// describe begins the profile with the run's record.
func (r *run) describe() (err error) {
	r.rec, err = newRecorder(r.record(), r.cfg.Output, r.cfg.Log, r.units)
	return err
}

// newRunRecord is what the record of any run has.
func newRunRecord(cfg *Config, started time.Time) profile.Run {
	host, _ := os.Hostname() // a name for the reader; nothing depends on it
	run := profile.Run{
		Version: profile.Version, ID: strconv.FormatUint(cfg.Seed, 36) + "-" + strconv.Itoa(os.Getpid()),
		Started: started,
		Host:    host, Kernel: kernelRelease(), CPUs: CPUs(), CPUModel: cpuModel(),
		PeriodNS: int64(cfg.Period), Seed: cfg.Seed, Speedups: cfg.Speedups, Unit: cfg.Kind,
	}
	for _, t := range cfg.Targets {
		run.Targets = append(run.Targets, t.Text)
	}
	run.Together, run.Device, run.Knobs = partsOf(cfg), cfg.Device, cfg.Knobs
	for _, rule := range cfg.Scope.Include {
		run.Scope = append(run.Scope, "include "+rule.String())
	}
	for _, rule := range cfg.Scope.Exclude {
		run.Scope = append(run.Scope, "exclude "+rule.String())
	}
	for _, class := range cfg.Waiting {
		run.Waiting = append(run.Waiting, class.String())
	}
	return run
}

// record is the run's record.
func (r *run) record() profile.Run {
	run := newRunRecord(r.cfg, time.Now())
	run.WholeRuns, run.BuildIDs = !r.probes.HasPoints(), r.buildIDs
	run.Latencies = slices.Clone(r.probes.Latencies()) // the recorder adds to it
	r.subject.describe(&run)
	sites := r.probes.Places()
	for i, spec := range r.probes.Points() {
		p := profilePoint(spec)
		p.Sites = sites[i]
		run.Points = append(run.Points, p)
	}
	if run.WholeRuns {
		run.Points = []profile.Point{{Name: "run", Kind: "exit", Spec: "exit"}}
	}
	return run
}
