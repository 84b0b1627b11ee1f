// Guest is the init process of a virtual machine that is booted to find out what whatif can do on its kernel. It makes
// one trial after the other, writes all output and a line for each result to the console, and switches the machine off.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"whatif/accuracy/kernels/internal/said"
)

func main() {
	if err := mount(); err != nil {
		said.Write(os.Stdout, said.Result{Name: "mount", Text: err.Error()})
	}
	only := os.Getenv("TRIALS") // from the kernel's command line
	for _, t := range trials() {
		if asked := slices.Contains(strings.Split(only, ","), t.name); !asked && (only != "" || t.name == refused) {
			continue
		}
		result := said.Result{Name: t.name}
		var err error
		if result.Text, err = t.try(); err != nil {
			result.Text = err.Error()
		} else {
			result.OK = true
		}
		said.Write(os.Stdout, result)
	}
	said.Write(os.Stdout, complaints())
	said.WriteEnd(os.Stdout)
	time.Sleep(200 * time.Millisecond) // the console is slow
	unix.Sync()
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
}

// mount mounts the file systems that whatif and Go programs use. tracefs is left out, because whatif has to work
// without it.
func mount() error {
	var errs []error
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}, {"cgroup2", "/sys/fs/cgroup"},
	} {
		_ = os.MkdirAll(m.at, 0o755)
		if err := unix.Mount(m.kind, m.at, m.kind, 0, ""); err != nil && !errors.Is(err, unix.EBUSY) {
			errs = append(errs, fmt.Errorf("mounting %s: %w", m.at, err))
		}
	}
	errs = append(errs, os.Chdir("/tmp"), os.Setenv("PATH", "/"), os.Setenv("HOME", "/tmp"))
	return errors.Join(errs...)
}

// complaints finds warnings and errors in the kernel's log. There must be none.
func complaints() said.Result {
	result := said.Result{Name: "kernel log", OK: true, Text: "nothing bad"}
	log := make([]byte, 1<<20)
	n, err := unix.Klogctl(unix.SYSLOG_ACTION_READ_ALL, log)
	if err != nil {
		return said.Result{Name: result.Name, Text: err.Error()}
	}
	for _, line := range strings.Split(string(log[:n]), "\n") {
		for _, bad := range []string{"WARNING:", "BUG:", "Oops", "lockup", "rcu: INFO", "Call Trace"} {
			if strings.Contains(line, bad) {
				fmt.Println(line)
				if result.OK {
					result.OK, result.Text = false, line
				}
			}
		}
	}
	return result
}

// output runs a command, copies its output to the console, and returns its standard output.
func output(command string, args ...string) (string, error) {
	fmt.Printf("# %s %s\n", command, strings.Join(args, " "))
	c := exec.Command("/"+command, args...)
	var out strings.Builder
	c.Stdout, c.Stderr = &out, os.Stdout
	err := c.Run()
	if out.Len() < 4000 {
		fmt.Print(out.String())
	}
	if err != nil {
		return out.String(), fmt.Errorf("%s %s: %w", command, strings.Join(args, " "), err)
	}
	return out.String(), nil
}
