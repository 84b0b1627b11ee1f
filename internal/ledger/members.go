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

// membership is the part of a Ledger that decides which processes belong to the target.
type membership struct {
	*kernelSide
	processes, chosen *ebpf.Map
}

func newMembership(k *kernelSide) *membership {
	return &membership{kernelSide: k, processes: k.maps.Processes, chosen: k.maps.Chosen}
}

// Process is a process that is to be taken into the target, left out or let go.
type Process struct {
	PID int // in whatif's namespace of process numbers
	// Start is in 10 ms since boot, as in /proc/PID/stat. Another process that has got the number since is not meant.
	// 0: any process with the number.
	Start  uint64
	Unique uint64 // the inode of its pidfd, as a number may be reused within 10 ms; 0: not known

	born uint32 // of those from Members: no other member has it, even one with the same number
}

// Adopt makes a process, stopped before its first instruction, the root of the target.
func (m *membership) Adopt(pid int) error {
	before := m.Processes()
	if err := m.takeIn([]Process{{PID: pid}}, bpf.LedgerChoice{Fresh: 1}); err != nil {
		return fmt.Errorf("making process %d the target: %w", pid, err)
	}
	if m.Processes() == before && !m.isEveryone() {
		return fmt.Errorf("making process %d the target: it is gone", pid)
	}
	return nil
}

// Join takes in processes that run already, with all their threads, and their descendants from then on. Processes that
// are gone by now are left out.
func (m *membership) Join(all []Process) error {
	m.raiseMode(bpf.LedgerMembershipModeMEMBERS_CHOSEN)
	if err := m.takeIn(all, bpf.LedgerChoice{}); err != nil {
		return fmt.Errorf("making %d processes the target: %w", len(all), err)
	}
	return nil
}

// JoinAll takes in all processes, future ones included, except for this process, its descendants and the exempt
// processes. The descendants of an exempt process are taken in.
func (m *membership) JoinAll(exempt []Process) error {
	exempt = append([]Process{{PID: os.Getpid()}}, exempt...)
	if err := m.choose(exempt, bpf.LedgerChoice{Exempt: 1}); err != nil {
		return err
	}
	m.raiseMode(bpf.LedgerMembershipModeMEMBERS_EVERYONE)
	if err := m.takeIn(exempt, bpf.LedgerChoice{Exempt: 1}); err != nil {
		return fmt.Errorf("making all processes the target: %w", err)
	}
	return nil
}

// Leave lets members go, as Members has returned them: they run on, and do not belong to the target any more. Members
// that have ended since are gone anyway.
func (m *membership) Leave(all []Process) error {
	for _, p := range all {
		if err := m.chosen.Put(uint32(p.PID), bpf.LedgerChoice{Leaves: p.born}); err != nil {
			return fmt.Errorf("letting process %d go: %w", p.PID, err)
		}
	}
	defer m.unchoose(all)
	if err := m.runOnTasks("leave_threads"); err != nil {
		return fmt.Errorf("letting %d processes go: %w", len(all), err)
	}
	return nil
}

// Exempt lets members go, as Members has returned them. From then on they are left out, as with JoinAll.
func (m *membership) Exempt(all []Process) error {
	if err := m.Leave(all); err != nil {
		return err
	}
	if err := m.takeIn(all, bpf.LedgerChoice{Exempt: 1}); err != nil {
		return fmt.Errorf("exempting %d processes: %w", len(all), err)
	}
	return nil
}

// Same tells whether two results of Members are the same process. Their numbers do not tell, as they are reused.
func (p Process) Same(as Process) bool { return p.PID == as.PID && p.born == as.born }

// Members returns the live processes of the target.
func (m *membership) Members() ([]Process, error) {
	members, err := membersIn(m.processes)
	if err != nil {
		return nil, fmt.Errorf("listing the target's processes: %w", err)
	}
	return members, nil
}

func membersIn(processes *ebpf.Map) ([]Process, error) {
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

// Processes is how many processes of the target are alive.
func (m *membership) Processes() int { return int(load(&m.page.control.Processes)) }

// Joined is how many threads were taken in while they were running.
func (m *membership) Joined() int { return int(load(&m.page.membership.Joined)) }

func (m *membership) isEveryone() bool {
	return atomic.LoadUint32(&m.page.membership.Mode) == uint32(bpf.LedgerMembershipModeMEMBERS_EVERYONE)
}

// raiseMode lets processes become members that do not descend from one. It is never undone.
func (m *membership) raiseMode(mode bpf.LedgerMembershipMode) {
	if !m.isEveryone() {
		atomic.StoreUint32(&m.page.membership.Mode, uint32(mode))
	}
}

// takeIn takes in the chosen processes. Where everyone is a member, it takes in all that are not exempt.
func (m *membership) takeIn(all []Process, how bpf.LedgerChoice) error {
	if err := m.choose(all, how); err != nil {
		return err
	}
	defer m.unchoose(all)
	// The kernel takes the memory for a thread from what lies ready, and does not wait for more.
	const attempts = 100
	for i := 1; ; i++ {
		store(&m.page.membership.Missed, 0)
		if err := m.runOnTasks("join_threads"); err != nil {
			return err
		}
		missed := load(&m.page.membership.Missed)
		if missed == 0 {
			return nil
		}
		if i == attempts {
			return fmt.Errorf("the kernel has no memory for the accounts of %d threads", missed)
		}
		time.Sleep(time.Millisecond)
	}
}

// choose tells the kernel side which processes are meant, by their numbers in this process's namespace.
func (m *membership) choose(all []Process, how bpf.LedgerChoice) error {
	find, err := m.programs.get("find_namespace")
	if err == nil {
		_, err = find.Run(&ebpf.RunOptions{})
	}
	if err != nil {
		return fmt.Errorf("asking for the namespace of process numbers: %w", err)
	}
	for _, p := range all {
		how.Start, how.Unique = p.Start, p.Unique
		if err := m.chosen.Put(uint32(p.PID), how); err != nil {
			return fmt.Errorf("choosing process %d: %w", p.PID, err)
		}
	}
	return nil
}

func (m *membership) unchoose(all []Process) {
	for _, p := range all {
		m.chosen.Delete(uint32(p.PID)) // it is there
	}
}

// runOnTasks is RunOnTasks for one of the kernel side's programs.
func (m *membership) runOnTasks(name string) error {
	program, err := m.programs.get(name)
	if err != nil {
		return err
	}
	return RunOnTasks(program)
}

// RunOnTasks runs a program on every task in this process's namespace of process numbers.
func RunOnTasks(program *ebpf.Program) error {
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
