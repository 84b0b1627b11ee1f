package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"

	"whatif/bpf"
)

// Process is one that is to be taken into the target, left out or let go.
type Process struct {
	PID    int    // in whatif's namespace of process numbers
	Start  uint64 // in 10 ms since boot, as /proc/PID/stat has it: another that has got its number is not meant; 0: whichever has it
	Unique uint64 // the inode of its pidfd, where numbers are taken again within 10 ms; 0: not known

	born uint32 // of those that Members gives: what no other member has been, also if it has got the number
}

// Adopt makes a process, stopped before its first instruction, the root of the target.
func (l *Ledger) Adopt(pid int) error {
	before := l.Processes()
	if err := l.look([]Process{{PID: pid}}, bpf.LedgerChoice{Fresh: 1}); err != nil {
		return fmt.Errorf("making process %d the target: %w", pid, err)
	}
	if l.Processes() == before && !l.everyone() {
		return fmt.Errorf("making process %d the target: it is gone", pid)
	}
	return nil
}

// Join takes in processes that run already, with all their threads, and from then on
// their descendants. Those that are gone meanwhile are left out.
func (l *Ledger) Join(all []Process) error {
	l.watchFrom(bpf.LedgerMembershipModeMEMBERS_CHOSEN)
	if err := l.look(all, bpf.LedgerChoice{}); err != nil {
		return fmt.Errorf("making %d processes the target: %w", len(all), err)
	}
	return nil
}

// JoinAll takes in every process, those to come included, but for this one and those
// that are exempt. What an exempt one starts is taken in; what this one does, is not.
func (l *Ledger) JoinAll(exempt []Process) error {
	exempt = append([]Process{{PID: os.Getpid()}}, exempt...)
	if err := l.choose(exempt, bpf.LedgerChoice{Exempt: 1}); err != nil {
		return err
	}
	l.watchFrom(bpf.LedgerMembershipModeMEMBERS_EVERYONE)
	if err := l.look(exempt, bpf.LedgerChoice{Exempt: 1}); err != nil {
		return fmt.Errorf("making all processes the target: %w", err)
	}
	return nil
}

// Leave lets processes go that Members gave: they run on, and belong to the target no more. Those that
// have ended meanwhile are gone by themselves.
func (l *Ledger) Leave(all []Process) error {
	for _, m := range all {
		if err := l.maps.Chosen.Put(uint32(m.PID), bpf.LedgerChoice{Leaves: m.born}); err != nil {
			return fmt.Errorf("letting process %d go: %w", m.PID, err)
		}
	}
	defer func() {
		for _, m := range all {
			l.maps.Chosen.Delete(uint32(m.PID)) // it is there
		}
	}()
	if err := l.visitTasks("leave_threads"); err != nil {
		return fmt.Errorf("letting %d processes go: %w", len(all), err)
	}
	return nil
}

// Exempt lets members go that Members gave, and has them left out from then on as JoinAll does.
func (l *Ledger) Exempt(all []Process) error {
	if err := l.Leave(all); err != nil {
		return err
	}
	if err := l.look(all, bpf.LedgerChoice{Exempt: 1}); err != nil {
		return fmt.Errorf("exempting %d processes: %w", len(all), err)
	}
	return nil
}

// Same tells whether a member is the one that Members gave before: a process of the same number may be another.
func (p Process) Same(as Process) bool { return p.PID == as.PID && p.born == as.born }

// Members are the processes of the target that are alive.
func (l *Ledger) Members() ([]Process, error) {
	members, err := membersOf(l.maps.Processes)
	if err != nil {
		return nil, fmt.Errorf("listing the target's processes: %w", err)
	}
	return members, nil
}

func membersOf(processes *ebpf.Map) ([]Process, error) {
	var tgid uint32
	var p bpf.LedgerProcess
	var members []Process
	all := processes.Iterate()
	for all.Next(&tgid, &p) {
		if p.Exempt == 0 {
			members = append(members, Process{PID: int(p.Number), born: p.FirstSpace})
		}
	}
	if err := all.Err(); err != nil && !errors.Is(err, ebpf.ErrIterationAborted) {
		return nil, err
	}
	return members, nil
}

// Joined is how many threads were taken in that ran before.
func (l *Ledger) Joined() int { return int(load(&l.page.membership.Joined)) }

func (l *Ledger) everyone() bool {
	return atomic.LoadUint32(&l.page.membership.Mode) == uint32(bpf.LedgerMembershipModeMEMBERS_EVERYONE)
}

// watchFrom has processes that are not looked at yet watched, too. It is not undone.
func (l *Ledger) watchFrom(mode bpf.LedgerMembershipMode) {
	if !l.everyone() {
		atomic.StoreUint32(&l.page.membership.Mode, uint32(mode))
	}
}

// look takes in those processes that are chosen, or all where everyone is to be.
func (l *Ledger) look(all []Process, how bpf.LedgerChoice) error {
	if err := l.choose(all, how); err != nil {
		return err
	}
	defer func() {
		for _, p := range all {
			l.maps.Chosen.Delete(uint32(p.PID)) // it is there
		}
	}()
	// The kernel takes memory for a thread from what lies ready, and does not wait for more.
	const attempts = 100
	for i := 1; ; i++ {
		store(&l.page.membership.Missed, 0)
		if err := l.visitTasks("join_threads"); err != nil {
			return err
		}
		missed := load(&l.page.membership.Missed)
		if missed == 0 {
			return nil
		}
		if i == attempts {
			return fmt.Errorf("the kernel has no memory for the accounts of %d threads", missed)
		}
		time.Sleep(time.Millisecond)
	}
}

// choose tells the kernel side which processes are meant, by numbers of this process's namespace.
func (l *Ledger) choose(all []Process, how bpf.LedgerChoice) error {
	find, err := l.programs.get("find_namespace")
	if err == nil {
		_, err = find.Run(&ebpf.RunOptions{})
	}
	if err != nil {
		return fmt.Errorf("asking for the namespace of process numbers: %w", err)
	}
	for _, p := range all {
		how.Start, how.Unique = p.Start, p.Unique
		if err := l.maps.Chosen.Put(uint32(p.PID), how); err != nil {
			return fmt.Errorf("choosing process %d: %w", p.PID, err)
		}
	}
	return nil
}

// visitTasks runs a program on every task of this process's namespace of process numbers.
func (l *Ledger) visitTasks(name string) error {
	program, err := l.programs.get(name)
	if err != nil {
		return err
	}
	k, err := link.AttachIter(link.IterOptions{Program: program})
	if err != nil {
		return fmt.Errorf("looking at all tasks: %w", err)
	}
	defer k.Close()
	tasks, err := k.Open()
	if err != nil {
		return fmt.Errorf("looking at all tasks: %w", err)
	}
	defer tasks.Close()
	if _, err := io.Copy(io.Discard, tasks); err != nil {
		return fmt.Errorf("looking at all tasks: %w", err)
	}
	return nil
}
