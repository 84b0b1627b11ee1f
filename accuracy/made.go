package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// progressCall is a point that needs no name of the program's code: a visit calls lseek once.
const progressCall = "syscall:lseek"

// nodeOptions make Node write down lines, into its working directory.
var nodeOptions = []string{"--perf-prof"}

// madeAtRunTime lists programs with code that is made while they run: in Java (the group jvm), JavaScript and Erlang
// (jit). Targets in Java are lines, and the methods with them. Points are lines, too; java_turns_call has another one.
func madeAtRunTime() []program {
	group := []program{
		{name: "java_join", source: "Join.java", function: "parse", model: []float64{25, 33, 33, 33}},
		{name: "java_join_short", source: "Join.java", defines: []string{"SHORT"}, function: "parse",
			kind: zero, model: []float64{0, 0, 0, 0}},
		{name: "java_join_equal", source: "Join.java", defines: []string{"EQUAL"}, function: "parse",
			model: []float64{17, 33, 50, 67}},
		{name: "java_lock_wait", source: "LockWait.java", function: "update", model: []float64{17, 33, 50, 50}},
		{name: "java_lock_many", source: "LockMany.java", function: "update", model: []float64{25, 45, 57, 70}},
		{name: "java_lock_util", source: "LockMany.java", defines: []string{"UTIL"}, function: "update",
			model: []float64{25, 45, 57, 70}},
		{name: "java_turns", source: "Turns.java", function: "ask", model: []float64{8.3, 16.7, 25, 33.3}},
		{name: "java_turns_call", source: "Turns.java", function: "ask", point: progressCall,
			model: []float64{8.3, 16.7, 25, 33.3}},
		{name: "java_pipeline", source: "Pipeline.java", function: "transform", model: []float64{25, 44, 56, 63}},
		{name: "java_pipeline_short", source: "Pipeline.java", defines: []string{"SHORT"}, function: "transform",
			kind: zero, model: []float64{0, 0, 0, 0}},
		{name: "java_fork_join", source: "ForkJoin.java", function: "leaf", model: []float64{17, 33, 50, 67}},
		{name: "java_futures", source: "Futures.java", function: "parse", model: []float64{12.5, 25, 25, 25}},
		{name: "java_server", source: "Server.java", function: "handle"},
		{name: "java_garbage", source: "Garbage.java", function: "score", seconds: 1,
			flags: []string{"-Xms64m", "-Xmx64m", "-Xmn8m"}},
		{name: "java_collector", source: "Collector.java", target: "jvm:gc", seconds: 1,
			flags: []string{"-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-Xmn8m"}},
		{name: "java_streams", source: "Streams.java", function: "score"},
		{name: "java_sleep", source: "Sleep.java", function: "pause", model: []float64{10, 20, 30, 40}},
		{name: "java_zip", source: "Zip.java", function: "pack"},
		{name: "java_zip_frames", source: "Zip.java", function: "pack", flags: []string{"-XX:+PreserveFramePointer"}},
		{name: "java_commits", source: "Commits.java", function: "backOff", ranked: true, seconds: 2,
			jar: "/usr/share/java/h2.jar", model: []float64{3, 9, 17, 22}},
	}
	for i := range group {
		p := &group[i]
		if class := strings.TrimSuffix(p.source, ".java"); p.function != "" {
			p.function = "func:jvm." + class + "." + p.function
		}
		p.group, p.source = "jvm", "jvm/"+p.source
	}
	group = append(group,
		program{name: "node_server", source: "jit/server.js", point: "syscall:getuid", runtime: nodeOptions},
		program{name: "node_audit", source: "jit/server.js", defines: []string{"AUDIT"}, point: "syscall:getuid",
			target: "func:audit", kind: zero, runtime: nodeOptions, model: []float64{0, 0, 0, 0}},
		program{name: "erlang_parse", source: "jit/parse.erl", point: "syscall:getsockopt",
			runtime: []string{"+JPperf", "true"}, model: []float64{12.5, 25, 37.5, 50}})
	for i := range group {
		p := &group[i]
		if p.kind == "" {
			p.kind = made
		}
		if p.group == "" {
			p.group = "jit"
		}
	}
	return group
}

// managed tells whether a runtime executes the program. What is built of it is then a directory.
func (p *program) managed() bool {
	return slices.Contains([]string{".java", ".js", ".erl"}, filepath.Ext(p.source))
}

// managedCommand is command for a program that a runtime executes.
func (p *program) managedCommand(directory string, options []string) []string {
	base := filepath.Base(p.source)
	name := strings.TrimSuffix(base, filepath.Ext(base))
	var command []string
	if runtime.NumCPU() > 2 { // such programs cannot choose their processors themselves
		command = []string{"taskset", "-c", twoProcessors()}
	}
	switch filepath.Ext(base) {
	case ".java":
		command = append(append(command, "java"), p.flags...)
		for _, d := range p.defines {
			command = append(command, "-D"+d)
		}
		classes := directory
		if p.jar != "" {
			classes += ":" + p.jar
		}
		return append(append(command, options...), "-cp", classes, "jvm."+name)
	case ".js":
		command = append(append(append(command, "node"), options...), filepath.Join(directory, base))
		return append(command, p.defines...)
	default:
		command = append(append(command, "erl"), options...)
		return append(command, "-noinput", "-pa", directory, "-s", name, "main", "-extra")
	}
}

// twoProcessors names the first two processors that this process may use.
func twoProcessors() string {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return "0,1"
	}
	var found []string
	for cpu := 0; len(found) < 2 && cpu < len(allowed)*64; cpu++ {
		if allowed.IsSet(cpu) {
			found = append(found, fmt.Sprint(cpu))
		}
	}
	return strings.Join(found, ",")
}

// removeMaps removes what runtimes have written down of their code since a moment, in a directory to which everybody
// may write: this user's files of processes that have ended.
func removeMaps(dir string, since time.Time) {
	for _, pattern := range []string{"perf-*.map", "jit-*.dump"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, name := range names {
			number := strings.TrimFunc(filepath.Base(name), func(r rune) bool { return r < '0' || r > '9' })
			process, err := strconv.Atoi(number)
			var st unix.Stat_t
			if err != nil || unix.Lstat(name, &st) != nil || int(st.Uid) != os.Geteuid() ||
				time.Unix(st.Mtim.Unix()).Before(since) || !errors.Is(unix.Kill(process, 0), unix.ESRCH) {
				continue
			}
			os.Remove(name)
		}
	}
}
