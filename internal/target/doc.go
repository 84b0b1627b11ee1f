// Package target handles the profiled processes as the system sees them. It starts the program, passes signals on to
// it and waits for its end; it finds running processes, and lists what a process has mapped. It neither samples nor
// slows a process, and reads no symbols.
//
// The normal sequence:
//
//	target.Main()         // the first call of main
//	p, err := target.Start(target.Config{Args: args, User: user})
//	defer p.Close()
//	p.Forward(ctx)        // signals for the program go to the program
//	…                     // register p.PIDFD(), attach: nothing has run yet
//	err = p.Release()     // the first instruction
//	state := p.Wait()     // state.Status is what whatif exits with
//
// # How a program is started
//
// Go code cannot run between fork and exec, and Go's runtime has changed what a child would inherit. So the child first
// executes whatif's own binary again (/proc/self/exe). In this process, the stage, Main does the rest (stage.go): it
// waits until it is traced (PTRACE_SEIZE), receives a description of the program over a socket, restores what the
// program is to inherit, drops what the program must not inherit, and execs the program. Because of the trace, that
// exec stops before the first instruction (an exec-stop). Release detaches.
//
// PTRACE_TRACEME, which os/exec offers, has two faults. Its stop is a pending SIGTRAP, which kills the program if
// whatif dies at that moment. And it takes the privilege from a set-user-ID program if the user is switched. An
// exec-stop just ends when the tracer dies, and the program runs on. For the same reason there is no
// PTRACE_O_EXITKILL and no parent-death signal.
//
// # What the program inherits
//
// The program inherits what whatif got from its own parent: environment, working directory, umask, open files, resource
// limits, ignored signals, signal mask, nice value, process group, session and terminal. It does not get whatif's own
// files, nor the capabilities that whatif needs. Under sudo it runs as the user who called sudo, unless Config.User
// names another user.
//
// # Signals
//
// See Process.Forward.
package target
