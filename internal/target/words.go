package target

import (
	"bytes"
	"io"
	"os"
)

// Words reads the command line or the environment of a process (a file of /proc), at most most bytes of it. whole tells
// whether that is all. A process chooses by itself where in its memory its words are, and how long (PR_SET_MM_MAP). So
// they may be terabytes of zeros, which cost the process nothing.
func Words(path string, most int) (text []byte, whole bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	text, err = io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, false, err
	}
	if len(text) > most {
		return text[:most], false, nil
	}
	return text, true, nil
}

// mostArgs is how much of a command line whatif keeps. Nobody reads more of it in a report.
const mostArgs = 128 << 10

// splitArgs separates the words of a command line. If the line is not whole, its last word is left out, which may be
// cut in two.
func splitArgs(text []byte, whole bool) (args []string) {
	if !whole {
		text = text[:bytes.LastIndexByte(text, 0)+1]
	}
	for word := range bytes.SplitSeq(bytes.TrimRight(text, "\x00"), []byte{0}) {
		args = append(args, string(word))
	}
	return args
}
