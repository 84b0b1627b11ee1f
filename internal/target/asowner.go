package target

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"sync"
)

// AsOwner calls f, which opens files, with the rights of user uid, the owner of a file. Without root's rights whatif
// cannot take another user's, and calls f with its own. Only the thread that calls f has these rights, so f must not
// start goroutines.
func AsOwner(uid uint32, f func() error) error {
	if os.Geteuid() != 0 || uid == 0 {
		return f()
	}
	return withRightsOf(owner(uid), fmt.Sprintf("taking the rights of user %d", uid), f)
}

var owners sync.Map // uid → User

// owner is a user with the groups of the user database. Files of containers belong to users that the database does not
// have; such a user has no groups. Unlike LookupUser it runs no program, because that may take long, and whatif opens
// files while other work waits.
func owner(uid uint32) User {
	if u, known := owners.Load(uid); known {
		return u.(User)
	}
	u := User{UID: uid, GID: nobodysGroup}
	if entry, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		if known, err := fromEntry(entry); err == nil {
			u = known
		}
	}
	owners.Store(uid, u)
	return u
}
