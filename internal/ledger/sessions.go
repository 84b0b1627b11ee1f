package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
)

// sessionName is of the map that a session owns which stops cores: SESSION_NAME of bpf/base/sessions.h.
const sessionName = "whatif_stops"

// AnotherSession is the error where another session stops cores now. Each of the two would take the other's stops for
// slowness of its own program, and together they could stop a core all the time.
type AnotherSession struct {
	PID int // of that whatif; 0: it could not be found out
}

func (e *AnotherSession) Error() string {
	if e.PID == 0 {
		return "another whatif stops cores now"
	}
	return fmt.Sprintf("another whatif stops cores now: process %d", e.PID)
}

// How long a claim waits for another session to be gone: one that a process still has may be about to end, and what nobody has
// any more the kernel frees after a moment.
const (
	endsWithin  = 300 * time.Millisecond
	freedWithin = 3 * time.Second
	lookAgain   = 50 * time.Millisecond
)

// claimCores makes this the one session of the machine that stops cores, until the map is closed. Of two that begin
// at the same time the one whose map is older stays.
func (l *Ledger) claimCores() (*ebpf.Map, error) {
	claim, err := ebpf.NewMap(&ebpf.MapSpec{Name: sessionName, Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		return nil, fmt.Errorf("claiming the cores: %w", err)
	}
	asked := false
	for begin := time.Now(); ; time.Sleep(lookAgain) {
		older, err := l.olderSession(claim)
		if err == nil && older == 0 {
			return claim, nil
		}
		waited := time.Since(begin)
		if err == nil && (waited > endsWithin && !asked || waited > freedWithin) {
			asked = true // to look through all processes takes its time
			if owner := ownerOf(older); owner != 0 || waited > freedWithin {
				err = &AnotherSession{PID: owner}
			}
		}
		if err != nil {
			return nil, errors.Join(err, claim.Close())
		}
	}
}

// olderSession is the map of another session that was there before this one's; 0: there is none.
func (l *Ledger) olderSession(own *ebpf.Map) (ebpf.MapID, error) {
	info, err := own.Info()
	if err != nil {
		return 0, fmt.Errorf("looking for another whatif: %w", err)
	}
	id, _ := info.ID()
	program, err := l.programs.get("list_sessions")
	if err != nil {
		return 0, err
	}
	k, err := link.AttachIter(link.IterOptions{Program: program})
	if err != nil {
		return 0, fmt.Errorf("looking for another whatif: %w", err)
	}
	defer k.Close()
	list, err := k.Open()
	if err != nil {
		return 0, fmt.Errorf("looking for another whatif: %w", err)
	}
	defer list.Close()
	ids, err := io.ReadAll(list)
	if err != nil {
		return 0, fmt.Errorf("looking for another whatif: %w", err)
	}
	for one := range slices.Chunk(ids, 4) {
		if other := ebpf.MapID(binary.NativeEndian.Uint32(one)); other < id {
			return other, nil
		}
	}
	return 0, nil
}

// ownerOf is a process that has a map open; 0: this process may see none.
func ownerOf(id ebpf.MapID) int {
	files, _ := filepath.Glob("/proc/[0-9]*/fdinfo/*") // the pattern is right
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil || !slices.Contains(strings.Split(string(text), "\n"), fmt.Sprintf("map_id:\t%d", id)) {
			continue
		}
		if pid, err := strconv.Atoi(strings.Split(f, "/")[2]); err == nil {
			return pid
		}
	}
	return 0
}
