package cli

import (
	"context"
	"errors"
	"fmt"
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

func attachCommand(sh *shell, args []string) (int, error) {
	f := newFlags("attach")
	var r runFlags
	var names list
	how := &experiment.Attach{}
	r.define(f, "; one is needed")
	f.seconds(&r.duration, "duration", 0, "stop profiling after `TIME`; the processes run on")
	f.short("d", "duration")
	f.Var(&names, "name", "processes whose name matches `GLOB`, repeatable: those that run now")
	f.StringVar(&how.Cgroup, "cgroup", "", "the processes in the cgroup `PATH` and below it, also those that come into it later:\n"+
		"                               a directory, its path as in /proc/PID/cgroup, or a systemd service's name")
	f.BoolVar(&how.Children, "children", false, "also the descendants that they have already")
	args, err := parse(sh, f, args, 0, -1)
	if err != nil {
		return 0, err
	}
	how.Names = names
	for _, text := range r.points {
		if _, err := strconv.ParseUint(text, 10, 32); err == nil { // as other profilers take a process
			return 0, hint.New(usageError{fmt.Errorf("reading the command line: -p %s: a number is no progress point", text)},
				"did you mean whatif attach "+text+"? A process stands without a flag; -p names a progress point")
		}
	}
	for _, word := range args {
		pid, err := strconv.ParseInt(word, 10, 32)
		if err != nil || pid <= 0 {
			return 0, hint.New(usageError{fmt.Errorf("reading the command line: %q is not the number of a process", word)}, "for a name: whatif attach --name "+word)
		}
		how.PIDs = append(how.PIDs, int(pid))
	}
	if len(how.PIDs) == 0 && len(how.Names) == 0 && how.Cgroup == "" {
		return 0, hint.New(usageError{errors.New("reading the command line: nothing to attach to")}, "usage: "+usageOf("attach"))
	}
	if how.Cgroup != "" && (len(how.PIDs) > 0 || len(how.Names) > 0 || how.Children) {
		return 0, hint.New(usageError{errors.New("reading the command line: with --cgroup the processes in it are profiled, and no others")}, "leave the processes out, or the cgroup")
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
	defer sh.untilSignal()()
	return sh.profileAndTell(cfg, &r)
}

func systemCommand(sh *shell, args []string) (int, error) {
	f := newFlags("system")
	var r runFlags
	r.define(f, executions)
	r.defineStart(f, "stop profiling after `TIME`, and LOAD with SIGTERM; a LOAD that ends\n"+
		"                               sooner, with status 0, is run again until then")
	var exempt list
	f.Var(&exempt, "exempt", "never stop the process `NAME|PID`, repeatable: its number, or a pattern of names,\n"+
		"                               also of those that start later (default: what the machine and your terminal need)")
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
			return 0, usageError{fmt.Errorf("reading the command line: --exempt: %w", err)}
		}
	}
	if privilege.Lent() {
		return 0, privilege.Refuse("profiling the machine", "that stops other users' processes, too")
	}
	if err := doctor.Require(); err != nil {
		return 0, err
	}
	if !cfg.Starts() {
		defer sh.untilSignal()()
	}
	return sh.profileAndTell(cfg, &r)
}

// untilSignal has profiling end, as when the time is up, by what would end a program: what
// is profiled is not whatif's to end. A second one ends whatif.
func (sh *shell) untilSignal() (restore func()) {
	var signals []os.Signal
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP} {
		if !signal.Ignored(sig) { // as under nohup
			signals = append(signals, sig)
		}
	}
	outer := sh.ctx
	ctx, stop := signal.NotifyContext(outer, signals...)
	sh.ctx = ctx
	context.AfterFunc(ctx, stop)
	return func() {
		stop()
		sh.ctx = outer
	}
}
