package main

import (
	"fmt"
	"strings"
)

// change is a real change of the work of a piece of code that does not change the program's results.
type change struct {
	name string
	// target is the code for whatif; if it is empty, it is the line with replaces[0].
	target string
	// replaces are pairs of texts. The first one is in the library's source once, within a line, and the second one
	// replaces it, also within a line, so that line numbers do not change.
	replaces [][2]string
	levels   []int // percent
	// doubled means that at 100% the work is done twice. The program then loses as much as it would gain without the
	// work.
	doubled bool
}

// changes are the changes that insert.c knows by these names.
var changes = []change{
	{
		// The checksum in the log then covers only a part of each page. It matters only after a crash, to the same
		// program.
		name: "checksum", target: "func:walChecksumBytes", levels: []int{25, 50, 100},
		replaces: [][2]string{{
			"  u32 *aEnd = (u32 *)&a[nByte];",
			"  extern int change_checksum; u32 *aEnd = (u32 *)&a[(nByte*(100-change_checksum)/100) & ~7];",
		}},
	},
	{
		// pwrite instead of lseek and write, as in a SQLite that is compiled with -DUSE_PREAD. The line then does
		// nothing.
		name: "seek", levels: []int{100},
		replaces: [][2]string{{
			"    i64 iSeek = lseek(fd, iOff, SEEK_SET);",
			"    extern int change_seek, change_write; i64 iSeek = change_seek ? iOff : lseek(fd, iOff, SEEK_SET);",
		}},
	},
	{
		// Every write is done twice, with the same bytes at the same offset.
		name: "write", levels: []int{100}, doubled: true,
		replaces: [][2]string{{
			"    rc = osWrite(fd, pBuf, nBuf);",
			"    rc = change_seek ? pwrite(fd, pBuf, nBuf, iOff) : osWrite(fd, pBuf, nBuf); " +
				"if( change_write ) rc = pwrite(fd, pBuf, nBuf, iOff);",
		}},
	},
	// The application generates less of each row.
	{name: "fill", target: "func:fill", levels: []int{25, 50, 100}},
}

func names(list []change) []string {
	var n []string
	for i := range list {
		n = append(n, list[i].name)
	}
	return n
}

// apply adds all changes to the library's source. A variable of the program turns each of them on.
func apply(source string, list []change) (string, error) {
	for i := range list {
		for _, r := range list[i].replaces {
			if n := strings.Count(source, r[0]); n != 1 {
				return "", fmt.Errorf("changing sqlite3.c for %s: %q is in it %d times, not once: another version of SQLite?",
					list[i].name, r[0], n)
			}
			source = strings.Replace(source, r[0], r[1], 1)
		}
	}
	return source, nil
}

// targetIn is the change's code in the form that -t takes.
func (c *change) targetIn(source string) string {
	if c.target != "" {
		return c.target
	}
	before, _, _ := strings.Cut(source, c.replaces[0][0])
	return fmt.Sprintf("sqlite3.c:%d", 1+strings.Count(before, "\n"))
}
