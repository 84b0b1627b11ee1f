package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"

	"whatif/internal/kerneltypes"
)

// kernelVersion informs the reader. Distributions backport features, so the other checks decide. docs/kernels.md lists
// what kernels before 6.7 lack.
func kernelVersion(root fs.FS) answer {
	release := strings.TrimSpace(read(root, "proc/sys/kernel/osrelease"))
	if atLeast(root, 6, 7) {
		return good("Linux %s", release)
	}
	return bad("where a check below fails, use Linux 6.7 or newer",
		"Linux %s is older than what whatif was made for (6.7); it works from 6.1 on, with losses", release)
}

func atLeast(root fs.FS, major, minor int) bool {
	var a, b int
	_, _ = fmt.Sscanf(read(root, "proc/sys/kernel/osrelease"), "%d.%d", &a, &b)
	return a > major || a == major && b >= minor
}

func kernelTypes(root fs.FS) answer {
	info, err := fs.Stat(root, "sys/kernel/btf/vmlinux")
	if err != nil {
		return bad("use a distribution's kernel, or build one with CONFIG_DEBUG_INFO_BTF=y",
			"the kernel does not describe its types: no /sys/kernel/btf/vmlinux")
	}
	return good("%.1f MB of kernel types", float64(info.Size())/1e6)
}

// needs makes an answer of the error of a try. since is the Linux version that introduced the feature.
func needs(err error, since, remedy string) answer {
	switch {
	case err == nil:
		return good("works")
	case permission(err):
		return bad("run whatif as root; in a container, with --privileged", "not permitted: %s", oneLine(err))
	case remedy == "":
		remedy = "this came with Linux " + since + "; use 6.7 or newer, or at least 6.1"
	}
	return bad(remedy, "%s", oneLine(err))
}

// oneLine shortens a verifier's error to its first and last line.
func oneLine(err error) string {
	if v, ok := errors.AsType[*ebpf.VerifierError](err); ok && len(v.Log) > 0 {
		return fmt.Sprintf("%v: %s", v.Cause, strings.TrimSpace(v.Log[len(v.Log)-1]))
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

func tracepoints(fs.FS) answer {
	if err := tryAll(tracepointPrograms()...); err == nil {
		return good("%d of %d", len(usedTracepoints), len(usedTracepoints))
	}
	for _, name := range usedTracepoints {
		if err := tryAll(passive(ebpf.Tracing, ebpf.AttachTraceRawTp, name)); err != nil {
			return needs(fmt.Errorf("%s: %w", name, err), "",
				"use a kernel with CONFIG_DEBUG_INFO_BTF=y, CONFIG_BPF_EVENTS=y and this tracepoint (Linux 6.1 has all)")
		}
	}
	return bad("run whatif doctor again", "they load one by one but not together")
}

func taskStorage(fs.FS) answer { return needs(tryTaskStorage(), "5.11", "") }

func ringBuffer(fs.FS) answer { return needs(features.HaveMapType(ebpf.RingBuf), "5.8", "") }

func loop(fs.FS) answer { return needs(tryLoop(), "5.17", "") }

func timer(fs.FS) answer { return needs(tryTimer(), "5.15", "") }

// pinnedTimer checks for timers that stay on their core. Without them the clock of an idle core stands still.
func pinnedTimer(fs.FS) answer {
	err := tryPinnedTimer()
	if err == nil {
		return good("works")
	}
	return bad("use Linux 6.7 or newer", "%s: the clock of an idle core stands still", oneLine(err))
}

// sourcePoints checks for progress points in the source. For these the kernel side has to find a program's mappings.
func sourcePoints(fs.FS) answer {
	types, err := kerneltypes.Get()
	if err != nil {
		return needs(err, "", "use a kernel with CONFIG_DEBUG_INFO_BTF=y")
	}
	if !types.ListsMappings() {
		return bad("use Linux 6.7 or newer, or progress points of other kinds",
			"the kernel does not tell its programs what is mapped: they cannot be counted")
	}
	return good("can be counted")
}

func jit(root fs.FS) answer {
	switch text := strings.TrimSpace(read(root, "proc/sys/net/core/bpf_jit_enable")); text {
	case "0":
		return bad("sysctl net.core.bpf_jit_enable=1", "off: every event costs the program several times as much")
	case "":
		return good("not switchable: always on")
	default:
		return good("on")
	}
}
