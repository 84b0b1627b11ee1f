package target

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"sync"
)

// AsOwner calls f, which opens files, with the rights of a user, the owner of a file. A whatif without root's
// rights cannot have others', and simply calls it. Only f's own thread has them, so f must not start goroutines.
func AsOwner(uid uint32, f func() error) error {
	if os.Geteuid() != 0 || uid == 0 {
		return f()
	}
	return withRightsOf(owner(uid), fmt.Sprintf("taking the rights of user %d", uid), f)
}

var owners sync.Map // uid → User

// owner is a user with the groups that the user database says. Files of containers belong to users that are
// not in it, and have no groups then. No program is asked, as LookupUser does: it may take long, and files are
// opened while others wait.
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
