package experiment

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"whatif/internal/code/jit"
	"whatif/internal/code/jvm"
	"whatif/internal/code/unwind"
	"whatif/internal/ledger"
	"whatif/internal/target"
)

// javaAgent is the connection to the agent in a Java VM. A goroutine of its own reads what the agent tells, so that
// there is always room for more; followAgent takes it in.
type javaAgent struct {
	*jvm.Agent
	hotspot *jit.HotSpot
	toldAll bool      // of the code that was there before it, if it could
	lost    bool      // what the agent would have told: all code has to be asked for
	again   time.Time // when that may be done
	flushed bool      // code that the VM could throw away all at once is compiled anew
	tried   map[string]bool
	flush   []uint64 // methods; the code of their classes is to be compiled anew

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
	// packetCost is what a packet takes besides its bytes: it may have a single one.
	packetCost = 64
	// allAgain is how often all code is asked for, after records were lost.
	allAgain = time.Second
)

func newJavaAgent(a *jvm.Agent, t *jit.Table) *javaAgent {
	j := &javaAgent{Agent: a, hotspot: jit.NewHotSpot(t), tried: make(map[string]bool)}
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
		j.bytes += n + packetCost
		j.mu.Unlock()
	}
}

// take gives what is to be taken in now; ended: nothing more will come.
func (j *javaAgent) take() (packets [][]byte, ended bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := 0
	for bytes := 0; n < len(j.packets) && bytes < mostTaken; n++ {
		bytes += len(j.packets[n]) + packetCost
	}
	for _, p := range j.packets[:n] {
		j.bytes -= len(p) + packetCost
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
func (g *generated) followAgent(m *maker) (changed bool) {
	a := m.java.agent
	packets, ended := a.take()
	lost := false
	for _, p := range packets {
		heard, err := a.hotspot.Take(p)
		changed = changed || heard.Changed
		lost = lost || heard.Lost
		switch heard.Done {
		case jvm.AllCode:
			a.toldAll = true
		case jvm.FlushCode:
			g.forgetBlunt(m)
		}
		if heard.Failed {
			g.log.Debug("a command of the agent has failed", "process", m.process, "command", string(heard.Done))
		}
		if err != nil {
			g.log.Debug(err.Error(), "process", m.process)
			ended = true
			break
		}
	}
	a.lost = a.lost || lost
	if now := time.Now(); a.lost && now.After(a.again) {
		a.lost, a.again = false, now.Add(allAgain)
		g.ask(m, jvm.AllCode)
	}
	if len(a.flush) > 0 {
		g.ask(m, jvm.FlushClasses, a.flush...)
		a.flush = nil
	}
	if ended { // the VM, or what cannot be the agent: what it has told stays
		m.java.dropAgent()
	}
	return changed
}

// forgetBlunt is called when the VM has thrown away its old code, if it does that. Old code that is sampled from now on
// is asked about again.
func (g *generated) forgetBlunt(m *maker) {
	m.java.agent.flushed = true
	for p, a := range m.answers {
		if a.body == nil {
			continue
		}
		if method, _ := a.body.Blunt(); method == 0 {
			continue
		}
		if err := errors.Join(g.kernel.ForgetPlace(p), g.kernel.ForgetAddress(p)); err != nil {
			g.log.Debug(err.Error())
		}
		delete(m.answers, p)
		g.answers--
	}
}

// mostFlushed bounds the classes of a VM that are compiled anew.
const mostFlushed = 200

// sharpen has code compiled anew that was sampled, and has lines for safepoints only.
func (g *generated) sharpen(m *maker, b *jit.Body) {
	a := m.java.agent
	if method, class := b.Blunt(); method != 0 && a.flushed && !a.tried[class] && len(a.tried) < mostFlushed {
		a.tried[class] = true
		a.flush = append(a.flush, method)
	}
}

// ask gives a VM's agent a command. One that does not take it is given up.
func (g *generated) ask(m *maker, command byte, methods ...uint64) {
	if err := m.java.agent.Ask(command, methods...); err != nil {
		g.log.Debug("asking the agent", "process", m.process, "error", err)
		m.java.agent.Close() // its reader ends, and then followAgent drops it
	}
}

// find finds the code at an address.
func (m *maker) find(address uint64) madeAnswer {
	body := m.table.Find(address)
	if body != nil && runtime.GOARCH == "amd64" {
		body.MendLoops(func(address uint64, code []byte) int {
			n, _ := target.ReadMemory(m.process, address, code) // what cannot be read tells nothing
			return n
		})
	}
	return madeAnswer{address: address, body: body}
}

// setFrame tells the kernel side how the caller of compiled Java code is found. What it cannot tell is as without it.
func (g *generated) setFrame(m *maker, p ledger.Place, a madeAnswer) {
	rule, known := frameOf(m.process, a)
	set := g.kernel.ForgetTable
	if known {
		set = func(p ledger.Place) error { return g.kernel.SetRule(p, rule) }
	}
	if err := set(p); err != nil {
		g.log.Debug(err.Error(), "process", m.process)
	}
}

// frameOf reads the code around an address from the process.
func frameOf(process int, a madeAnswer) (r unwind.Rule, known bool) {
	if runtime.GOARCH != "amd64" || a.body == nil {
		return r, false
	}
	if a.body.Name == jit.Interpreter {
		return unwind.Rule{Kind: unwind.Interpreter}, true
	}
	if !a.body.HasFrame() {
		return r, false
	}
	// What cannot be read tells nothing.
	begin, here := make([]byte, jit.MostPrologue), make([]byte, jit.MostHere)
	n, _ := target.ReadMemory(process, a.body.Begin(), begin)
	m, _ := target.ReadMemory(process, a.address, here)
	return jit.FrameRule(begin[:max(0, n)], here[:max(0, m)], a.address-a.body.Begin())
}
