package probes

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"whatif/internal/code/jvm"
	"whatif/internal/code/jvm/classfile"
	"whatif/internal/ledger"
	"whatif/internal/point"
	"whatif/internal/point/source"
	"whatif/internal/target"
)

// java counts points in code that Java virtual machines run. An agent in each VM hands over the classes that may have
// one, and takes them back with calls that count. The numbers are in the VM's memory, and are read like those of points
// in a program's source: the agent has a table with a name for each. At the ends of latencies the moment of each visit
// matters: there the calls are of functions in the agent's file, which have probes.
type java struct {
	counters javaCounts
	prefix   string                           // of the names in tables; the point's number follows
	noAgent  bool                             // see Options
	each     bool                             // visits are seen one by one, for a recording
	off      bool                             // nothing is counted
	members  func() ([]ledger.Process, error) // the target's processes
	starting *jvm.Starting                    // nil: no VM connects when it begins
	log      *slog.Logger
	specs    map[int]point.Spec // points that Java code may have
	ends     ends               // those of them that are the end of a latency are timed
	timer    timer

	mu      sync.Mutex
	vms     map[ledger.Process]*javaVM // nil: it cannot be asked
	everMet bool                       // points were looked for in a VM that is gone
	asked   []asked                    // what may be waited for
	givenUp bool                       // whatif ends, and waits for no VM any more
	closed  bool
	over    sync.WaitGroup
	stop    chan struct{}

	timing sync.Mutex
	timed  map[timedPlace]bool // that are probed

	finds map[int]*javaFind
}

// javaCounts takes in what is counted in Java code.
type javaCounts interface {
	filesOf(process int) error // looks for tables in the process
	named() error              // takes in the names in tables
	hasRead(name string) bool
	inJava(point, places int) // Java code has a point, at some places more
	warnOf(format string, args ...any)
}

// timer sets probes at which the moment of each visit of a point is known.
type timer interface {
	time(i int, place ledger.Probe) error
}

// timedPlace is a point in a file of the agent.
type timedPlace struct {
	point      int
	dev, inode uint64
}

// asked is a VM, or the agent in it, that may take long to answer.
type asked interface{ Abandon() }

// javaVM is a VM whose code has points.
type javaVM struct {
	vm      *jvm.VM // nil: the agent has been there from its start
	points  *jvm.Points
	process int
	since   time.Time   // when it was prepared
	asked   bool        // which methods are run as they were
	numbers map[int]int // of the counters, by point
}

const (
	// mostJavaClasses bounds the classes that are changed for one point while they are in use.
	mostJavaClasses = 1000
	// mostJavaFound bounds what is known of a point: a program can make classes without end.
	mostJavaFound = 1 << 13
)

// javaSpecs are the points that Java code may have.
func javaSpecs(points []point.Spec) map[int]point.Spec {
	found := make(map[int]point.Spec)
	for i, s := range points {
		if s.InJava() {
			found[i] = s
		}
	}
	return found
}

func newJava(c *counters, s timer, o Options, e ends) *java {
	j := &java{
		counters: c, prefix: c.javaPrefix, noAgent: o.NoJavaAgent, off: c.off,
		timer: s, ends: e, log: o.Log, specs: javaSpecs(o.Points), timed: make(map[timedPlace]bool),
		vms: make(map[ledger.Process]*javaVM), finds: make(map[int]*javaFind), stop: make(chan struct{}),
	}
	for i := range j.specs {
		j.finds[i] = &javaFind{methods: make(map[jvm.Frame]bool), classes: make(map[string]bool)}
	}
	return j
}

// javaName is what the names of these points begin with in the tables. No program can know it beforehand.
func javaName() string { return "java:" + rand.Text() + ":" }

const (
	// lookForJava is how often the target's processes are looked through for VMs that have begun.
	lookForJava = 50 * time.Millisecond
	// A VM that has begun is not ready to be asked for some time.
	javaBegins = 5 * time.Second
)

// follow counts in all VMs of the target, now and until close is called. Of VMs that run already it is an error if they
// cannot have a point.
func (j *java) follow() error {
	processes := make(map[ledger.Process]*begun)
	if err := j.look(processes); err != nil {
		return err
	}
	if err := j.refuse(); err != nil {
		return err
	}
	if j.starting != nil {
		j.over.Go(j.await)
	}
	j.over.Go(func() {
		tick := time.NewTicker(lookForJava)
		defer tick.Stop()
		for {
			select {
			case <-j.stop:
				return
			case <-tick.C:
			}
			if err := j.look(processes); err != nil {
				j.log.Debug("looking for Java VMs", "error", err)
			}
			j.checkOld()
		}
	})
	return nil
}

// await counts in VMs that begin.
func (j *java) await() {
	var process ledger.Process
	member := func(pid int) bool {
		all, err := j.members()
		i := slices.IndexFunc(all, func(p ledger.Process) bool { return p.PID == pid })
		if err != nil || i < 0 {
			return false
		}
		process = all[i]
		return true
	}
	for {
		pid, points, err := j.starting.Next(member)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil && pid == 0 {
			j.log.Debug("waiting for Java VMs", "error", err)
			time.Sleep(lookForJava) // there may be no descriptor for it now
			continue
		}
		var v *javaVM
		if err == nil {
			v = j.newVM(nil, points, pid)
			err = j.prepare(v)
			if err == nil {
				err = points.Go()
			}
			if err != nil {
				j.end(v)
				v = nil
			}
		}
		j.add(process, v)
		if err != nil {
			j.counters.warnOf("progress points in Java code of process %d are not counted: %v", pid, err)
		}
	}
}

var (
	errNoAgent   = errors.New("that needs the agent, which --java-agent off refuses")
	errOldKernel = errors.New("this kernel does not tell what a process has mapped (Linux 6.7 and newer do)")
)

// begun is what is known of a process that is no VM so far, or that cannot be asked yet.
type begun struct{ first, next time.Time }

// look looks through the processes, through each the less often the longer it has been there.
func (j *java) look(processes map[ledger.Process]*begun) error {
	all, err := j.members()
	if err != nil {
		return err
	}
	j.forget(all)
	now := time.Now()
	for _, p := range all {
		b := processes[p]
		if b == nil {
			b = &begun{first: now}
			processes[p] = b
		}
		if now.Before(b.next) {
			continue
		}
		b.next = now.Add(now.Sub(b.first) / 4)
		if j.knows(p) || !j.isJava(p.PID, now.Sub(b.first)) {
			continue
		}
		vm, err := j.load(p.PID)
		if early := errors.Is(err, jvm.ErrEarly) && now.Sub(b.first) < javaBegins; early || errors.Is(err, jvm.ErrSilent) {
			b.next = now
			continue // it has only begun, or is busy
		}
		if errors.Is(err, jvm.ErrEnded) {
			continue
		}
		j.add(p, vm)
		if err != nil {
			j.counters.warnOf("progress points in Java code of process %d are not counted: %v", p.PID, err)
		}
	}
	return nil
}

// knows tells whether a process is a known VM.
func (j *java) knows(p ledger.Process) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, known := j.vms[p]
	return known
}

// forget gives up VMs that are gone.
func (j *java) forget(members []ledger.Process) {
	j.mu.Lock()
	var gone []*javaVM
	for p, v := range j.vms {
		// The list may be incomplete, if it has changed while it was read.
		if !slices.Contains(members, p) && errors.Is(unix.Kill(p.PID, 0), unix.ESRCH) {
			delete(j.vms, p)
			gone = append(gone, v)
		}
	}
	j.everMet = j.everMet || slices.ContainsFunc(gone, func(v *javaVM) bool { return v != nil })
	j.mu.Unlock()
	for _, v := range gone {
		j.end(v)
	}
}

// add remembers what came of a process. It may be one that connects again and again.
func (j *java) add(p ledger.Process, v *javaVM) {
	j.mu.Lock()
	old := j.vms[p]
	if v == nil && old != nil {
		old = nil
	} else {
		j.vms[p] = v
	}
	j.mu.Unlock()
	j.end(old)
}

// isJava tells whether a process is a Java virtual machine that is to be asked. One that was started with the agent
// connects by itself, once it has begun.
func (j *java) isJava(process int, age time.Duration) bool {
	maps, err := target.Maps(process)
	if err != nil {
		return false
	}
	has := func(begin string) bool {
		begins := func(m target.Mapping) bool { return strings.HasPrefix(filepath.Base(m.Path), begin) }
		return slices.ContainsFunc(maps, begins)
	}
	return has("libjvm.so") && (j.starting == nil || age > javaBegins || !has("libwhatif-jvm-"))
}

// load loads the agent into a VM that runs, and has its classes changed.
func (j *java) load(process int) (*javaVM, error) {
	switch {
	case j.noAgent:
		return nil, errNoAgent
	case j.off:
		return nil, errOldKernel
	}
	vm, err := jvm.Open(process)
	if err != nil {
		return nil, err
	}
	j.mayWait(vm)
	points, err := vm.LoadPoints()
	j.noWait(vm)
	if err != nil {
		vm.Close()
		return nil, err
	}
	v := j.newVM(vm, points, process)
	if err := j.prepare(v); err != nil {
		j.end(v)
		return nil, err
	}
	return v, nil
}

// newVM makes the VM of an agent; end ends both.
func (j *java) newVM(vm *jvm.VM, points *jvm.Points, process int) *javaVM {
	j.mayWait(points)
	return &javaVM{vm: vm, points: points, process: process, since: time.Now(), numbers: make(map[int]int)}
}

// end ends the agent in a VM; nil: there is none.
func (j *java) end(v *javaVM) {
	if v == nil {
		return
	}
	j.noWait(v.points)
	v.points.Close()
	if v.vm != nil {
		v.vm.Close()
	}
}

// mayWait remembers what is waited for at whatif's end, for a while.
func (j *java) mayWait(a asked) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = append(j.asked, a)
	if j.givenUp {
		a.Abandon()
	}
}

func (j *java) noWait(a asked) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.asked = slices.DeleteFunc(j.asked, func(b asked) bool { return a == b })
}

// giveUp ends all waiting for VMs.
func (j *java) giveUp() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.givenUp = true
	j.log.Warn(fmt.Sprintf("a Java VM has not answered for %v: whatif ends without its answer", lastAnswers))
	for _, a := range j.asked {
		a.Abandon()
	}
}

// lastAnswers is how long whatif waits at its end for VMs that are being asked.
const lastAnswers = 3 * time.Second

// isTimed tells whether the moment of each visit of a point matters.
func (j *java) isTimed(i int) bool {
	l, _ := j.ends.of(i)
	return l != nil
}

// prepare names the counters and has classes changed: those that are loaded, and then all that will be.
func (j *java) prepare(v *javaVM) error {
	if err := j.counters.filesOf(v.process); err != nil {
		return err
	}
	var groups [][]string
	for i, spec := range j.specs {
		name := strconv.Itoa(i)
		if j.isTimed(i) {
			name = "timed " + name // nothing is counted there
		}
		n, err := v.points.Name(int(source.Progress), j.prefix+name)
		if err == nil && (j.isTimed(i) || j.each) {
			err = j.probeTimed(v, i, n)
		}
		if err != nil {
			return err
		}
		v.numbers[i] = n
		groups = append(groups, spec.JavaPieces())
	}
	if j.each {
		if err := v.points.Each(true); err != nil {
			return err
		}
	} else if v.vm != nil {
		if err := j.settle(v); err != nil {
			return err
		}
	}
	rewrite := func(name string, class []byte) []byte { return j.rewrite(v, name, class) }
	if err := v.points.Rewrite(groups, rewrite); err != nil {
		return err
	}
	loaded, err := v.points.Loaded()
	if err != nil {
		return err
	}
	return v.points.Again(j.candidates(loaded))
}

// probeTimed sets a probe where the calls for a point come by, once in each file of the agent.
func (j *java) probeTimed(v *javaVM, i, number int) error {
	f, place, at, err := j.timedProbe(v, i, number)
	if err != nil {
		return err
	}
	defer f.Close()
	j.timing.Lock()
	defer j.timing.Unlock()
	if err := v.points.BindTimed(); err != nil {
		return err
	}
	if j.timed[at] {
		return nil
	}
	if err := j.timer.time(i, place); err != nil {
		return fmt.Errorf("counting visits of %s: %w", j.specs[i].Text, err)
	}
	j.timed[at] = true
	return nil
}

// timedProbe is the probe for a point in the file of a VM's agent, which is open.
func (j *java) timedProbe(v *javaVM, i, number int) (f *os.File, p ledger.Probe, at timedPlace, err error) {
	if f, err = v.points.OpenLibrary(); err != nil {
		return nil, p, at, err
	}
	library := f
	defer func() {
		if err != nil {
			library.Close()
		}
	}()
	var st unix.Stat_t
	if err = unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil, p, at, err
	}
	// The number belongs to no other file, as long as there is a probe in this one.
	at = timedPlace{i, st.Dev, st.Ino}
	offset, err := v.points.TimedPlace(number)
	if err != nil {
		return nil, p, at, err
	}
	p = ledger.Probe{File: f, Offset: offset, Of: uint32(i)}
	if runtime.GOARCH == "amd64" {
		p.Cost = ledger.LongNop
	}
	if j.ends.argument(i) > 0 {
		register := argumentsAMD64
		if runtime.GOARCH == "arm64" {
			register = argumentsARM64
		}
		p.Key = ledger.KeyIn(register[jvm.TimedArgument-1])
	}
	return f, p, at, nil
}

// settle waits until the kernel side reads the counters of a VM that ran before it was a target: counting begins with
// the first reading, which would miss what was counted before.
func (j *java) settle(v *javaVM) error {
	name := fmt.Sprintf("%sread %d", j.prefix, v.process)
	if _, err := v.points.Name(int(source.Progress), name); err != nil {
		return err
	}
	for end := time.Now().Add(settlesWithin); time.Now().Before(end); {
		if err := errors.Join(v.points.Pulse(), j.counters.named()); err != nil {
			return err
		}
		if j.counters.hasRead(name) {
			return nil
		}
	}
	j.log.Debug("the counters of a Java VM are not read yet", "process", v.process)
	return nil
}

const settlesWithin = 2 * time.Second

// candidates are the classes that may have a point.
func (j *java) candidates(loaded []jvm.Loaded) (signatures []string) {
	for i, spec := range j.specs {
		n := len(signatures)
		for _, l := range loaded {
			if spec.MayHaveJava(jvm.ClassOf(l.Signature), l.Source) {
				signatures = append(signatures, l.Signature)
			}
		}
		if len(signatures)-n > mostJavaClasses {
			j.fail(i, fmt.Errorf("%d classes may have it, at most %d are possible: name it more closely",
				len(signatures)-n, mostJavaClasses))
			signatures = signatures[:n]
		}
	}
	slices.Sort(signatures)
	return slices.Compact(signatures)
}

// rewrite puts calls into a class; nil: it stays as it is. Its name is known from the agent.
func (j *java) rewrite(v *javaVM, name string, data []byte) []byte {
	if !v.points.Notes(name) {
		j.counters.warnOf("more classes of process %d may have progress points than can be changed back: the others are "+
			"not counted", v.process)
		return nil
	}
	class, err := classfile.Parse(data)
	if err != nil {
		j.log.Debug("looking for progress points in Java code", "process", v.process, "error", err)
		return nil
	}
	var calls []classfile.Call
	var changed []byte
	for i, spec := range j.specs {
		found, err := spec.JavaPlaces(class)
		if err != nil {
			j.fail(i, err)
			continue
		}
		if !j.take(i, v, class.Name, found) {
			continue
		}
		with := slices.Clone(calls)
		for _, at := range found.Places {
			with = append(with, j.call(v, i, at))
		}
		out, err := class.Insert(with)
		if err != nil {
			j.fail(i, err)
			continue
		}
		calls, changed = with, out
		j.found(i, v, class.Name, found)
	}
	return changed
}

// call is the call at a place of a point.
func (j *java) call(v *javaVM, i int, at classfile.Place) classfile.Call {
	if j.isTimed(i) {
		return v.points.TimedCall(at, v.numbers[i], j.ends.argument(i))
	}
	return v.points.Call(at, v.numbers[i])
}

// oldAfter is how long a method that was changed while a thread ran it may take to return before that is said.
const oldAfter = time.Second

// checkOld looks once in each VM for methods that threads still run as they were before they were changed.
func (j *java) checkOld() {
	j.mu.Lock()
	all := slices.Collect(maps.Values(j.vms))
	j.mu.Unlock()
	for _, v := range all {
		if v == nil || v.asked || time.Since(v.since) < oldAfter {
			continue
		}
		v.asked = true
		if v.vm == nil {
			continue // nothing ran before
		}
		old, err := v.points.Old()
		if err != nil {
			j.log.Debug("looking for methods that run as they were", "process", v.process, "error", err)
		}
		j.sayOld(v, old)
	}
}

// sayOld warns of methods that threads run as they were before.
func (j *java) sayOld(v *javaVM, old []jvm.Frame) {
	for i, spec := range j.specs {
		if spec.Kind == point.Func && !spec.Return {
			continue // the method's next call is counted
		}
		j.mu.Lock()
		at := slices.IndexFunc(old, func(f jvm.Frame) bool { return j.finds[i].methods[f] })
		j.mu.Unlock()
		if at < 0 {
			continue
		}
		j.counters.warnOf("progress point %s: a thread of process %d was in %s.%s when whatif attached, and goes on with "+
			"the method as it was: the point counts from the method's next call on. Name a method that it calls, or start "+
			"the program with whatif run", spec.Name, v.process, jvm.ClassOf(old[at].Signature), old[at].Method)
	}
}

// close ends all agents, which change the classes back.
func (j *java) close() {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return
	}
	j.closed = true
	j.mu.Unlock()
	close(j.stop)
	if j.starting != nil {
		if err := j.starting.Close(); err != nil {
			j.log.Debug("ending to wait for Java VMs", "error", err)
		}
	}
	late := time.AfterFunc(lastAnswers, j.giveUp)
	j.over.Wait()
	late.Stop()
	for _, v := range j.vms {
		j.end(v)
	}
}
