package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"whatif/internal/code/jvm"
	"whatif/internal/code/jvm/hotspot"
	"whatif/internal/target"
)

// javaVM is a Java virtual machine of the target. An agent in it tells of its code; without the agent it writes down
// its code when it is asked to, so it is asked as long as samples meet code without a name.
type javaVM struct {
	*jvm.VM
	agent   *javaAgent // nil: not loaded yet, or not to be had
	noAgent bool       // the names are asked for
	hadMap  bool       // somebody else had it write its code down
	unknown bool       // code without a name was met since the VM was asked
	asked   chan answered
	first   time.Time // when it was asked for the first time
	next    time.Time // when it may be asked again
	refused bool      // it cannot be asked
	// asksFirst is set until it has told of its code for the first time, or it is known that it will not.
	asksFirst bool

	methods *hotspot.Layout // of those that are interpreted; nil: not known
	read    bool            // whether they are known was looked for
}

// answered is what came of asking a VM.
type answered struct {
	took  time.Duration
	agent *jvm.Agent // nil: it has written its code down
	err   error
}

const (
	// A VM is asked again when most of the new code of the last time has settled, and so rarely that it costs a fiftieth
	// of a core at most.
	askAgain   = 300 * time.Millisecond
	askedParts = 50
	// askSoon is when a VM is asked again that has only begun: it is ready after some tenths of a second.
	askSoon = 50 * time.Millisecond
	// startsWithin is how long a VM may take to be ready for being asked.
	startsWithin = 10 * time.Second
)

// javaOf tells whether a process is a Java virtual machine; nil: it is none.
func (g *generated) javaOf(process int) *javaVM {
	maps, err := target.Maps(process)
	if err != nil {
		return nil
	}
	for _, m := range maps {
		if filepath.Base(m.Path) != "libjvm.so" {
			continue
		}
		vm, err := jvm.Open(process)
		if err != nil {
			return nil
		}
		if g.noAgent {
			g.doubt("--java-agent off: the units of Java VMs are methods, not lines")
		}
		return &javaVM{VM: vm, hadMap: vm.HasMap(), noAgent: g.noAgent, asksFirst: true}
	}
	return nil
}

// isAwaited tells whether the VM's agent is about to tell of its code. Until then the kernel side gets no answer about
// code without a name: the code would belong to no unit, and experiments would delay too little for it. A VM that does
// not answer is given up after startsWithin, or the samples at its code would be lost for the whole run.
func (j *javaVM) isAwaited() bool {
	late := !j.first.IsZero() && time.Since(j.first) > startsWithin
	return j.asksFirst && !late && !j.noAgent && !j.refused && (j.agent == nil || !j.agent.toldAll)
}

// followJava asks a VM for its code, and takes in what it has told; changed reports whether the table may have changed.
// It does not wait: a VM may take long to answer.
func (g *generated) followJava(m *maker) (changed bool) {
	j := m.java
	if j.agent != nil {
		return g.followAgent(m)
	}
	if j.asked != nil {
		select {
		case a := <-j.asked:
			j.asked, j.next = nil, time.Now().Add(max(askAgain, askedParts*a.took))
			g.takeJava(m, a)
		default:
			return false
		}
	}
	if !j.unknown || j.refused || time.Now().Before(j.next) {
		return false
	}
	if j.first.IsZero() {
		j.first = time.Now()
	}
	j.unknown, j.asked = false, make(chan answered, 1)
	go func(vm *jvm.VM, load bool, done chan<- answered) {
		begun := time.Now()
		var a answered
		if load {
			a.agent, a.err = vm.Load()
		} else {
			a.err = vm.WriteMap()
		}
		a.took = time.Since(begun)
		done <- a
	}(j.VM, !j.noAgent, j.asked)
	return false
}

// takeJava takes in a VM's answer. What it writes down is read from the beginning: it writes all of it anew.
func (g *generated) takeJava(m *maker, a answered) {
	j := m.java
	switch {
	case a.agent != nil:
		m.forgetFile()
		j.agent = newJavaAgent(a.agent, m.table)
		g.ask(m, jvm.AllCode)
		g.ask(m, jvm.FlushCode)
	case a.err == nil:
		m.forgetFile()
		m.missed, m.looked = 0, time.Time{}
	case errors.Is(a.err, jvm.ErrEnded):
		j.refused = true
	case errors.Is(a.err, jvm.ErrSilent), errors.Is(a.err, jvm.ErrEarly) && time.Since(j.first) < startsWithin:
		j.unknown, j.next = true, time.Now().Add(askAgain)
		if errors.Is(a.err, jvm.ErrEarly) {
			j.next = time.Now().Add(askSoon)
		}
		g.log.Debug(a.err.Error())
	case j.noAgent || errors.Is(a.err, jvm.ErrDisabled):
		j.refused = true
		g.doubt(fmt.Sprintf("%v: its methods have no names, and are no units", a.err))
	default:
		j.noAgent, j.unknown, j.next = true, true, time.Time{}
		g.doubt(fmt.Sprintf("%v: its units are methods, not lines", a.err))
	}
}

// doubt remembers a warning. What a VM has answered may be in it, and that can be anything.
func (g *generated) doubt(text string) {
	if len(text) > longestDoubt {
		text = strings.ToValidUTF8(text[:longestDoubt], "") + "…"
	}
	if text = strings.ReplaceAll(text, "\n", "; "); len(g.doubts) < mostDoubts {
		g.doubts = append(g.doubts, text)
	}
}

const (
	longestDoubt = 500 // bytes
	mostDoubts   = 100 // that are not told yet
)

// javaDoubts gives each warning about Java VMs once.
func (g *generated) javaDoubts() (texts []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	texts, g.doubts = g.doubts, nil
	return texts
}

// dropAgent ends the agent. The VM is not asked any more.
func (j *javaVM) dropAgent() {
	j.agent.close()
	j.agent.hotspot.Close()
	j.agent, j.refused = nil, true
}

// lastAnswer is how long whatif waits at its end for a VM that is being asked.
const lastAnswer = time.Second

// forgetJava ends the agent in a VM, or removes what the VM has written only because whatif asked it to.
func (g *generated) forgetJava(m *maker) {
	j := m.java
	if j == nil {
		return
	}
	m.java = nil
	if j.agent != nil {
		j.dropAgent()
	}
	if j.asked != nil {
		giveUp := time.AfterFunc(lastAnswer, j.Abandon)
		if a := <-j.asked; a.agent != nil {
			a.agent.Close()
		}
		giveUp.Stop()
	}
	if j.noAgent && !j.hadMap {
		if err := j.RemoveMap(); err != nil && !errors.Is(err, os.ErrNotExist) {
			g.log.Debug("removing the names of a Java VM's code", "process", m.process, "error", err)
		}
	}
	j.Close()
}
