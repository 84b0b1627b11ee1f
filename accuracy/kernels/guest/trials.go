package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// seconds is the length of each trial.
var seconds = func() string {
	if s := os.Getenv("SECONDS"); s != "" { // from the kernel's command line
		return s
	}
	return "10"
}()

// A trial is one use of whatif, with the commands of a user.
type trial struct {
	name string
	try  func() (string, error)
}

// refused is a trial that is made only on request, on a kernel on which whatif does not work.
const refused = "refused"

func trials() []trial {
	return []trial{
		{"doctor", func() (string, error) { return "able", quiet(output("whatif", "doctor")) }},
		{"run", func() (string, error) {
			return run("target", nil, visits{"round_done": perRound}, "-p", "func:round_done")
		}},
		{"return", func() (string, error) {
			return run("target", nil, visits{"round_done%return": perRound}, "-p", "func:round_done%return")
		}},
		{"syscall", func() (string, error) {
			return run("target", nil, visits{"begun": perRound, "over": perRound},
				"-p", "begun=syscall:getpriority", "-p", "over=syscall:getpriority%exit")
		}},
		{"tracepoint", func() (string, error) {
			return run("target", nil, visits{"task_newtask": perChild, "exit": perChild},
				"-p", "tracepoint:task:task_newtask", "-p", "exit")
		}},
		{"usdt", func() (string, error) { return run("target", nil, visits{"round": perRound}, "-p", "usdt:round") }},
		{"source", func() (string, error) { return run("source", nil, visits{"rounds": perRound}) }},
		{"latency", func() (string, error) {
			return run("target", hasLatency, nil, "-l", "round=func:round_begins..func:round_done")
		}},
		{"functions", func() (string, error) {
			return run("target", nil, visits{"round_done": perRound}, "-u", "func", "-p", "func:round_done")
		}},
		{"waiting", func() (string, error) {
			return run("target", nil, visits{"round_done": perRound}, "--waiting", "all", "-p", "func:round_done")
		}},
		{"kernel", func() (string, error) {
			return run("target", hasKernel, visits{"round_done": perRound},
				"--kernel", "-u", "func", "-p", "func:round_done")
		}},
		{"goroutines", goroutines},
		{"gain", gain},
		{"record", record},
		{"attach", attach},
		{"system", system},
		{refused, isRefused},
	}
}

func quiet(_ string, err error) error { return err }

// counted has the program's own counts.
type counted struct{ rounds, children int64 }

// visits has the expected number of visits, by point.
type visits map[string]func(counted) int64

func perRound(c counted) int64 { return c.rounds }
func perChild(c counted) int64 { return c.children + 1 } // the children, and the other thread or the program itself

// report is the part of whatif's JSON report that is checked.
type report struct {
	Points []struct {
		Name   string
		Visits int64
	}
	Latencies []struct {
		Matched, Unmatched int64
	}
	Targets []struct {
		Unit, Name string
		Samples    int64
		Points     []struct {
			Curve []struct{ Speedup, Gain float64 }
		}
	}
	Summary struct {
		Experiments, Samples int64
		Recorded             float64 // seconds
	}
}

// run profiles a program. All visits must be counted, and there must be a prediction. The experiments are short,
// because an emulated program has time for few.
func run(program string, also func(*report) error, want visits, args ...string) (string, error) {
	args = append([]string{"run", "--repeat", "1", "-o", "profile", "--experiment", "100ms"}, args...)
	args = append(args, "--", "/"+program, seconds)
	out, err := output("whatif", args...)
	if err != nil {
		return "", err
	}
	var c counted
	if _, err := fmt.Sscanf(out, "rounds %d children %d", &c.rounds, &c.children); err != nil {
		return "", fmt.Errorf("reading what the program says, %q: %w", out, err)
	}
	r, err := read()
	if err != nil {
		return "", err
	}
	counted := make(map[string]int64)
	for _, p := range r.Points {
		counted[p.Name] = p.Visits
	}
	for point, expect := range want {
		if n, ok := counted[point]; !ok || n != expect(c) {
			return "", fmt.Errorf("%d visits of %s, of %d; counted were %v", n, point, expect(c), counted)
		}
	}
	if also != nil {
		if err := also(r); err != nil {
			return "", err
		}
	}
	text := fmt.Sprintf("%d rounds, %d samples, %d experiments", c.rounds, r.Summary.Samples, r.Summary.Experiments)
	return text, predicted(r)
}

func read() (*report, error) {
	defer os.Remove("profile")
	text, err := output("whatif", "report", "--format", "json", "profile")
	if err != nil {
		return nil, err
	}
	var r report
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return nil, fmt.Errorf("reading the report: %w", err)
	}
	return &r, nil
}

// predicted returns an error unless some code has samples and a prediction.
func predicted(r *report) error {
	for _, t := range r.Targets {
		for _, p := range t.Points {
			if len(p.Curve) > 0 && t.Samples > 0 {
				return nil
			}
		}
	}
	return fmt.Errorf("no prediction in %d experiments with %d samples", r.Summary.Experiments, r.Summary.Samples)
}

func hasLatency(r *report) error {
	if len(r.Latencies) != 1 || r.Latencies[0].Matched == 0 || r.Latencies[0].Unmatched > 0 {
		return fmt.Errorf("latencies %+v", r.Latencies)
	}
	return nil
}

func hasKernel(r *report) error {
	for _, t := range r.Targets {
		if strings.Contains(t.Name, "[kernel]") && t.Samples > 0 {
			return nil
		}
	}
	return errors.New("no function of the kernel's was sampled")
}

// gain prints the predicted gain of a function for which the true gain is a third. The error of the prediction depends
// on the machine, so it is not judged.
func gain() (string, error) {
	line := ""
	_, err := run("target", func(r *report) error {
		for _, t := range r.Targets {
			for _, p := range t.Points {
				for _, c := range p.Curve {
					line += fmt.Sprintf(" %.0f at %.0f%%", c.Gain, c.Speedup)
				}
			}
		}
		return nil
	}, nil, "-t", "func:heavy", "-u", "func", "-s", "0,50,100", "-p", "func:round_done")
	return strings.TrimSpace(line), err
}

// goroutines runs whatif's demo, which has goroutines. If the kernel refuses the programs that follow them, whatif says
// so and goes on without them.
func goroutines() (string, error) {
	out, err := exec.Command("/whatif", "demo", "-d", seconds+"s").CombinedOutput()
	fmt.Printf("%s", out)
	if err == nil && strings.Contains(string(out), "not followed") {
		err = errors.New("goroutines are not followed")
	}
	return "", err
}

// isRefused checks that whatif names the reason, and does not start the program.
func isRefused() (string, error) {
	c := exec.Command("/whatif", "run", "-o", "profile", "--", "/target", seconds)
	out, err := c.CombinedOutput()
	fmt.Printf("%s", out)
	if status := c.ProcessState.ExitCode(); status != 125 || !strings.Contains(string(out), "PREEMPT_RT") {
		return "", fmt.Errorf("status %d (%w), want 125 and PREEMPT_RT by its name", status, err)
	}
	if strings.Contains(string(out), "rounds") {
		return "", errors.New("the program was started")
	}
	first, _, _ := strings.Cut(string(out), "\n")
	return first, nil
}

// attach profiles a program that already runs, and that must go on afterwards.
func attach() (string, error) {
	program := exec.Command("/target", "1000")
	if err := program.Start(); err != nil {
		return "", err
	}
	defer func() {
		_ = program.Process.Kill()
		_ = program.Wait()
	}()
	time.Sleep(200 * time.Millisecond)
	_, err := output("whatif", "attach", "-o", "profile", "-d", seconds+"s", "-p", "func:round_done",
		strconv.Itoa(program.Process.Pid))
	if err != nil {
		return "", err
	}
	r, err := read()
	if err != nil {
		return "", err
	}
	if err := program.Process.Signal(syscall.Signal(0)); err != nil {
		return "", fmt.Errorf("the program is gone: %w", err)
	}
	return fmt.Sprintf("%d visits, %d samples", r.Points[0].Visits, r.Summary.Samples), predicted(r)
}

// record records a program. Estimates are not asked for: an emulated machine is slow, and records little.
func record() (string, error) {
	_, err := output("whatif", "record", "-o", "profile", "-p", "func:round_done", "--", "/target", seconds)
	if err != nil {
		return "", err
	}
	r, err := read()
	if err != nil {
		return "", err
	}
	samples := int64(0)
	for _, t := range r.Targets {
		samples += t.Samples
	}
	if len(r.Points) != 1 || r.Points[0].Visits == 0 || samples == 0 || r.Summary.Recorded == 0 {
		return "", fmt.Errorf("%v visits and %d samples of code in %v s", r.Points, samples, r.Summary.Recorded)
	}
	return fmt.Sprintf("%d visits, %d samples of code in %.2f s", r.Points[0].Visits, samples, r.Summary.Recorded), nil
}

// system profiles the whole machine, with the program as the load.
func system() (string, error) {
	_, err := output("whatif", "system", "-o", "profile", "-p", "syscall:getpriority", "--", "/target", seconds)
	if err != nil {
		return "", err
	}
	r, err := read()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d samples", r.Summary.Samples), predicted(r)
}
