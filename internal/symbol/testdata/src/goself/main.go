// Reads addresses of its own code and prints what the runtime makes of them:
// one line of JSON each.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

type frame struct {
	Func, File string
	Line       int
}

func main() {
	// Some code to look at.
	if len(os.Args) > 3 {
		fmt.Println(regexp.MustCompile(os.Args[1]).FindAllString(os.Args[2], -1))
		slices.SortFunc(os.Args, func(a, b string) int { return strings.Compare(b, a) })
	}
	out := json.NewEncoder(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		pc, err := strconv.ParseUint(in.Text(), 0, 64)
		if err != nil {
			panic(err)
		}
		var chain []frame
		// CallersFrames expects return addresses.
		for frames := runtime.CallersFrames([]uintptr{uintptr(pc) + 1}); ; {
			f, more := frames.Next()
			chain = append(chain, frame{f.Function, f.File, f.Line})
			if !more {
				break
			}
		}
		if err := out.Encode(chain); err != nil {
			panic(err)
		}
	}
}
