package cli

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"

	"whatif/internal/testing/hostile"
)

// TestPointsPrintsNothingRaw checks that no name in a binary can send control sequences to the terminal.
func TestPointsPrintsNothingRaw(t *testing.T) {
	note := append([]byte("\x07\x00\x00\x00\x28\x00\x00\x00\x01\x00\x00\x00whatif\x00\x00"), make([]byte, 40)...)
	path := (&hostile.File{
		Sections: []hostile.Section{{Name: ".note", Type: elf.SHT_NOTE, Data: note}},
		Progs:    []elf.Prog64{{Type: uint32(elf.PT_NOTE), Off: 128, Filesz: uint64(len(note))}},
	}).Write(t)
	evil := t.TempDir() + "/a\x1b]0;title\x07"
	if err := os.Rename(path, evil); err != nil {
		t.Fatal(err)
	}
	var out, complaint bytes.Buffer
	status := Run(t.Context(), strings.NewReader(""), &out, &complaint, []string{"points", evil})
	if status != 0 || !strings.Contains(complaint.String(), "is left out") {
		t.Errorf("%d: %s", status, complaint.String())
	}
	if text := out.String() + complaint.String(); strings.ContainsAny(text, "\x1b\x07") {
		t.Errorf("%q", text)
	}
}
