// Package bpf is the kernel side of whatif, compiled: the programs' objects and
// the Go types generated from shared.h. It is committed, so that building needs
// only Go; go generate makes it anew and needs clang and libbpf's headers.
package bpf

//go:generate go tool -modfile=../tools.mod bpf2go -type record -type record_thread -type record_place -type record_stack -type record_core -type recorded_process -target amd64,arm64 Record record.bpf.c -- -O2 -Wall -Werror -idirafter /usr/include/x86_64-linux-gnu -idirafter /usr/include/aarch64-linux-gnu
//go:generate go tool -modfile=../tools.mod bpf2go -type event -type name_answer -type choice -type process -type core -type waits -type rule -type row -target amd64,arm64 Ledger whatif.bpf.c -- -O2 -Wall -Werror -idirafter /usr/include/x86_64-linux-gnu -idirafter /usr/include/aarch64-linux-gnu
