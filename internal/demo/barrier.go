package demo

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A barrier lets the two workers meet. They are threads that wake each other with futexes, like those of C programs. A
// hand-over through Go's scheduler would involve further threads.
type barrier struct {
	start word // the round that worker 2 may do
	_     [60]byte
	done  word // the round that worker 2 has done
	_     [60]byte
	stop  atomic.Uint32
}

// worker1 starts the rounds: it does A, waits for B, does C, and reports the round.
func (b *barrier) worker1(p pieces, done func()) int {
	x, n := uint64(1), uint32(0)
	for b.stop.Load() == 0 {
		n++
		b.start.publish(n)
		x = workA(p.a, x)
		b.done.await(n)
		x = workC(p.c, x)
		done()
	}
	b.start.publish(noMore)
	sink.Add(x)
	return int(n)
}

func (b *barrier) worker2(p pieces) {
	x := uint64(2)
	for n := uint32(1); b.start.await(n); n++ {
		x = workB(p.b, x)
		b.done.publish(n)
	}
	sink.Add(x)
}

// alone locks the goroutine to its thread, and blocks the signal by which the runtime preempts it: SIGURG, every 10 ms,
// with two hand-overs between threads. A worker's loop has no other point at which it yields.
func alone() {
	runtime.LockOSThread()
	mask := uint64(1) << (unix.SIGURG - 1)
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, unix.SIG_BLOCK, uintptr(unsafe.Pointer(&mask)), 0, 8, 0, 0)
}

const (
	futexWaitPrivate = 0x80
	futexWakePrivate = 0x81
)

// noMore is the word that is published after the last round.
const noMore = ^uint32(0)

// A word is a number that one thread publishes and another waits for.
type word struct{ value uint32 }

//go:nosplit
func (w *word) publish(n uint32) {
	atomic.StoreUint32(&w.value, n)
	_, _, _ = syscall.RawSyscall6(syscall.SYS_FUTEX, uintptr(unsafe.Pointer(&w.value)), futexWakePrivate, 1, 0, 0, 0)
}

// await waits until n is published; it returns false if no further round will be.
//
//go:nosplit
func (w *word) await(n uint32) bool {
	for {
		now := atomic.LoadUint32(&w.value)
		if now == n || now == noMore {
			return now == n
		}
		_, _, _ = syscall.RawSyscall6(syscall.SYS_FUTEX,
			uintptr(unsafe.Pointer(&w.value)), futexWaitPrivate, uintptr(now), 0, 0, 0)
	}
}
