package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"whatif/internal/device"
	"whatif/internal/device/measure"
	"whatif/internal/hint"
	"whatif/internal/report"
)

// mostDeviceTime keeps a measurement from becoming one of the weather.
const (
	leastDeviceTime = 500 * time.Millisecond
	mostDeviceTime  = 10 * time.Minute
)

// unnamedDevice is the name of a machine if its own name cannot be that of a file.
const unnamedDevice = "this-machine"

// deviceFlags are the flags of whatif device.
type deviceFlags struct {
	*flags
	output, dir, peer, serve, name, format string
	anyway, overwrite                      bool
	time                                   time.Duration
}

// deviceWords are, by the first operand, how many operands follow it and which flags it takes; "": to measure.
var deviceWords = map[string]struct {
	operands int
	flags    []string
}{
	"":        {0, []string{"output", "dir", "peer", "serve", "name", "anyway", "duration"}},
	"list":    {0, nil},
	"show":    {1, []string{"output", "format"}},
	"compare": {2, []string{"output", "format"}},
	"add":     {1, []string{"name", "overwrite"}},
}

func newDeviceFlags() *deviceFlags {
	f := &deviceFlags{flags: newFlags("device")}
	f.BoolVar(&f.anyway, "anyway", false, "measure a machine that is busy, too: figures are what is left")
	f.StringVar(&f.dir, "dir", "", "measure the disk by a file in `DIR`, which is gone afterwards (default: here)")
	f.seconds(&f.time, "duration", 20*time.Second, "measure for about `TIME`; less time makes wider spreads")
	f.short("d", "duration")
	f.StringVar(&f.format, "format", "text", "`text|json`")
	f.StringVar(&f.name, "name", "", "the device's `NAME` (default: the host's name)")
	f.StringVar(&f.output, "output", "", "write to `FILE` (default: stdout)")
	f.short("o", "output")
	f.BoolVar(&f.overwrite, "overwrite", false, "add: replace the device of that name")
	f.StringVar(&f.peer, "peer", "", "measure the network to `HOST:PORT`, too, where whatif device --serve runs")
	f.StringVar(&f.serve, "serve", "", "be the other end of --peer at `ADDR`, HOST:PORT, until Ctrl-C")
	return f
}

func deviceCommand(ctx context.Context, sh *shell, args []string) (int, error) {
	f := newDeviceFlags()
	words, err := parse(sh, f.flags, args, 0, 3)
	if err != nil {
		return 0, err
	}
	word := ""
	if len(words) > 0 {
		word, words = words[0], words[1:]
	}
	if err := f.check(word, words); err != nil {
		return 0, err
	}
	switch {
	case f.serve != "":
		return 0, measure.Serve(ctx, f.serve, func(line string) { sh.say("whatif: ", line) })
	case word == "":
		return 0, f.measure(ctx, sh)
	}
	store, err := device.Open(os.Getenv)
	if err != nil {
		return 0, err
	}
	switch word {
	case "list":
		return 0, listDevices(sh, store)
	case "show":
		return 0, f.show(sh, store, words[0])
	case "add":
		return 0, f.add(sh, store, words[0])
	}
	return 0, f.compare(sh, store, words[0], words[1])
}

// check refuses operands and flags that do nothing together.
func (f *deviceFlags) check(word string, words []string) error {
	takes, known := deviceWords[word]
	usage := "usage: " + usageOf("device")
	switch {
	case !known:
		return hint.New(wrongLine("whatif device does not know %q", word), usage)
	case len(words) < takes.operands:
		return hint.New(wrongLine("missing argument"), usage)
	case len(words) > takes.operands:
		return hint.New(wrongLine("unexpected argument %q", words[takes.operands]), usage)
	}
	for _, name := range []string{"anyway", "dir", "duration", "format", "name", "output", "overwrite", "peer", "serve"} {
		if f.given(name) && !slices.Contains(takes.flags, name) {
			return wrongLine("--%s does nothing with whatif device %s", name, strings.TrimSpace(word))
		}
		if name != "serve" && f.serve != "" && f.given(name) {
			return wrongLine("--%s does nothing with --serve", name)
		}
	}
	switch {
	case f.format != "text" && f.format != "json":
		return unknownFormat(f.format, "text|json")
	case f.time < leastDeviceTime || f.time > mostDeviceTime:
		return wrongLine("--duration %v is not between %v and %v", f.time, leastDeviceTime, mostDeviceTime)
	case f.name != "":
		if err := device.CheckName(f.name); err != nil {
			return wrongLine("flag --name: %w", err)
		}
	}
	return nil
}

// measure measures this machine: the table goes to stderr, the file to stdout.
func (f *deviceFlags) measure(ctx context.Context, sh *shell) error {
	name := f.name
	if name == "" {
		if name, _ = os.Hostname(); device.CheckName(name) != nil {
			name = unnamedDevice
		}
	}
	if f.dir == "" {
		f.dir = "."
	}
	file, ok := sh.stderr.(*os.File)
	terminal := ok && isTerminal(file) && !dumb()
	d, err := measure.Run(ctx, measure.Options{Name: name, Dir: f.dir, Peer: f.peer, Time: f.time, Anyway: f.anyway,
		Progress: func(what string) {
			if terminal {
				fmt.Fprintf(sh.stderr, "\r\x1b[Kmeasuring %s", what)
			}
		}})
	if terminal {
		fmt.Fprint(sh.stderr, "\r\x1b[K")
	}
	if err != nil {
		return err
	}
	if err := d.Text(cleaned{sh.stderr}); err != nil {
		return err
	}
	for _, w := range d.Warnings {
		sh.say("whatif: warning: ", w)
	}
	return sh.writeTo(f.output, d.Write)
}

// cleaned removes what a terminal would act upon: device files may come from others.
type cleaned struct{ io.Writer }

func (c cleaned) Write(text []byte) (int, error) {
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Fprintln(c.Writer, report.Clean(strings.TrimSuffix(line, "\n"))); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}

func listDevices(sh *shell, store device.Store) error {
	all, err := store.List()
	if err != nil {
		return err
	}
	for _, e := range all {
		what := fmt.Sprintf("%-8s  %2d cores  %s", e.Device.Kind, e.Device.Cores, e.Device.Machine.Processor)
		switch {
		case e.Err != nil:
			what = "cannot be read: " + e.Err.Error()
		case e.Path == "":
			what += "  (built in)"
		}
		if _, err := fmt.Fprintln(sh.stdout, report.Clean(fmt.Sprintf("%-16s  %s", e.Device.Name, what))); err != nil {
			return fmt.Errorf("listing devices: %w", err)
		}
	}
	return nil
}

func (f *deviceFlags) show(sh *shell, store device.Store, word string) error {
	d, err := store.Find(word)
	if err != nil {
		return err
	}
	if d.Kind == device.ByHand {
		return hint.New(errors.New("showing a device: ratios alone are no device"),
			"compare them with one: whatif device compare NAME "+word)
	}
	for _, w := range d.Warnings {
		sh.say("whatif: warning: ", w)
	}
	if f.format == "json" {
		return sh.writeTo(f.output, d.Write)
	}
	return sh.writeTo(f.output, func(w io.Writer) error { return d.Text(cleaned{w}) })
}

func (f *deviceFlags) add(sh *shell, store device.Store, file string) error {
	d, err := device.ReadFile(file)
	if err != nil {
		return err
	}
	if f.name != "" {
		d.Name = f.name
	}
	path, err := store.Add(d, f.overwrite)
	if err != nil {
		return err
	}
	sh.say("whatif: ", fmt.Sprintf("added %s: %s", d.Name, path))
	return nil
}

func (f *deviceFlags) compare(sh *shell, store device.Store, first, second string) error {
	host, err := store.Find(first)
	if err != nil {
		return err
	}
	other, err := store.Find(second)
	if err != nil {
		return err
	}
	factors, err := device.Compare(host, other)
	if err != nil {
		return err
	}
	if w := factors.CoresWarning(); w != "" {
		factors.Warnings = append(factors.Warnings, w)
	}
	for _, w := range factors.Warnings {
		sh.say("whatif: warning: ", w)
	}
	return sh.writeTo(f.output, func(w io.Writer) error {
		if f.format == "json" {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(factors)
		}
		return factors.Text(cleaned{w})
	})
}
