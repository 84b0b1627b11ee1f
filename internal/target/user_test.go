package target

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"whatif/internal/hint"
)

const nobody = 65534

func TestOtherUser(t *testing.T) {
	needRoot(t)
	status, _ := run(t, Config{Args: []string{"cat", "/proc/self/status"}, User: "nobody", Dir: "/"})
	if got := strings.Fields(field(t, status, "Uid")); strings.Join(got, " ") != "65534 65534 65534 65534" {
		t.Errorf("uid %v", got)
	}
	if got := strings.Fields(field(t, status, "Gid")); strings.Join(got, " ") != "65534 65534 65534 65534" {
		t.Errorf("gid %v", got)
	}
	if got := field(t, status, "Groups"); got != "65534" {
		t.Errorf("groups %q", got)
	}
	noCapabilities(t, status)
	if got := field(t, status, "TracerPid"); got != "0" {
		t.Errorf("tracer %s", got)
	}
}

func noCapabilities(t *testing.T, status string) {
	t.Helper()
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if got := field(t, status, set); got != "0000000000000000" {
			t.Errorf("%s %s", set, got)
		}
	}
}

func TestUnderSudo(t *testing.T) {
	needRoot(t)
	t.Setenv("SUDO_UID", "65534")
	t.Setenv("SUDO_GID", "1")
	t.Setenv("SUDO_USER", "nobody")
	t.Setenv("HOME", "/root")
	t.Setenv("USER", "root")
	t.Setenv("LOGNAME", "root")
	u, ok, err := InvokingUser()
	if err != nil || !ok || u.UID != nobody || u.GID != 1 || u.Name != "nobody" {
		t.Errorf("%+v, %v, %v", u, ok, err)
	}
	out, _ := run(t, Config{Args: []string{"sh", "-c", "id -u; id -g; echo $HOME $USER $LOGNAME $SUDO_UID"}, Dir: "/"})
	if out != "65534\n1\n/nonexistent nobody nobody 65534\n" {
		t.Errorf("%q", out)
	}
	out, _ = run(t, Config{Args: []string{"id", "-u"}, User: "root"})
	if out != "0\n" {
		t.Errorf("--user root: %q", out)
	}
}

func TestNotUnderSudo(t *testing.T) {
	for _, name := range []string{"SUDO_UID", "PKEXEC_UID", "DOAS_USER"} {
		t.Setenv(name, "")
	}
	if u, ok, err := InvokingUser(); ok || err != nil {
		t.Errorf("%+v, %v, %v", u, ok, err)
	}
}

// TestFurtherGroups checks that the groups count which the program id prints. A user of LDAP, for example, is in no
// group of /etc/group.
func TestFurtherGroups(t *testing.T) {
	dir := t.TempDir()
	id := []byte("#!/bin/sh\n[ \"$*\" = '-G -- nobody' ] && echo 65534 4711 4712\n")
	if err := os.WriteFile(dir+"/id", id, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	groups.Clear()
	defer groups.Clear()
	u, err := LookupUser("nobody")
	if err != nil {
		t.Fatal(err)
	}
	for _, gid := range []uint32{65534, 4711, 4712} {
		first := slices.Index(u.Groups, gid)
		if first < 0 || slices.Contains(u.Groups[first+1:], gid) {
			t.Errorf("group %d is not once in %v", gid, u.Groups)
		}
	}
}

func TestUnknownUsers(t *testing.T) {
	if _, err := LookupUser("no-such-user"); err == nil || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
	// The program would run as root.
	if _, err := LookupUser("4294967295"); err == nil || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
	for _, u := range []User{{UID: noUser, GID: nobody}, {UID: nobody, GID: noUser}} {
		if err := become(u); !errors.Is(err, unix.EINVAL) {
			t.Errorf("%+v: %v", u, err)
		}
	}
	u, err := LookupUser("123456")
	if err != nil || u.UID != 123456 || u.GID != nobodysGroup || len(u.Groups) != 0 {
		t.Errorf("%+v, %v", u, err)
	}
}

// A file or directory that only root may enter gives an error with a hint for the program's user.
func TestDeniedToTheUser(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/prog", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Start(Config{Args: []string{dir + "/prog"}, User: "nobody", Dir: "/"})
	if err == nil || !strings.Contains(hint.Of(err), "nobody may not execute") {
		t.Errorf("%v; %s", err, hint.Of(err))
	}
	_, err = Start(Config{Args: []string{"true"}, User: "nobody", Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "changing to "+dir+": permission denied") {
		t.Errorf("%v", err)
	}
	// In PATH the next directory is tried.
	path := "PATH=" + dir + ":/usr/bin:/bin"
	out, _ := run(t, Config{Args: []string{"id", "-u"}, User: "nobody", Dir: "/", Env: []string{path}})
	if out != "65534\n" {
		t.Errorf("%q", out)
	}
}

// A set-user-ID program keeps its privilege, although it is traced up to its start.
func TestSetUserIDProgram(t *testing.T) {
	needRoot(t)
	dir, err := os.MkdirTemp("/var/tmp", "whatif")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) == nil && fs.Flags&unix.ST_NOSUID != 0 {
		t.Skip("/var/tmp is mounted nosuid")
	}
	for _, args := range [][]string{
		{"cp", "/usr/bin/id", dir + "/id"}, {"chmod", "4755", dir + "/id"}, {"chmod", "755", dir},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	out, _ := run(t, Config{Args: []string{dir + "/id", "-u"}, User: "nobody", Dir: "/"})
	if out != "0\n" {
		t.Errorf("effective user %q", out)
	}
}

// An ordinary user runs a whatif with file capabilities.
func TestFileCapabilities(t *testing.T) {
	needRoot(t)
	if _, err := exec.LookPath("setcap"); err != nil {
		t.Skip("needs setcap")
	}
	dir, err := os.MkdirTemp("/var/tmp", "whatif")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	self := whatifPath(t)
	for _, args := range [][]string{
		{"cp", self, dir + "/whatif"}, {"chmod", "755", dir, dir + "/whatif"},
		{"setcap", "cap_bpf,cap_perfmon,cap_sys_ptrace=ep", dir + "/whatif"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("%v: %v: %s", args, err, out)
		}
	}
	cmd := exec.Command(dir+"/whatif", "cat", "/proc/self/status")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	noCapabilities(t, string(out))
	if got := field(t, string(out), "Uid"); !strings.HasPrefix(got, "65534") {
		t.Errorf("uid %s", got)
	}
}

// whatif has its capabilities as ambient ones (systemd's AmbientCapabilities=). The program does not inherit those that
// whatif needs, but does inherit others.
func TestAmbientCapabilities(t *testing.T) {
	needRoot(t)
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("needs setpriv")
	}
	caps := "+bpf,+perfmon,+sys_ptrace,+net_bind_service"
	cmd := exec.Command("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
		"--inh-caps="+caps, "--ambient-caps="+caps, whatifPath(t), "cat", "/proc/self/status")
	cmd.Dir = "/"
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if got := field(t, string(out), set); got != "0000000000000400" { // cap_net_bind_service
			t.Errorf("%s %s", set, got)
		}
	}
}

func TestOtherUserWithoutTheRight(t *testing.T) {
	err := explain("true", &spec{User: &User{Name: "daemon"}}, failure{Step: stepUser, Errno: unix.EPERM})
	if _, ok := errors.AsType[*NotExecuted](err); ok {
		t.Errorf("%v is told as the program's failure", err)
	}
	if !strings.Contains(err.Error(), "becoming user daemon: operation not permitted") || hint.Of(err) == "" {
		t.Errorf("%v", err)
	}
}
