package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	devicefile "whatif/internal/device"
)

// measureAgain measures this machine n times, one after the other, and compares each measurement with the one before.
// It is an error if a class differs by more than both the spread that is doubted and its own spread.
func measureAgain(ctx context.Context, whatif string, n int, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "whatif-device")
	if err != nil {
		return fmt.Errorf("measuring this machine: %w", err)
	}
	defer os.RemoveAll(dir)
	var before *devicefile.Device
	var all []*devicefile.Factors
	for i := range n {
		file := filepath.Join(dir, strconv.Itoa(i)+".json")
		cmd := exec.CommandContext(ctx, whatif, "device", "--anyway", "--name", "time-"+strconv.Itoa(i+1), "-o", file)
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("measuring this machine: %w\n%s", err, said.String())
		}
		for line := range strings.Lines(said.String()) {
			if strings.HasPrefix(line, "whatif: warning: ") {
				fmt.Fprintf(stderr, "time %d: %s", i+1, line)
			}
		}
		now, err := devicefile.ReadFile(file)
		if err != nil {
			return err
		}
		if before != nil {
			f, err := devicefile.Compare(before, now)
			if err != nil {
				return err
			}
			all = append(all, f)
		}
		before = now
	}
	return writeAgain(stdout, all)
}

// writeAgain prints how the classes differ from one measurement to the next.
func writeAgain(w io.Writer, all []*devicefile.Factors) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "class\tfrom one time to the next\tits spread\t")
	var errs []error
	for _, f := range all {
		for _, c := range f.Classes {
			off, verdict := math.Abs(math.Log(c.Ratio)), ""
			if off > math.Log(1+max(devicefile.MostSpread, c.Spread)) {
				verdict = "differs by more"
				errs = append(errs, fmt.Errorf("%s differs by %.0f%%, and its spread says %.0f%%", c.Class,
					100*(c.Ratio-1), 100*c.Spread))
			}
			fmt.Fprintf(tw, "%s\t%+.1f%%\t+-%.1f%%\t%s\n", c.Class, 100*(c.Ratio-1), 100*c.Spread, verdict)
		}
	}
	return errors.Join(append(errs, tw.Flush())...)
}
