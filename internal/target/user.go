package target

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"

	"whatif/internal/hint"
)

// A User is a user of the system, with what a program needs that runs as this user.
type User struct {
	Name   string // the number if the user has no name
	UID    uint32
	GID    uint32
	Groups []uint32 // supplementary
	Home   string   // "" if unknown
}

// nobodysGroup is the group of a user id that is not in the user database. A gid equal to the uid could be a group with
// privileges.
const nobodysGroup = 65534

// InvokingUser returns the user for whom whatif runs with root's rights: the one who called sudo, doas or pkexec. ok is
// false if there is none, or if that user is root.
func InvokingUser() (u User, ok bool, err error) {
	if os.Geteuid() != 0 {
		return User{}, false, nil
	}
	key := invoker(os.Getenv)
	if key == "" {
		return User{}, false, nil
	}
	if u, err = LookupUser(key); err != nil {
		return User{}, false, fmt.Errorf("finding the user who called whatif: %w", err)
	}
	if gid, err := strconv.ParseUint(os.Getenv("SUDO_GID"), 10, 32); err == nil && key == os.Getenv("SUDO_UID") {
		u.GID = uint32(gid)
	}
	return u, u.UID != 0, nil
}

// invoker is the name or number of the user who called sudo, doas or pkexec; "" if there is none.
func invoker(getenv func(string) string) string {
	for _, name := range []string{"SUDO_UID", "PKEXEC_UID", "DOAS_USER"} {
		if key := getenv(name); key != "" {
			return key
		}
	}
	return ""
}

// noUser is the number that no user or group has: to the system calls that change a process's user or group it means
// "leave it as it is".
const noUser = 1<<32 - 1

// LookupUser finds a user by name or number. A number need not be in the user database.
func LookupUser(key string) (User, error) {
	id, numErr := strconv.ParseUint(key, 10, 32)
	if numErr == nil && id == noUser {
		return User{}, hint.New(fmt.Errorf("looking up user %q: no user can have this number", key),
			"give a name from /etc/passwd or a numeric user id")
	}
	var entry *user.User
	var err error
	if numErr == nil {
		entry, err = user.LookupId(key)
	} else {
		entry, err = user.Lookup(key)
	}
	if err != nil {
		// Without cgo, os/user only reads files; getent also asks LDAP and other services.
		entry, err = getent(key)
	}
	switch {
	case err == nil:
		return fromEntry(entry, furtherGroups(entry.Username)...)
	case numErr == nil:
		return User{Name: key, UID: uint32(id), GID: nobodysGroup}, nil
	}
	return User{}, hint.New(fmt.Errorf("looking up user %q: no such user", key),
		"give a name from /etc/passwd or a numeric user id")
}

// fromEntry makes a User of an entry of the user database, with the groups in /etc/group and further ones.
func fromEntry(entry *user.User, further ...string) (User, error) {
	uid, err := strconv.ParseUint(entry.Uid, 10, 32)
	if err != nil {
		return User{}, fmt.Errorf("looking up user %q: %w", entry.Username, err)
	}
	gid, err := strconv.ParseUint(entry.Gid, 10, 32)
	if err != nil {
		return User{}, fmt.Errorf("looking up user %q: %w", entry.Username, err)
	}
	u := User{Name: entry.Username, UID: uint32(uid), GID: uint32(gid), Home: entry.HomeDir}
	ids, err := entry.GroupIds()
	if err != nil {
		return User{}, fmt.Errorf("looking up the groups of user %q: %w", entry.Username, err)
	}
	for _, id := range slices.Concat(ids, further) {
		if gid, err := strconv.ParseUint(id, 10, 32); err == nil && !slices.Contains(u.Groups, uint32(gid)) {
			u.Groups = append(u.Groups, uint32(gid))
		}
	}
	return u, nil
}

// furtherGroups lists a user's groups by the program id, which asks LDAP and other services. Without cgo, os/user only
// reads /etc/group.
func furtherGroups(name string) []string {
	if known, ok := groups.Load(name); ok {
		return known.([]string)
	}
	out, err := exec.Command("id", "-G", "--", name).Output()
	if err != nil {
		out = nil // no such program, or it does not know the user either
	}
	ids := strings.Fields(string(out))
	groups.Store(name, ids)
	return ids
}

var groups sync.Map // user name → group ids, []string

func getent(key string) (*user.User, error) {
	out, err := exec.Command("getent", "passwd", key).Output()
	if err != nil {
		return nil, fmt.Errorf("asking getent for user %q: %w", key, err)
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\n"), ":")
	if len(fields) != 7 {
		return nil, errors.New("asking getent: not a passwd line")
	}
	return &user.User{Username: fields[0], Uid: fields[2], Gid: fields[3], HomeDir: fields[5]}, nil
}

// ProgramUser is the user that a program runs as which Start gets this Config.User for.
func ProgramUser(name string) (User, error) {
	u, err := programUser(name)
	if err != nil || u == nil {
		return User{UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}, err
	}
	return *u, nil
}

// programUser is the user that the program runs as; nil: whatif's own.
func programUser(name string) (*User, error) {
	if name == "" {
		u, ok, err := InvokingUser()
		if err != nil || !ok {
			return nil, err
		}
		return &u, nil
	}
	u, err := LookupUser(name)
	if err != nil {
		return nil, err
	}
	if int(u.UID) == os.Geteuid() && os.Getuid() == os.Geteuid() {
		return nil, nil
	}
	return &u, nil
}

// environmentFor corrects the variables that sudo has changed, so that they name the user that the program runs as.
func environmentFor(env []string, u *User) []string {
	if u == nil {
		return env
	}
	set := map[string]string{"USER": u.Name, "LOGNAME": u.Name}
	if u.Home != "" {
		set["HOME"] = u.Home
	}
	out := make([]string, 0, len(env))
	for _, entry := range env {
		key, _, _ := strings.Cut(entry, "=")
		if key == "MAIL" {
			entry = "MAIL=/var/mail/" + u.Name
		}
		if value, ok := set[key]; ok {
			entry = key + "=" + value
		}
		out = append(out, entry)
	}
	return out
}
