package profile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// versionFiles are profiles that earlier versions and today's wrote, and one that was invented for
// rare keys. They are never written anew: each later version has to read them. Package report has
// goldens of their reports.
func versionFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "versions", "*.profile"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no profiles of earlier versions: %v", err)
	}
	return files
}

// TestVersionsHaveAllKeys: each kind of record and each key that a profile may have occurs in a
// kept profile, and each that occurs there is known.
func TestVersionsHaveAllKeys(t *testing.T) {
	seen := make(map[string]bool)
	for _, file := range versionFiles(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			var record any
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatalf("%s:%d: %v", file, i+1, err)
			}
			for _, key := range keysIn(reflect.TypeFor[Record](), record, seen) {
				t.Errorf("%s:%d: nothing reads %s", file, i+1, key)
			}
		}
	}
	all := keysOf(reflect.TypeFor[Record](), nil)
	for _, key := range all {
		if !seen[key] {
			t.Errorf("%s is in no profile in testdata/versions: add it to a made one", key)
		}
	}
	t.Logf("%d keys", len(all))
}

// keyName names a key with the type that it is in: Experiment.unit_samples.
func keyName(of reflect.Type, key string) string { return of.Name() + "." + key }

// elem is the element type of a list, a map or a pointer; any other type is its own.
func elem(of reflect.Type) reflect.Type {
	for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, of.Kind()) {
		of = of.Elem()
	}
	return of
}

// fields are the types of a struct's keys, if it is written as an object.
func fields(of reflect.Type) map[string]reflect.Type {
	if of.Kind() != reflect.Struct || of.PkgPath() != reflect.TypeFor[Record]().PkgPath() {
		return nil
	}
	keys := make(map[string]reflect.Type)
	for i := range of.NumField() {
		f := of.Field(i)
		if key, _, _ := strings.Cut(f.Tag.Get("json"), ","); key != "" && key != "-" {
			keys[key] = f.Type
		}
	}
	return keys
}

// keysOf appends all keys of a type, and those of the types in it.
func keysOf(of reflect.Type, to []string) []string {
	of = elem(of)
	for key, inner := range fields(of) {
		if name := keyName(of, key); !slices.Contains(to, name) {
			to = keysOf(inner, append(to, name))
		}
	}
	slices.Sort(to)
	return to
}

// keysIn notes the keys of a value that was decoded without its type, and returns those that the
// type does not have.
func keysIn(of reflect.Type, value any, seen map[string]bool) (unknown []string) {
	of = elem(of)
	known := fields(of)
	switch v := value.(type) {
	case []any:
		for _, x := range v {
			unknown = append(unknown, keysIn(of, x, seen)...)
		}
	case map[string]any:
		for key, x := range v {
			inner, ok := known[key]
			switch {
			case known == nil: // a map
				unknown = append(unknown, keysIn(of, x, seen)...)
			case !ok:
				unknown = append(unknown, keyName(of, key))
			default:
				seen[keyName(of, key)] = true
				unknown = append(unknown, keysIn(inner, x, seen)...)
			}
		}
	}
	return unknown
}

// TestVersionsAreRead: profiles of earlier versions are read completely, and a run that is written
// again is the same.
func TestVersionsAreRead(t *testing.T) {
	for _, file := range versionFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			runs, err := ReadFiles([]string{file})
			if err != nil {
				t.Fatal(err)
			}
			if len(runs) == 0 {
				t.Fatal("no run")
			}
			for i, d := range runs {
				if d.Torn || d.Unknown != 0 || d.End == nil || len(d.Experiments) == 0 {
					t.Errorf("run %d: torn %v, %d unknown records, end %v, %d experiments",
						i, d.Torn, d.Unknown, d.End, len(d.Experiments))
				}
			}
			if made := filepath.Base(file) == "v1-made.profile"; made != runs[0].HasRecording() {
				t.Errorf("has a recording: %v", !made)
			} else if made {
				if r, err := runs[0].Recording(); err != nil || len(r.Windows) != 2 {
					t.Errorf("its recording: %v", err)
				}
			}
			checkLines(t, file)
		})
	}
}

// checkLines decodes each line into a Record and encodes it again.
func checkLines(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		again, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var was, is any
		if json.Unmarshal(line, &was) != nil || json.Unmarshal(again, &is) != nil || !reflect.DeepEqual(was, is) {
			t.Errorf("line %d is\n%s\nand becomes\n%s", i+1, line, again)
		}
	}
}
