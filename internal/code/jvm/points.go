package jvm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"whatif/internal/code/jvm/classfile"
)

// MostPoints is how many places of the program's memory the agent can count at.
const MostPoints = 64

// Points is the connection to the agent in a VM for its progress points. The agent changes all classes back when it
// ends. Only one whatif at a time can have one.
type Points struct {
	commands, classes conn
	process           int
	helper            string
	address           uint64 // of the first counter
	named             int
	retired           int // counters that are not used any more, in front of those that are named
	asking            sync.Mutex
	abandoned         atomic.Bool
	waited            time.Duration // for all answers
	noted             int           // bytes of the names of classes that the agent has to change back
	names             map[string]bool
	over              sync.WaitGroup
}

// conn is a connection of the agent.
type conn interface {
	io.ReadWriteCloser
	SetDeadline(time.Time) error
}

// Loaded is a class that the VM has loaded.
type Loaded struct {
	Signature string // Lcom/shop/Cart;
	Source    string // Cart.java, "" if that is not known
}

// ClassOf is the name of the class with a signature: com.shop.Cart, as in a program's source.
func ClassOf(signature string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(signature, "L"), ";"), "/", ".")
}

// SignatureOf is the signature of the class with a name.
func SignatureOf(class string) string { return "L" + strings.ReplaceAll(class, ".", "/") + ";" }

// Frame is a method that a thread runs.
type Frame struct{ Signature, Method string }

// Rewriter says what becomes of a class that is loaded, or changed. A nil result leaves it as it is. It is called by
// one goroutine.
type Rewriter func(name string, class []byte) []byte

// Errors of the agent.
var (
	ErrAgentGone  = errors.New("the agent does not answer")
	ErrOldLibrary = errors.New("this Java is too old: points in its code need Java 9 or later")
	errNotDone    = errors.New("the VM has refused it")
	errBadAnswer  = errors.New("the agent's answer is wrong")
	errManyPoints = fmt.Errorf("more than %d places to count at", MostPoints)
)

// LoadPoints loads the agent into the VM for progress points.
func (v *VM) LoadPoints() (*Points, error) {
	conns, err := v.load("points:", 2)
	if err != nil {
		return nil, err
	}
	return newPoints(v.process, conns[0], conns[1])
}

func newPoints(process int, commands, classes conn) (*Points, error) {
	p := &Points{process: process, commands: commands, classes: classes, names: make(map[string]bool)}
	if err := p.begin(); err != nil {
		p.Close()
		return nil, fmt.Errorf("preparing the Java VM %d for progress points: %w", process, err)
	}
	return p, nil
}

// begin makes the class that counts, unless the VM has it.
func (p *Points) begin() error {
	var address uint64
	err := p.ask([]byte{'A'}, 'A', func(text []byte) {
		if len(text) == 12 {
			address = binary.LittleEndian.Uint64(text)
			p.retired = int(min(binary.LittleEndian.Uint32(text[8:]), MostPoints))
		}
	})
	if err != nil || address == 0 {
		return errors.Join(err, errBadAnswer)
	}
	const stride = 192 // of struct counter, in agent/points.h
	var addresses []uint64
	for i := range MostPoints {
		addresses = append(addresses, address+uint64(stride*i))
	}
	p.address = address
	// Each copy of the agent in a VM, such as that of another version, has its own.
	p.helper = fmt.Sprintf("java/lang/Whatif$%x", address)
	err = p.ask(append([]byte{'H'}, classfile.Helper(p.helper, addresses)...), 0, nil)
	if errors.Is(err, errNotDone) {
		err = ErrOldLibrary
	}
	return err
}

// Name gives the next counter a name and an event: see package source. The result is its number.
func (p *Points) Name(event int, name string) (int, error) {
	if p.retired+p.named == MostPoints {
		return 0, errManyPoints
	}
	command := binary.LittleEndian.AppendUint32([]byte{'N'}, uint32(event))
	if err := p.ask(appendText(command, name), 0, nil); err != nil {
		return 0, err
	}
	p.named++
	return p.named - 1, nil
}

// Pulse has the agent count at the last counter that was named, so that the kernel side finds the table.
func (p *Points) Pulse() error { return p.ask([]byte{'P'}, 0, nil) }

// Call is a call at a place that counts at a counter.
func (p *Points) Call(at classfile.Place, counter int) classfile.Call {
	return classfile.Call{Place: at, Class: p.helper, Name: classfile.HelperMethod(p.retired + counter)}
}

// Rewrite has classes rewritten from now on, as they are loaded: those that have all pieces of one of the groups among
// their bytes. A piece that begins with a zero byte is a class's name instead. It is called once.
func (p *Points) Rewrite(groups [][]string, f Rewriter) error {
	p.over.Go(func() { p.serve(f) })
	command := binary.LittleEndian.AppendUint16([]byte{'W'}, uint16(len(groups)))
	for _, g := range groups {
		command = append(command, byte(len(g)))
		for _, piece := range g {
			command = appendText(command, piece)
		}
	}
	return p.ask(command, 0, nil)
}

// Loaded gives all classes that are loaded.
func (p *Points) Loaded() (all []Loaded, err error) {
	err = p.pairs('L', func(signature, source string) {
		if len(all) < mostClasses {
			all = append(all, Loaded{signature, source})
		}
	})
	return all, err
}

// pairs asks for something that comes as pairs of texts.
func (p *Points) pairs(command byte, f func(first, second string)) error {
	var wrong error
	left := mostText
	err := p.ask([]byte{command}, command, func(text []byte) {
		for len(text) > 0 && wrong == nil {
			var first, second string
			if first, second, text, wrong = cutPair(text); wrong != nil {
				return
			}
			if left -= len(first) + len(second); left < 0 {
				wrong = errBadAnswer
				return
			}
			f(first, second)
		}
	})
	return errors.Join(err, wrong)
}

// Again has classes that are loaded rewritten, all of each signature.
func (p *Points) Again(signatures []string) error {
	for len(signatures) > 0 {
		command := []byte{'T'}
		for len(signatures) > 0 && len(command)+2+len(signatures[0]) <= LongestPacket {
			command = appendText(command, signatures[0])
			signatures = signatures[1:]
		}
		if len(command) == 1 {
			return errBadAnswer // a longer name than any class has
		}
		if err := p.ask(command, 0, nil); err != nil {
			return err
		}
	}
	return nil
}

// Old gives the methods that threads still run as they were before they were rewritten.
func (p *Points) Old() (all []Frame, err error) {
	err = p.pairs('O', func(signature, method string) {
		if len(all) < mostFrames {
			all = append(all, Frame{signature, method})
		}
	})
	return all, err
}

// Go lets a program run that waits for its points.
func (p *Points) Go() error { return p.ask([]byte{'S'}, 0, nil) }

// Abandon ends what another goroutine asks the agent, and all later questions: they fail soon.
func (p *Points) Abandon() {
	p.abandoned.Store(true)
	_ = p.commands.SetDeadline(time.Unix(1, 0)) // it is over if that fails
}

// Close ends the agent.
func (p *Points) Close() error {
	err := errors.Join(p.commands.Close(), p.classes.Close())
	p.over.Wait()
	return err
}

// mostClasses and mostFrames bound what an agent can tell that a program has replaced; mostText is that in bytes.
const (
	mostClasses = 1 << 19
	mostFrames  = 1 << 14
	mostText    = 64 << 20
)

// longestWait is how long the agent may take: to change a class the VM stops all threads, and the first time it throws
// all compiled code away. mostWaited is how long all its answers together may take: whatif's end waits for them.
const (
	longestWait = 20 * time.Second
	mostWaited  = time.Minute
)

// ask has the agent do something. f is called with each packet of a type that comes back before it is done.
func (p *Points) ask(command []byte, kind byte, f func(text []byte)) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	begun := time.Now()
	defer func() { p.waited += time.Since(begun) }()
	deadline := begun.Add(min(longestWait, mostWaited-p.waited))
	if err := p.commands.SetDeadline(deadline); err != nil || p.abandoned.Load() {
		return errors.Join(ErrAgentGone, err)
	}
	if _, err := p.commands.Write(command); err != nil {
		return fmt.Errorf("%w: %w", ErrAgentGone, err)
	}
	packet := make([]byte, LongestPacket)
	for time.Now().Before(deadline) {
		n, err := p.commands.Read(packet)
		if err != nil || n == 0 {
			return fmt.Errorf("%w: %w", ErrAgentGone, errors.Join(err, io.ErrUnexpectedEOF))
		}
		switch {
		case packet[0] == 'R' && n == 6 && packet[1] == command[0]:
			if code := int32(binary.LittleEndian.Uint32(packet[2:])); code != 0 {
				return fmt.Errorf("%w (command %c: error %d)", errNotDone, command[0], code)
			}
			return nil
		case packet[0] == kind && f != nil:
			f(packet[1:n])
		}
	}
	return ErrAgentGone
}

// mostNoted is how much the agent can note of the classes that it has to change back, longestName what it sends of any
// text: MOST_CHANGED and MOST_TEXT in agent/agent.c.
const (
	mostNoted   = 256 << 10
	longestName = 2 << 10
)

// Notes reports whether the agent can change one more class back, of this name: com/shop/Cart. Another one must not be
// changed: its calls would stay, and count at the next session's points. A Rewriter asks.
func (p *Points) Notes(class string) bool {
	return p.names[class] || class != "" && len(class) < longestName && p.noted+2+len(class) <= mostNoted
}

// serve rewrites classes until the connection ends.
func (p *Points) serve(f Rewriter) {
	for {
		name, class, err := p.nextClass()
		if err != nil {
			return
		}
		changed := f(name, class)
		if len(changed) > classfile.MaxSize || !p.Notes(name) {
			changed = nil
		}
		if changed != nil && !p.names[name] {
			p.names[name] = true
			p.noted += 2 + len(name)
		}
		if p.sendClass(changed) != nil {
			return
		}
	}
}

func (p *Points) nextClass() (name string, class []byte, err error) {
	packet := make([]byte, LongestPacket)
	n, err := p.classes.Read(packet)
	if err != nil || n < 6 {
		return "", nil, errors.Join(err, errBadAnswer)
	}
	size := binary.LittleEndian.Uint32(packet)
	name, _, err = cutText(packet[4:n])
	if err != nil || size > classfile.MaxSize {
		return "", nil, errBadAnswer
	}
	for len(class) < int(size) {
		if n, err = p.classes.Read(packet); err != nil || n == 0 || len(class)+n > int(size) {
			return "", nil, errors.Join(err, errBadAnswer)
		}
		class = append(class, packet[:n]...)
	}
	return name, class, nil
}

func (p *Points) sendClass(class []byte) error {
	_, err := p.classes.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(class))))
	for err == nil && len(class) > 0 {
		n := min(len(class), LongestPacket)
		_, err = p.classes.Write(class[:n])
		class = class[n:]
	}
	return err
}

func appendText(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint16(b, uint16(len(s))), s...)
}

// cutText cuts a text off.
func cutText(b []byte) (text string, rest []byte, err error) {
	if len(b) < 2 {
		return "", nil, errBadAnswer
	}
	n := 2 + int(binary.LittleEndian.Uint16(b))
	if n > len(b) || n-2 > longestName {
		return "", nil, errBadAnswer
	}
	return string(b[2:n]), b[n:], nil
}

func cutPair(b []byte) (first, second string, rest []byte, err error) {
	if first, b, err = cutText(b); err != nil {
		return "", "", nil, err
	}
	second, rest, err = cutText(b)
	return first, second, rest, err
}
