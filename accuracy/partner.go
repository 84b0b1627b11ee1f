package main

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// startPartner starts a program's partner, "NAME client", which waits until the program runs. stop ends the partner and
// returns the processor time that it used, without that of its children, which [reapOrphans] counts.
func startPartner(ctx context.Context, binary string) (stop func() time.Duration, err error) {
	cmd := exec.CommandContext(ctx, binary, "client")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the clients of %s: %w", binary, err)
	}
	return func() time.Duration {
		// The signal is for the whole group. It is no error if the group has ended with the program, and the partner's
		// exit status means nothing.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}, nil
}
