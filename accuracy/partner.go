package main

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
)

// startPartner starts what a program talks to that is outside of it: "NAME client", which waits until the program is
// there. stop ends it, and gives the processor time that it used, its children's apart: those are left to [reapOrphans].
func startPartner(ctx context.Context, binary string) (stop func() time.Duration, err error) {
	cmd := exec.CommandContext(ctx, binary, "client")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the clients of %s: %w", binary, err)
	}
	return func() time.Duration {
		// The whole group; that it has ended with the program is no error, and its status tells nothing.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}, nil
}
