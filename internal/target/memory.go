package target

import "golang.org/x/sys/unix"

// ReadMemory reads the memory of a process from an address on, as far as it is mapped, and returns how much that is.
func ReadMemory(process int, address uint64, into []byte) (int, error) {
	local := []unix.Iovec{{Base: &into[0], Len: uint64(len(into))}}
	remote := []unix.RemoteIovec{{Base: uintptr(address), Len: len(into)}}
	return unix.ProcessVMReadv(process, local, remote, 0)
}
