// Reads addresses of its own code, as in the file, and prints the runtime's frames
// for each: one line of JSON. It builds with any Go from 1.14 on.
package main

import (
	"bufio"
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

type frame struct {
	Func, File string
	Line       int
}

func main() {
	// Some code with inlined calls.
	if len(os.Args) > 3 {
		fmt.Println(regexp.MustCompile(os.Args[1]).FindAllString(os.Args[2], -1))
		sort.Slice(os.Args, func(a, b int) bool { return os.Args[a] < os.Args[b] })
		generic()
	}
	moved := loadAddress()
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		pc, err := strconv.ParseUint(in.Text(), 0, 64)
		if err != nil {
			panic(err)
		}
		var chain []frame
		// CallersFrames expects return addresses.
		for frames := runtime.CallersFrames(expanded(uintptr(pc) + moved + 1)); ; {
			f, more := frames.Next()
			if f.Function != "" {
				chain = append(chain, frame{f.Function, f.File, f.Line})
			}
			if !more {
				break
			}
		}
		if err := out.Encode(chain); err != nil {
			panic(err)
		}
	}
}

// loadAddress returns the distance of the program's addresses from those in its file.
func loadAddress() uintptr {
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	defer maps.Close()
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	f, err := elf.Open(exe)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var start, end, offset uint64
		var mode string
		if !strings.HasSuffix(lines.Text(), exe) {
			continue
		}
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s %x", &start, &end, &mode, &offset); err != nil {
			panic(err)
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && p.Off&^4095 == offset {
				return uintptr(start - p.Vaddr&^4095)
			}
		}
	}
	panic("nothing is mapped of " + exe)
}
