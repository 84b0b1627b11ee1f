package symbol

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"strings"

	"whatif/internal/code/unwind"
)

// VDSO is the library that the kernel maps into every process. Its file offsets are its addresses.
type VDSO struct {
	table *unwind.Table
}

// OpenVDSO reads the one of this process.
func OpenVDSO() (*VDSO, error) {
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
	return &VDSO{table}, nil
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

// Unwind returns the rows of n bytes from an offset on, as those of a Binary.
func (v *VDSO) Unwind(offset, n uint64) (rows []UnwindRow, err error) {
	found, err := v.table.Rows(offset, offset+n)
	for _, r := range found {
		rows = append(rows, UnwindRow{Offset: r.Address, Rule: r.Rule})
	}
	return rows, err
}
