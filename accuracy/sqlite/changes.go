package main

import (
	"fmt"
	"strings"
)

// change is a piece of code whose work can really be changed, without the program's
// results becoming others.
type change struct {
	name string
	// target is the code for whatif; where it is empty, it is the line that replaces[0] is in.
	target string
	// replaces are pairs of texts: one of the library's, once in it and within a line,
	// and what it becomes. Line numbers stay what they are.
	replaces [][2]string
	levels   []int // percent
	// doubled: the work is done twice at 100%, so that the program loses what it would gain
	// without.
	doubled bool
}

// changes are what insert.c knows by these names.
var changes = []change{
	{
		// The log's checksum over a part of each page: by it pages are only recognised after a
		// crash, by the same program.
		name: "checksum", target: "func:walChecksumBytes", levels: []int{25, 50, 100},
		replaces: [][2]string{{
			"  u32 *aEnd = (u32 *)&a[nByte];",
			"  extern int change_checksum; u32 *aEnd = (u32 *)&a[(nByte*(100-change_checksum)/100) & ~7];",
		}},
	},
	{
		// pwrite instead of lseek and write, as SQLite itself does when compiled with
		// -DUSE_PREAD: the line has nothing left to do.
		name: "seek", levels: []int{100},
		replaces: [][2]string{{
			"    i64 iSeek = lseek(fd, iOff, SEEK_SET);",
			"    extern int change_seek, change_write; i64 iSeek = change_seek ? iOff : lseek(fd, iOff, SEEK_SET);",
		}},
	},
	{
		// Every write is done twice: the same bytes to the same place.
		name: "write", levels: []int{100}, doubled: true,
		replaces: [][2]string{{
			"    rc = osWrite(fd, pBuf, nBuf);",
			"    rc = change_seek ? pwrite(fd, pBuf, nBuf, iOff) : osWrite(fd, pBuf, nBuf); if( change_write ) rc = pwrite(fd, pBuf, nBuf, iOff);",
		}},
	},
	// The application makes up less of each row.
	{name: "fill", target: "func:fill", levels: []int{25, 50, 100}},
}

func names(list []change) []string {
	var n []string
	for i := range list {
		n = append(n, list[i].name)
	}
	return n
}

// apply makes all changes to the library's source, each depending on its variable.
func apply(source string, list []change) (string, error) {
	for i := range list {
		for _, r := range list[i].replaces {
			if n := strings.Count(source, r[0]); n != 1 {
				return "", fmt.Errorf("changing sqlite3.c for %s: %q is in it %d times, not once: another version of SQLite?", list[i].name, r[0], n)
			}
			source = strings.Replace(source, r[0], r[1], 1)
		}
	}
	return source, nil
}

// targetIn is the change's code as whatif names it.
func (c *change) targetIn(source string) string {
	if c.target != "" {
		return c.target
	}
	before, _, _ := strings.Cut(source, c.replaces[0][0])
	return fmt.Sprintf("sqlite3.c:%d", 1+strings.Count(before, "\n"))
}
