package target

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

// explain makes an error with a hint of what the stage reports.
func explain(name string, s *spec, f failure) error {
	switch f.Step {
	case stepExec:
		// A script counts as found even if its interpreter is missing.
		path := within(string(s.Dir), string(f.Path))
		return notExecuted(explainExec(name, path, s, f), !missing(f.Errno) || startable(path) == nil)
	case stepUser:
		return hint.New(fmt.Errorf("becoming user %s: %w", s.User.Name, f.Errno),
			"only root may run a program as another user: use sudo, or leave out --user")
	case stepDir:
		return hint.New(fmt.Errorf("changing to %s: %w", f.Path, f.Errno),
			"choose a directory that the program's user may enter")
	}
	return fmt.Errorf("%s: %w", f.Step, f.Errno)
}

func explainExec(name, path string, s *spec, f failure) error {
	err := error(f.Errno)
	if string(f.Path) != name {
		err = fmt.Errorf("%s: %w", f.Path, f.Errno)
	}
	switch f.Errno {
	case unix.ENOEXEC:
		why, remedy := unloadable(path, name)
		return hint.New(fmt.Errorf("%s: %w", why, f.Errno), remedy)
	case unix.ENOENT:
		if interpreter := interpreterOf(path); interpreter != "" {
			return hint.New(fmt.Errorf("its interpreter %q: %w", interpreter, f.Errno), missingInterpreter(interpreter))
		}
	case unix.EACCES:
		return hint.New(err, deniedRemedy(path, s.User))
	case unix.ETXTBSY:
		return hint.New(err, "somebody has it open for writing: wait until it is written, or copy it")
	case unix.E2BIG:
		return hint.New(err, "its arguments and environment are longer than the kernel allows (see getconf ARG_MAX)")
	}
	return hint.New(err, remedyFor(f.Errno, path, name))
}

// openProgram opens the file of a program that could not be started, to see why. whatif has the rights of the user that
// called sudo meanwhile. By now another file may have the name: a device, which has to be left alone, or a pipe on
// which whatif would wait.
func openProgram(path string) (f *os.File, err error) {
	err = AsInvokingUser(func() error {
		fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return err
		}
		if st.Mode&unix.S_IFMT != unix.S_IFREG {
			return unix.EACCES
		}
		f, err = os.Open(fmt.Sprintf("/proc/self/fd/%d", fd))
		return err
	})
	return f, err
}

// unloadable says why the kernel does not accept a file as a program.
func unloadable(path, name string) (why, remedy string) {
	f, err := openProgram(path)
	if err != nil {
		return "the kernel cannot load it", ""
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	switch {
	case n == 0:
		return "it is an empty file", "build it again"
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return unloadableELF(f)
	case bytes.IndexByte(head, 0) < 0:
		with := interpreterFor(name)
		if with == "" {
			with = "sh"
		}
		return "it is a script without a #! line", fmt.Sprintf("name its interpreter: whatif run -- %s %s", with, name)
	}
	return "it is not a Linux program", "whatif profiles native Linux programs; name the one that runs this file"
}

func unloadableELF(r io.ReaderAt) (why, remedy string) {
	f, err := elfWithoutSections(r)
	if err != nil {
		return "it is a damaged ELF file", "build it again"
	}
	native := map[string]elf.Machine{
		"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV,
	}[runtime.GOARCH]
	switch {
	case f.Machine != native:
		return fmt.Sprintf("it is built for %v, this machine is %v", f.Machine, native), "build it for this machine"
	case f.Type == elf.ET_REL:
		return "it is an object file", "link it to a program first"
	}
	return "the kernel cannot load this ELF file", "build it again"
}

// sectionFields are where the header of an ELF file tells of its sections, for each class: from, to.
var sectionFields = map[elf.Class][][2]int{
	elf.ELFCLASS32: {{32, 36}, {48, 52}},
	elf.ELFCLASS64: {{40, 48}, {60, 64}},
}

// elfWithoutSections reads the headers of a program, as the kernel does: without those of sections. A file may state
// more of these than fit into memory, and be a hole.
func elfWithoutSections(r io.ReaderAt) (*elf.File, error) {
	head := make([]byte, 64)
	n, err := r.ReadAt(head, 0)
	if n < len(head) {
		return nil, fmt.Errorf("reading the header: %w", err)
	}
	for _, at := range sectionFields[elf.Class(head[elf.EI_CLASS])] {
		clear(head[at[0]:at[1]])
	}
	return elf.NewFile(&headed{head, r})
}

// headed reads a file with another beginning.
type headed struct {
	head []byte
	rest io.ReaderAt
}

func (h *headed) ReadAt(p []byte, off int64) (n int, err error) {
	n, err = h.rest.ReadAt(p, off)
	if off < int64(len(h.head)) {
		copy(p[:n], h.head[off:])
	}
	return n, err
}

// interpreterOf is the program that the kernel starts instead of the file: the one after #!, or the dynamic linker; ""
// if the file names neither.
func interpreterOf(path string) string {
	file, err := openProgram(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	if f, err := elfWithoutSections(file); err == nil {
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP && p.Filesz < unix.PathMax {
				text, _ := io.ReadAll(p.Open())
				return strings.TrimRight(string(text), "\x00")
			}
		}
		return ""
	}
	head := make([]byte, 256) // BINPRM_BUF_SIZE
	n, _ := io.ReadFull(file, head)
	line, ok := bytes.CutPrefix(head[:n], []byte("#!"))
	if !ok {
		return ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	line = bytes.TrimLeft(line, " \t")
	if at := bytes.IndexAny(line, " \t"); at >= 0 {
		line = line[:at]
	}
	return string(line)
}

func missingInterpreter(interpreter string) string {
	switch {
	case strings.HasSuffix(interpreter, "\r"):
		return "its lines end in CR LF: convert it with sed -i 's/\\r$//'"
	case strings.Contains(interpreter, "ld-musl"):
		return "it was built for musl: install musl, or build it for this system's libc"
	case strings.Contains(interpreter, "/ld-"):
		return "it was built for another system's libc: build it here, or link it statically"
	}
	return "install the interpreter or correct the #! line"
}

func deniedRemedy(path string, u *User) string {
	var fs unix.Statfs_t
	switch {
	case startable(path) != nil:
		return remedyFor(startable(path), path, path)
	case unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_NOEXEC != 0:
		return "its file system is mounted noexec: copy it elsewhere"
	case u != nil:
		return fmt.Sprintf("user %s may not execute it: give that user the right, "+
			"or choose another with --user (--user root)", u.Name)
	}
	return "a directory on its path, or its interpreter, is not accessible"
}

func endOf(ws unix.WaitStatus) string {
	if ws.Signaled() {
		return "killed by " + signalName(ws.Signal())
	}
	return "gone"
}

func signalName(sig syscall.Signal) string {
	if name := unix.SignalName(sig); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(sig))
}
