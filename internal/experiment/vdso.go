package experiment

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"

	"whatif/internal/code/symbol"
	"whatif/internal/code/unwind"
	"whatif/internal/ledger"
)

// vdso is the library that the kernel maps into every process. Its file offsets are its addresses.
type vdso struct {
	table *unwind.Table
}

// openVDSO reads the one of this process.
func openVDSO() (*vdso, error) {
	image, err := vdsoImage()
	if err != nil {
		return nil, fmt.Errorf("reading the vDSO: %w", err)
	}
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return nil, fmt.Errorf("reading the vDSO: %w", err)
	}
	table, err := unwind.New(f, image, false, nil)
	if err != nil {
		return nil, fmt.Errorf("reading the vDSO: %w", err)
	}
	return &vdso{table}, nil
}

func vdsoImage() ([]byte, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(line, "[vdso]\n") {
			continue
		}
		var start, end uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err != nil {
			return nil, err
		}
		memory, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, err
		}
		defer memory.Close()
		image := make([]byte, end-start)
		_, err = memory.ReadAt(image, int64(start))
		return image, err
	}
	return nil, errors.New("there is none")
}

func (v *vdso) rows(offset uint64) (rows []symbol.UnwindRow, err error) {
	found, err := v.table.Rows(offset, offset+ledger.TableBytes)
	for _, r := range found {
		rows = append(rows, symbol.UnwindRow{Offset: r.Address, Rule: r.Rule})
	}
	return rows, err
}
