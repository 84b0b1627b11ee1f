// Command whatif is what package target's tests need of the real one: it runs
// the program in its arguments and exits with its status. TEST_HOW holds words:
// "hold" never releases the program, "late" waits 300 ms after its end.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"whatif/internal/target"
)

func main() { os.Exit(run()) }

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
		time.Sleep(300 * time.Millisecond)
		fmt.Fprintln(os.Stderr, "written")
	}
	return state.Status
}
