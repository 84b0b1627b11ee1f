package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"

	"golang.org/x/sys/unix"

	"whatif/internal/doctor"
	"whatif/internal/experiment"
	"whatif/internal/hint"
	"whatif/internal/privilege"
	"whatif/internal/target"
)

func attachCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("attach")
	var r runFlags
	var names list
	how := &experiment.Attach{}
	r.define(f, "; if there are none, one is needed")
	f.seconds(&r.duration, "duration", 0, "stop profiling after `TIME`; the processes run on")
	f.short("d", "duration")
	defineProcesses(f, how, &names)
	r.on.define(f)
	f.refuse(noKnobs("a process that runs already cannot get another network"), knobsFlag)
	args, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	how.Names = names
	if how.PIDs, err = attachedPIDs(r.points, args); err != nil {
		return 0, err
	}
	if len(how.PIDs) == 0 && len(how.Names) == 0 && how.Cgroup == "" {
		return 0, hint.New(wrongLine("nothing to attach to"), "usage: "+usageOf("attach"))
	}
	if how.Cgroup != "" && (len(how.PIDs) > 0 || len(how.Names) > 0 || how.Children) {
		return 0, hint.New(wrongLine("with --cgroup the processes in it are profiled, and no others"),
			"leave the processes out, or the cgroup")
	}
	cfg, err := r.config(nil)
	if err != nil {
		return 0, err
	}
	cfg.Attach = how
	if err := doctor.Require(); err != nil {
		return 0, err
	}
	target.PreferSelf()
	return sh.profileAndTell(ctx, cfg, &r)
}

// noKnobs is why a command has no --device-knobs.
func noKnobs(why string) error {
	return hint.New(errors.New(why), "give the flag to whatif run or whatif record")
}

// defineProcesses defines the flags that name processes, beside operands.
func defineProcesses(f *flags, how *experiment.Attach, names *list) {
	f.Var(names, "name", "processes that run now, and have a name that matches `GLOB`, repeatable")
	f.StringVar(&how.Cgroup, "cgroup", "",
		"all processes in the cgroup `PATH` and below it, also those that come into it later; PATH is a directory, a "+
			"path as in /proc/PID/cgroup, or the name of a systemd service")
	f.BoolVar(&how.Children, "children", false, "also the descendants that the processes have already")
}

// namesProcesses tells whether flags or operands name processes that run already, and not a program or a file. Then it
// completes how with them.
func namesProcesses(how *experiment.Attach, names list, operands []string) (yes bool, err error) {
	if len(names) == 0 && how.Cgroup == "" && (len(operands) == 0 || !isNumber(operands[0])) {
		return false, nil
	}
	how.Names = names
	how.PIDs, err = attachedPIDs(nil, operands)
	return true, err
}

// attachedPIDs reads the operands, which are numbers of processes. Other profilers take a process with -p, so a point
// that is a number is an error with a hint.
func attachedPIDs(points, operands []string) (pids []int, err error) {
	for _, text := range points {
		if _, err := strconv.ParseUint(text, 10, 32); err == nil {
			return nil, hint.New(wrongLine("-p %s: a number is no progress point", text),
				"did you mean whatif attach "+text+"? A process stands without a flag; -p names a progress point")
		}
	}
	for _, word := range operands {
		pid, err := strconv.ParseInt(word, 10, 32)
		if err != nil || pid <= 0 {
			return nil, hint.New(wrongLine("%q is not the number of a process", word),
				"for a name: whatif attach --name "+word)
		}
		pids = append(pids, int(pid))
	}
	return pids, nil
}

func systemCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	f := newFlags("system")
	var r runFlags
	r.define(f, executions)
	r.defineStart(f, "stop after `TIME`: LOAD gets SIGTERM; a LOAD that ends sooner, with status 0, is run "+
		"again until then")
	var exempt list
	f.Var(&exempt, "exempt",
		"never stop the process `NAME|PID`, repeatable: its number, or a pattern of names, also of those that "+
			"start later (default: what the machine and your terminal need)")
	f.refuse(noKnobs("the whole machine cannot get another network"), knobsFlag)
	r.typed = append([]string{"system"}, args...)
	args, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	cfg, err := r.config(args)
	if err != nil {
		return 0, err
	}
	cfg.System = true
	for _, word := range exempt {
		if err := cfg.Exempt.Parse(word); err != nil {
			return 0, wrongLine("--exempt: %w", err)
		}
	}
	if privilege.Lent() {
		return 0, privilege.Refuse("profiling the machine", "that stops other users' processes, too")
	}
	if err := doctor.Require(); err != nil {
		return 0, err
	}
	return sh.profileAndTell(ctx, cfg, &r)
}

// untilSignal gives a context that is done at the first SIGINT, SIGTERM, SIGQUIT or SIGHUP, or when whatif's processor
// time is used up (RLIMIT_CPU). Profiling then ends as if the time were up, and the profiled processes run on. A second
// signal has its default action: it ends whatif.
func untilSignal(ctx context.Context) (until context.Context, restore func()) {
	var signals []os.Signal
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGQUIT, unix.SIGHUP, unix.SIGXCPU} {
		if !signal.Ignored(sig) { // nohup ignores SIGHUP, for example
			signals = append(signals, sig)
		}
	}
	until, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(until, stop)
	return until, stop
}
