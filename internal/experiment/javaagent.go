package experiment

import (
	"sync"
	"time"

	"whatif/internal/code/jit"
	"whatif/internal/code/jvm"
)

// javaAgent is the connection to the agent in a Java VM. A goroutine of its own reads what the agent tells, so that
// there is always room for more; followAgent takes it in.
type javaAgent struct {
	*jvm.Agent
	hotspot *jit.HotSpot
	lost    bool      // what the agent would have told: all code has to be asked for
	again   time.Time // when that may be done

	mu      sync.Mutex
	room    sync.Cond // there is less to take in, or nothing more will be
	packets [][]byte
	bytes   int
	ended   bool
}

const (
	// mostWaiting bounds what is read and not taken in yet. If there is more, the agent drops what it would tell, and says
	// so.
	mostWaiting = 16 << 20
	// mostTaken bounds what is taken in at once, as samples wait meanwhile.
	mostTaken = 4 << 20
	// allAgain is how often all code is asked for, after records were lost.
	allAgain = time.Second
)

func newJavaAgent(a *jvm.Agent, t *jit.Table) *javaAgent {
	j := &javaAgent{Agent: a, hotspot: jit.NewHotSpot(t)}
	j.room.L = &j.mu
	go j.read()
	return j
}

// read reads until the connection ends.
func (j *javaAgent) read() {
	buffer := make([]byte, jvm.LongestPacket)
	for {
		n, err := j.Read(buffer)
		j.mu.Lock()
		for err == nil && j.bytes > mostWaiting && !j.ended {
			j.room.Wait()
		}
		if err != nil || j.ended {
			j.ended = true
			j.mu.Unlock()
			return
		}
		j.packets = append(j.packets, append([]byte(nil), buffer[:n]...))
		j.bytes += n
		j.mu.Unlock()
	}
}

// take gives what is to be taken in now; ended: nothing more will come.
func (j *javaAgent) take() (packets [][]byte, ended bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for bytes := 0; n < len(j.packets) && bytes < mostTaken; n++ {
		bytes += len(j.packets[n])
		j.bytes -= len(j.packets[n])
	}
	packets, j.packets = j.packets[:n:n], j.packets[n:]
	j.room.Signal()
	return packets, j.ended && len(j.packets) == 0
}

// close ends the agent.
func (j *javaAgent) close() {
	j.Close()
	j.mu.Lock()
	j.ended = true
	j.room.Signal()
	j.mu.Unlock()
}

// followAgent takes in what a VM's agent has told since the last time. changed reports whether the table may have
// changed.
func (t *unitTable) followAgent(m *maker) (changed bool) {
	a := m.java.agent
	packets, ended := a.take()
	lost := false
	for _, p := range packets {
		heard, err := a.hotspot.Take(p)
		changed = changed || heard.Changed
		lost = lost || heard.Lost
		if heard.Failed {
			t.log.Debug("a command of the agent has failed", "process", m.process, "command", string(heard.Done))
		}
		if err != nil {
			t.log.Debug(err.Error(), "process", m.process)
			ended = true
			break
		}
	}
	a.lost = a.lost || lost
	if now := time.Now(); a.lost && now.After(a.again) {
		a.lost, a.again = false, now.Add(allAgain)
		t.ask(m, jvm.AllCode)
	}
	if ended { // the VM, or what cannot be the agent: what it has told stays
		m.java.dropAgent()
	}
	return changed
}

// ask gives a VM's agent a command.
func (t *unitTable) ask(m *maker, command byte) {
	if err := m.java.agent.Ask(command); err != nil {
		t.log.Debug("asking the agent", "process", m.process, "error", err)
	}
}
