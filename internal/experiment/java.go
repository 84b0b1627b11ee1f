package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"whatif/internal/code/jvm"
	"whatif/internal/target"
)

// javaVM is a Java virtual machine of the target. It writes down its code when it is asked to, so it is asked as long
// as samples meet code without a name.
type javaVM struct {
	*jvm.VM
	hadMap  bool // somebody else had it write its code down
	unknown bool // code without a name was met since the VM was asked
	asked   chan answered
	next    time.Time // when it may be asked again
	refused bool      // it cannot be asked
}

// answered is what came of asking a VM.
type answered struct {
	took time.Duration
	err  error
}

const (
	// A VM is asked again when most of the new code of the last time has settled, and so rarely that it costs a fiftieth
	// of a core at most.
	askAgain   = 300 * time.Millisecond
	askedParts = 50
)

// javaOf tells whether a process is a Java virtual machine; nil: it is none.
func javaOf(process int) *javaVM {
	maps, err := target.Maps(process)
	if err != nil {
		return nil
	}
	for _, m := range maps {
		if filepath.Base(m.Path) != "libjvm.so" {
			continue
		}
		inner, err := target.InnerOf(process)
		if err != nil {
			return nil
		}
		vm, err := jvm.Open(process, inner.PID, inner.UID)
		if err != nil {
			return nil
		}
		return &javaVM{VM: vm, hadMap: vm.HasMap()}
	}
	return nil
}

// followJava asks a VM for the names of its code, and takes in that it has written them down. It does not wait: a VM
// may take long to answer.
func (t *unitTable) followJava(m *maker) {
	j := m.java
	if j.asked != nil {
		select {
		case a := <-j.asked:
			j.asked, j.next = nil, time.Now().Add(max(askAgain, askedParts*a.took))
			t.takeJava(m, a.err)
		default:
			return
		}
	}
	if !j.unknown || j.refused || time.Now().Before(j.next) {
		return
	}
	j.unknown, j.asked = false, make(chan answered, 1)
	go func(vm *jvm.VM, done chan<- answered) {
		begun := time.Now()
		err := vm.WriteMap()
		done <- answered{time.Since(begun), err}
	}(j.VM, j.asked)
}

// takeJava has the file read from its beginning: a VM writes all of it anew.
func (t *unitTable) takeJava(m *maker, err error) {
	switch {
	case err == nil:
		m.forgetFile()
		m.missed, m.looked = 0, time.Time{}
	case errors.Is(err, jvm.ErrSilent):
		t.log.Debug(err.Error())
	default:
		m.java.refused = true
		t.log.Warn(fmt.Sprintf("%v: its methods have no names, and are no units", err))
	}
}

// lastAnswer is how long whatif waits at its end for a VM that is writing.
const lastAnswer = time.Second

// forgetJava removes what a VM has written only because whatif asked it to.
func (t *unitTable) forgetJava(m *maker) {
	j := m.java
	if j == nil {
		return
	}
	m.java = nil
	if j.asked != nil {
		select {
		case <-j.asked:
		case <-time.After(lastAnswer):
			return // it is still in use
		}
	}
	if !j.hadMap {
		if err := j.RemoveMap(); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.log.Debug("removing the names of a Java VM's code", "process", m.process, "error", err)
		}
	}
	j.Close()
}
