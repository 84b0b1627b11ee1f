// Command whatif is a small whatif for the tests of package target. It runs the program in its arguments and exits with
// the program's status. TEST_HOW has words: with "hold" the program is never released, with "late" the command waits
// 300 ms after the program's end, with "later" a minute.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"whatif/internal/target"
)

func main() {
	target.Main()
	os.Exit(run())
}

func run() int {
	how := os.Getenv("TEST_HOW")
	os.Unsetenv("TEST_HOW")
	p, err := target.Start(target.Config{Args: os.Args[1:]})
	if err != nil {
		fmt.Fprintln(os.Stderr, "whatif:", err)
		return 125
	}
	defer p.Close()
	p.Forward(context.Background())
	fmt.Fprintf(os.Stderr, "started %d\n", p.PID())
	if strings.Contains(how, "hold") {
		time.Sleep(time.Minute)
	}
	if err := p.Release(); err != nil {
		fmt.Fprintln(os.Stderr, "whatif:", err)
		return 125
	}
	state := p.Wait()
	fmt.Fprintf(os.Stderr, "ended %d\n", state.Status)
	if strings.Contains(how, "late") {
		waits := 300 * time.Millisecond
		if strings.Contains(how, "later") {
			waits = time.Minute
		}
		time.Sleep(waits)
		fmt.Fprintln(os.Stderr, "written")
	}
	return state.Status
}
