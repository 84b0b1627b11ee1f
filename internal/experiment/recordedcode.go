package experiment

import (
	"sync"

	"whatif/internal/code/symbol"
	"whatif/internal/ledger"
	live "whatif/internal/recorder"
)

// recordedCode knows the code that processes make while they are recorded. The frames of a place are needed at the end
// only. The code there may be gone by then, so each answer is kept.
type recordedCode struct {
	made   *generated
	mu     sync.Mutex // guards what follows, and made
	frames map[ledger.Place]madeFrames
	done   sync.WaitGroup
}

// madeFrames are the frames at a place.
type madeFrames struct {
	origin  symbol.Origin
	program string
	all     []symbol.Frame
}

// newRecordedCode prepares a recording; begin is called with its kernel side.
func newRecordedCode() *recordedCode { return &recordedCode{frames: make(map[ledger.Place]madeFrames)} }

// begin follows what processes make, until close is called.
func (c *recordedCode) begin(r *live.Recorder, cfg *Config) {
	c.mu.Lock()
	c.made = newGenerated(r, cfg, &c.mu)
	c.made.set = c.set
	c.mu.Unlock()
	c.done.Go(c.made.followAll)
}

// Met has a question of the kernel side answered.
func (c *recordedCode) Met(process int, at ledger.Place, address uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := ledger.Event{Process: process, Address: address, Place: at}
	if e.Bytecode() {
		return c.made.answerBytecode(e)
	}
	return c.made.answer(e)
}

// set says how the caller is found at a place, and keeps its frames.
func (c *recordedCode) set(m *maker, p ledger.Place, a madeAnswer) error {
	if a.body != nil {
		c.frames[p] = madeFrames{a.body.Origin(m.program), m.program, a.body.Frames(a.address)}
	}
	if m == nil || m.java == nil || ledger.IsBytecode(p) {
		return c.made.kernel.ForgetTable(p) // the frame pointer
	}
	c.made.setFrame(m, p, a)
	return nil
}

// Frames are the frames at a place.
func (c *recordedCode) Frames(at ledger.Place) (symbol.Origin, string, []symbol.Frame) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.frames[at]
	return f.origin, f.program, f.all
}

// last takes in what processes have told up to now. It is called when recording is over.
func (c *recordedCode) last() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.made.makers {
		c.made.follow(m)
		c.made.correct(m)
	}
}

// close ends all agents.
func (c *recordedCode) close() {
	c.made.stopAll()
	c.done.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made.close()
}
