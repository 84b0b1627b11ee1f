// Package target owns the program under study as the system sees it: it starts
// the program, lives through it, and says what it has mapped. It neither
// samples nor slows the program, and reads no symbols.
//
// The normal sequence:
//
//	p, err := target.Start(target.Config{Args: args, User: user})
//	defer p.Close()
//	p.Forward(ctx)        // signals for the program go to the program
//	…                     // register p.PIDFD(), attach: nothing has run yet
//	err = p.Release()     // the first instruction
//	state := p.Wait()     // state.Status is what whatif exits with
//
// # How a program is started
//
// Between fork and exec Go gives no room for own code, and Go's runtime has
// changed what a child would inherit. So the child first becomes whatif
// once more (/proc/self/exe, see stage.go): this stage waits until it is
// traced (PTRACE_SEIZE), receives a description of the program over a
// socket, restores what the program is to inherit, drops what it must
// not, and only then execs the program. The trace ends that exec in an
// exec-stop, before the first instruction. Release detaches.
//
// PTRACE_TRACEME, which os/exec offers, is not good enough: its stop is a
// pending SIGTRAP, which kills the program if whatif dies at that moment, and
// it takes the privilege away from a set-user-ID program when the user is
// switched. An exec-stop simply ends when its tracer dies, and the program runs
// on. No PTRACE_O_EXITKILL, no parent-death signal.
//
// # What the program inherits
//
// What whatif itself got from its parent: environment, working directory,
// umask, open files, resource limits, ignored signals, signal mask, nice value,
// process group, session and terminal. It does not get whatif's own files, nor
// the capabilities that whatif needs. Under sudo it runs as the user who
// called sudo, unless Config.User says otherwise.
//
// # Signals
//
// See Process.Forward.
package target
