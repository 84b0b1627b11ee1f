package experiment

import (
	"errors"
	"log/slog"
	"os"
	"reflect"
	"testing"
	"time"

	"whatif/internal/code/symbol"
	"whatif/internal/experiment/probes"
	"whatif/internal/ledger"
	"whatif/internal/testing/realkernel"
)

// Until whatif looks, the process that asked about its code may run another program, or be gone, with its number given
// to another process. Then the file that is there is not taken for the one that was meant.
func TestAnotherFileThere(t *testing.T) {
	realkernel.NeedKernel(t)
	l, err := ledger.Open(ledger.Options{Period: time.Millisecond, Cap: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	cfg := &Config{Log: slog.New(slog.DiscardHandler)}
	units := newUnitTable(l, cfg, nil, func(*symbol.Binary, ledger.File) {})
	points := probes.New(l, probes.Options{Source: true, Log: cfg.Log})
	defer units.close()
	here := uint64(reflect.ValueOf(TestAnotherFileThere).Pointer())
	asked := ledger.Event{Process: os.Getpid(), Address: here, Place: ledger.Place{Dev: 1, Inode: 1}}
	if b, err := units.binary(asked); !errors.Is(err, probes.ErrOtherFile) {
		t.Errorf("units of %v, %v", b, err)
	}
	if err := points.Mapped(asked); !errors.Is(err, probes.ErrOtherFile) {
		t.Errorf("points in the source: %v", err)
	}
	own, err := symbol.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	is, err := l.Identify(own.Image())
	if err != nil {
		t.Fatal(err)
	}
	asked.Place.Dev, asked.Place.Inode = is.Dev, is.Inode
	if b, err := units.binary(asked); err != nil || b == nil {
		t.Errorf("the right one: %v", err)
	}
	if err := points.Mapped(asked); err != nil {
		t.Errorf("points in the source of the right one: %v", err)
	}
	asked.Process = -1
	asked.Place.Inode++
	if _, err := units.binary(asked); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of a process that is gone: %v", err)
	}
}
