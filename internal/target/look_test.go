package target

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"whatif/internal/hint"
)

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) {
		if err := os.WriteFile(dir+"/"+name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("plain.py", "print(1)\n", 0o644)
	write("noline", "echo hello\n", 0o755)
	write("empty", "", 0o755)
	write("binary", "\x00\x01\x02", 0o755)
	const armHeader = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xf3\x01\x01\x00\x00\x00"
	write("arm", armHeader+strings.Repeat("\x00", 40), 0o755)
	write("dos", "#!/bin/sh\r\necho\r\n", 0o755)
	write("lost", "#!/no/such/python3 -u\n", 0o755)
	write("server", "#!/bin/sh\n", 0o755)
	write("busy", "#!/bin/sh\n", 0o755)
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv("SUDO_UID", "")
	for _, test := range []struct {
		name, why, hint string
		status          int
	}{
		{"no-such-program-anywhere", "not found in PATH", "PATH is", 127},
		{"serverr", "not found in PATH", "did you mean server?", 127},
		{"esrver", "not found in PATH", "did you mean server?", 127},
		{dir + "/serve", "no such file or directory", "did you mean " + dir + "/server?", 127},
		{dir + "/plain.py", "permission denied", "python3 " + dir + "/plain.py", 126},
		{"plain.py", "permission denied", "chmod +x", 126},
		{dir, "is a directory", "inside", 126},
		{dir + "/server/x", "not a directory", "check", 127},
		{dir + "/noline", "script without a #! line", "whatif run -- sh ", 126},
		{"noline", "script without a #! line", "whatif run -- sh noline", 126},
		{dir + "/empty", "empty file", "build", 126},
		{dir + "/binary", "not a Linux program", "native", 126},
		{dir + "/arm", "it is built for", "this machine", 126},
		{dir + "/dos", `its interpreter "/bin/sh\r"`, "CR LF", 126},
		{dir + "/lost", `its interpreter "/no/such/python3"`, "install", 126},
		{"", "empty", "PROGRAM", 127},
	} {
		p, err := Start(Config{Args: []string{test.name}})
		if err == nil {
			p.Close()
			t.Errorf("%s: started", test.name)
			continue
		}
		text := err.Error()
		if !strings.HasPrefix(text, "starting "+test.name+": ") || !strings.Contains(text, test.why) ||
			strings.Contains(text, "\n") {
			t.Errorf("%s: error %q, want %q in it", test.name, text, test.why)
		}
		if got := hint.Of(err); !strings.Contains(got, test.hint) {
			t.Errorf("%s: hint %q, want %q in it", test.name, got, test.hint)
		}
		if e, ok := errors.AsType[*NotExecuted](err); !ok || e.Status != test.status {
			t.Errorf("%s: %+v, want status %d", test.name, e, test.status)
		}
	}
	if _, err := Start(Config{}); err == nil || hint.Of(err) == "" {
		t.Errorf("no arguments: %v", err)
	}
	if _, err := Start(Config{Args: []string{"true", "a\x00b"}}); err == nil {
		t.Error("NUL in an argument")
	}
}

func TestBusyProgram(t *testing.T) {
	path := t.TempDir() + "/busy"
	text, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(text); err != nil {
		t.Fatal(err)
	}
	_, err = Start(Config{Args: []string{path}})
	if err == nil || !strings.Contains(err.Error(), syscall.ETXTBSY.Error()) || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
}

// As in a shell, a file that may not be executed does not hide a later one in PATH.
func TestPathOrder(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for dir, mode := range map[string]os.FileMode{first: 0o644, second: 0o755} {
		if err := os.WriteFile(dir+"/prog", []byte("#!/bin/sh\necho from "+dir+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	path := "PATH=/no/such:" + first + ":" + second + ":/usr/bin:/bin"
	out, _ := run(t, Config{Args: []string{"prog"}, Env: []string{path}})
	if out != "from "+second+"\n" {
		t.Errorf("%q", out)
	}
	// An empty part of PATH is the working directory.
	out, _ = run(t, Config{Args: []string{"prog"}, Dir: second, Env: []string{"PATH=:/usr/bin:/bin"}})
	if out != "from "+second+"\n" {
		t.Errorf("%q", out)
	}
}

func TestScript(t *testing.T) {
	out, state := run(t, Config{Args: []string{script(t, "s", "#!/bin/sh -e\necho $1 $#\nexit 4\n"), "a", "b c"}})
	if out != "a 2\n" || state.Status != 4 {
		t.Errorf("%q %+v", out, state)
	}
}

func TestOneSlip(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{"server", "serer"}: true, {"serer", "server"}: true, {"server", "sevrer"}: true, {"server", "sarver"}: true,
		{"server", "server"}: false, {"server", "servants"}: false, {"ab", "ac"}: false, {"server", "xerverx"}: false,
	} {
		if got := oneSlip(pair[0], pair[1]); got != want {
			t.Errorf("%v: %v", pair, got)
		}
	}
}
