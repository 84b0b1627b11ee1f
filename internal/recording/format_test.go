package recording

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"whatif/internal/testing/hostile"
)

func packed(t testing.TB, r *Recording) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for name, r := range map[string]*Recording{"small": small(), "server": synthesize(5, 20_000), "empty": {Cores: 1}} {
		again, err := Read(bytes.NewReader(packed(t, r)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !reflect.DeepEqual(again, r) {
			t.Errorf("%s: became another one", name)
		}
	}
}

// TestUnusedFields: fields that an event's kind does not use are kept, too.
func TestUnusedFields(t *testing.T) {
	r := small()
	e := &r.Windows[0].Events[3]
	e.Key, e.Other, e.Place, e.Object, e.Point = 1<<64-1, -7, 1<<31-1, -1<<31, 9
	e.Condition, e.Class, e.Role = 250, 251, 252
	again, err := Read(bytes.NewReader(packed(t, r)))
	if err != nil || !reflect.DeepEqual(again, r) {
		t.Error(err)
	}
}

// TestBytesPerEvent measures how large a file is.
func TestBytesPerEvent(t *testing.T) {
	const events = 60_000
	r := synthesize(6, events)
	began := time.Now()
	file := packed(t, r)
	wrote := time.Since(began)
	began = time.Now()
	if _, err := Read(bytes.NewReader(file)); err != nil {
		t.Fatal(err)
	}
	perEvent := float64(len(file)) / events
	t.Logf("%.2f bytes per event, %.0f ns to write, %.0f ns to read", perEvent,
		float64(wrote.Nanoseconds())/events, float64(time.Since(began).Nanoseconds())/events)
	if perEvent > 8 {
		t.Errorf("%.2f bytes per event", perEvent)
	}
}

var update = flag.Bool("update", false, "write testdata/v1.recording, if it does not exist")

// TestVersions: files that earlier versions and today's have written are read. They are never written anew.
func TestVersions(t *testing.T) {
	name := filepath.Join("testdata", "v1.recording")
	if _, err := os.Stat(name); *update && errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(name, packed(t, small()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(bytes.NewReader(file))
	if err != nil || !reflect.DeepEqual(r, small()) {
		t.Errorf("%s is read as %+v: %v", name, r, err)
	}
}

// TestLaterVersions: a later version is one clear error; what it may add without a new version is skipped.
func TestLaterVersions(t *testing.T) {
	file := packed(t, small())
	_, err := Read(strings.NewReader(strings.Replace(string(file), "recording 1\n", "recording 12\n", 1)))
	var version *VersionError
	if !errors.As(err, &version) || version.Version != 12 {
		t.Error(err)
	}
	if want := "reading recording: recording is version 12, this whatif reads up to 1"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	head := func(s []byte) []byte {
		return appendTable(s, 1, []column{
			{1, plain, func(int) int64 { return 3 }, nil},
			{50, delta, func(int) int64 { return 7 }, nil},
		})
	}
	sections := appendSection(nil, headSection, head)
	sections = appendSection(sections, 40, func(s []byte) []byte { return append(s, "more"...) })
	r, err := readBody(bytes.NewReader(sections), 1000)
	if err != nil || r.Cores != 3 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestReadRefuses reads what is no recording, and files that were spoiled.
func TestReadRefuses(t *testing.T) {
	file := packed(t, small())
	head, rest := file[:len(magic)+2], file[len(magic)+2:]
	for want, text := range map[string]string{
		"it is no recording of whatif": "{\"run\":{}}\n",
		"no recording":                 magic + "0\n",
		"unexpected EOF":               string(head),
		"EOF":                          string(file[:len(file)-5]),
		"magic number mismatch":        string(head) + "more" + string(rest),
		"unexpected":                   magic + "1",
	} {
		if r, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) || r != nil {
			t.Errorf("want %s: %v, %+v", want, err, r)
		}
	}
	for i := range rest { // a bit is turned over: the checksum tells at the latest
		spoiled := bytes.Clone(file)
		spoiled[len(head)+i] ^= 1 << (i % 8)
		if r, err := Read(bytes.NewReader(spoiled)); err == nil && !reflect.DeepEqual(r, small()) {
			t.Errorf("byte %d: no error", i)
		}
	}
	err := Write(io.Discard, &Recording{})
	if err == nil || !strings.Contains(err.Error(), "writing recording: number of cores") {
		t.Error(err)
	}
}

// TestReadRefusesBodies reads sections that are not as Write makes them.
func TestReadRefusesBodies(t *testing.T) {
	section := func(number uint64, text ...byte) []byte {
		return appendSection(nil, number, func(s []byte) []byte { return append(s, text...) })
	}
	good := section(headSection, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0) // one core
	with := func(number uint64, text ...byte) []byte {
		return append(bytes.Clone(good), section(number, text...)...)
	}
	for want, body := range map[string][]byte{
		"section 3 after section 0":      section(threadsSection),
		"section 1 after section 1":      append(bytes.Clone(good), good...),
		"column 1 after 1, of 1 rows":    section(headSection, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 1, 0),
		"coding 9":                       section(headSection, 1, 9, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0),
		"1 bytes where 2 were announced": section(headSection, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 2, 0),
		"column 5 after 0, of 0 rows":    with(pointsSection, 0, 5, 0),
		"claims more than its size":      with(pointsSection, 0x80, 0x80, 0x80, 1),
		"column 1 has 3":                 with(pointsSection, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 6, 0),
		"an event of kind 9":             with(windowSection, 0, 0, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 18, 0),
		"a list of -1":                   with(stacksSection, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0),
		"overflow":                       with(pointsSection, bytes.Repeat([]byte{255}, 12)...),
		"section 9 after section 40":     append(append(bytes.Clone(good), section(40)...), section(windowSection)...),
		"window 0 is from 1 to 0":        with(windowSection, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
	} {
		if r, err := readBody(bytes.NewReader(body), 2000); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %s: %v, %+v", want, err, r)
		}
	}
	if r, err := readBody(bytes.NewReader(good), 2000); err != nil || r.Cores != 1 {
		t.Error(err)
	}
}

// TestPadding: a recording that compresses well is padded, so that it can be read.
func TestPadding(t *testing.T) {
	r := story()
	r.Windows[0].Events = append(r.Windows[0].Events, Event{Kind: State, Condition: Running})
	for range 100_000 {
		r.Windows[0].Events = append(r.Windows[0].Events, Event{Kind: Sample})
	}
	file := packed(t, r)
	if n := 100_000 * eventCost / perByte; len(file) < n || len(file) > n+n/10 {
		t.Errorf("%d bytes, want %d", len(file), n)
	}
	again, err := Read(bytes.NewReader(file))
	if err != nil || !reflect.DeepEqual(r, again) {
		t.Error(err)
	}
}

func TestTooLarge(t *testing.T) {
	r := story()
	stack := make(Stack, 1<<20)
	for range 65 {
		r.Stacks = append(r.Stacks, stack)
	}
	r.Frames = make([]Frame, 1)
	err := Write(io.Discard, r)
	if err == nil || !strings.Contains(err.Error(), "takes 260 MiB in memory, and may take 256") {
		t.Error(err)
	}
}

// TestHostile: small files that claim to be large are refused at once.
func TestHostile(t *testing.T) {
	hostile.Limited(t, 10*time.Second, func(t *testing.T) {
		head := appendSection(nil, headSection, func(s []byte) []byte {
			return appendTable(s, 1, []column{{1, plain, func(int) int64 { return 1 }, nil}})
		})
		claim := func(section uint64, n uint64) []byte {
			return append(bytes.Clone(head), appendSection(nil, section, func(s []byte) []byte {
				if section == windowSection {
					s = append(s, 0, 0)
				}
				return binary.AppendUvarint(s, n)
			})...)
		}
		bodies := [][]byte{
			appendSection(bytes.Clone(head), 99, func(s []byte) []byte { return append(s, make([]byte, 100<<20)...) }),
			append(bytes.Clone(head), bytes.Repeat(appendSection(nil, windowSection, func(s []byte) []byte {
				return append(s, make([]byte, 2+1+1+int(noKind))...)
			}), 3<<20)...),
		}
		for section := uint64(namesSection); section <= windowSection; section++ {
			bodies = append(bodies, claim(section, 1<<20), claim(section, 1<<62))
		}
		for i, body := range bodies {
			var file bytes.Buffer
			file.WriteString(magic + "1\n")
			z, err := zstd.NewWriter(&file, zstd.WithWindowSize(window))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := z.Write(body); err != nil {
				t.Fatal(err)
			}
			z.Close()
			if _, err := Read(&file); !errors.Is(err, errBudget) {
				t.Errorf("%d: %v", i, err)
			}
		}
		// A window of zstd that is larger than what is written.
		var file bytes.Buffer
		file.WriteString(magic + "1\n")
		z, err := zstd.NewWriter(&file, zstd.WithWindowSize(32<<20), zstd.WithLowerEncoderMem(true))
		if err == nil {
			_, err = z.Write(make([]byte, 40<<20))
		}
		if err != nil {
			t.Fatal(err)
		}
		z.Close()
		if _, err := Read(&file); !errors.Is(err, zstd.ErrWindowSizeExceeded) {
			t.Error(err)
		}
	})
}

// unpacked gives the sections of a recording without compression.
func unpacked(t testing.TB, r *Recording) []byte {
	t.Helper()
	var out bytes.Buffer
	b := body{Recording: r, names: newNames()}
	if err := b.write(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzRead reads files, and bodies without their compression, which hides their structure from the fuzzer.
func FuzzRead(f *testing.F) {
	for _, r := range []*Recording{small(), {Cores: 1}, synthesize(1, 60)} {
		f.Add(packed(f, r))
		f.Add(unpacked(f, r))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r *Recording
		var err error
		if bytes.HasPrefix(data, []byte(magic)) {
			r, err = Read(bytes.NewReader(data))
		} else {
			r, err = readBody(bytes.NewReader(data), perByte*uint64(len(data)))
		}
		if err != nil {
			return
		}
		again, err := readBody(bytes.NewReader(unpacked(t, r)), MaxMemory)
		if err != nil || !reflect.DeepEqual(r, again) {
			t.Errorf("it became another one: %v", err)
		}
		if err := Check(Anonymous(r)); err != nil {
			t.Error(err)
		}
		if err := Repair(r); err != nil {
			t.Error(err)
		}
		if err := Check(r); err != nil {
			t.Error(err)
		}
	})
}
