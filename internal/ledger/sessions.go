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

// sessionName is the name of the map that a session owns while it stops cores: SESSION_NAME of bpf/base/sessions.h.
const sessionName = "whatif_stops"

// AnotherSession is the error of Open where another session stops cores now. Each of the two would take the other's
// stops for slowness of its own program, and together they could stop a core all the time.
type AnotherSession struct {
	PID int // of that whatif; 0: unknown
}

func (e *AnotherSession) Error() string {
	if e.PID == 0 {
		return "another whatif stops cores now"
	}
	return fmt.Sprintf("another whatif stops cores now: process %d", e.PID)
}

// How long a claim waits for another session to end. If a process still has its map, the session may be about to end.
// If none has it, the kernel frees the map after a moment.
const (
	endsWithin  = 300 * time.Millisecond
	freedWithin = 3 * time.Second
	lookAgain   = 50 * time.Millisecond
)

// claimCores makes this the one session of the machine that stops cores, until the map is closed. Of two sessions that
// begin at the same time, the one with the older map stays.
func claimCores(p *programs) (*ebpf.Map, error) {
	claim, err := ebpf.NewMap(&ebpf.MapSpec{Name: sessionName, Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		return nil, fmt.Errorf("claiming the cores: %w", err)
	}
	searched := false
	for begin := time.Now(); ; time.Sleep(lookAgain) {
		older, err := olderSession(p, claim)
		if err == nil && older == 0 {
			return claim, nil
		}
		waited := time.Since(begin)
		if err == nil && (waited > endsWithin && !searched || waited > freedWithin) {
			searched = true // looking through all processes takes long
			if owner := ownerOf(older); owner != 0 || waited > freedWithin {
				err = &AnotherSession{PID: owner}
			}
		}
		if err != nil {
			return nil, errors.Join(err, claim.Close())
		}
	}
}

// olderSession is the map of another session that existed before this session's own map; 0: there is none.
func olderSession(p *programs, own *ebpf.Map) (ebpf.MapID, error) {
	info, err := own.Info()
	if err != nil {
		return 0, fmt.Errorf("looking for another whatif: %w", err)
	}
	id, _ := info.ID()
	program, err := p.get("list_sessions")
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

// ownerOf is a process that has a map open; 0: this process can see none.
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
