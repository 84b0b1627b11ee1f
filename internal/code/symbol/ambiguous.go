package symbol

import (
	"fmt"
	"slices"
	"strings"
)

// Ambiguous is the error for a file name that means several files with code on the line.
type Ambiguous struct {
	Name  string // as the user wrote it, with the line
	Where string
	Files []string // the files, with as much of their paths as tells them apart
}

func (e *Ambiguous) Error() string {
	return fmt.Sprintf("%s means several files in %s: %s", e.Name, e.Where, strings.Join(e.Files, ", "))
}

// CheckOneFile returns an *Ambiguous if the files that a name and a line mean are not all the same.
func CheckOneFile(files []string, file string, line int, where string) error {
	files = slices.Sorted(slices.Values(files))
	if files = slices.Compact(files); len(files) < 2 {
		return nil
	}
	e := &Ambiguous{Name: fmt.Sprintf("%s:%d", file, line), Where: where}
	for _, f := range files {
		e.Files = append(e.Files, fmt.Sprintf("%s:%d", shortest(f, files), line))
	}
	if len(e.Files) > maxAmbiguous {
		e.Files = append(e.Files[:maxAmbiguous], "…")
	}
	return e
}

// maxAmbiguous bounds the files that an error names.
const maxAmbiguous = 8

// shortest returns the shortest end of a path, in whole components, that no other path has.
func shortest(file string, all []string) string {
	for at := len(file); at > 0; {
		at = strings.LastIndexByte(file[:at], '/')
		if at < 0 {
			break
		}
		end := file[at+1:]
		others := slices.ContainsFunc(all, func(f string) bool { return f != file && MatchFile(end, f) })
		if !others && end != "" {
			return end
		}
	}
	return file
}
