package jvm

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"whatif/internal/code/jvm/classfile"
	"whatif/internal/testing/jdk"
)

// steps is testdata/Steps.java in a VM.
type steps struct {
	*VM
	in  io.Writer
	out *bufio.Reader
}

// programs gives the directory of the classes of testdata/*.java.
func programs(t *testing.T) (java, classes string) {
	t.Helper()
	return jdk.Programs(t, os.DirFS("testdata"))
}

func startSteps(t *testing.T, flags ...string) *steps {
	t.Helper()
	java, classes := programs(t)
	c := exec.Command(java, append(flags, "-Xcheck:jni", "-cp", classes, "Steps")...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s := &steps{in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		in.Close()
		if rest, err := io.ReadAll(s.out); err != nil || len(rest) > 0 {
			t.Errorf("the VM has also printed %q, %v", rest, err)
		}
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	})
	s.expect(t, "ready")
	s.VM = opened(t, c.Process.Pid, c.Process.Pid, uint32(os.Getuid()))
	return s
}

func (s *steps) expect(t *testing.T, want string) {
	t.Helper()
	if line, err := s.out.ReadString('\n'); err != nil || line != want+"\n" {
		t.Fatalf("the program said %q, %v", line, err)
	}
}

func (s *steps) make(t *testing.T, n int) {
	t.Helper()
	if _, err := fmt.Fprintln(s.in, n); err != nil {
		t.Fatal(err)
	}
	s.expect(t, "done")
}

// counts reads the counters in the VM's memory.
func (s *steps) counts(t *testing.T, p *Points, n int) (all []uint64) {
	t.Helper()
	first, err := strconv.ParseUint(p.helper[len("java/lang/Whatif$"):], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", s.process))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	for i := range n {
		var word [8]byte
		if _, err := memory.ReadAt(word[:], int64(first)+int64(192*(p.retired+i))); err != nil {
			t.Fatal(err)
		}
		all = append(all, binary.LittleEndian.Uint64(word[:]))
	}
	return all
}

// rewrite counts at two lines, and at the entries and returns of a method.
func (p *Points) rewrite(t *testing.T) Rewriter {
	return func(name string, data []byte) []byte {
		class, err := classfile.Parse(data)
		if err != nil {
			t.Error(err)
			return nil
		}
		var calls []classfile.Call
		for counter, line := range []int{22, 31, 13} {
			places, err := class.Line(line)
			if err != nil {
				t.Error(err)
			}
			for _, at := range places {
				calls = append(calls, p.Call(at, counter))
			}
		}
		for i, m := range class.Methods {
			if m.Name == "step" {
				returns, err := class.Returns(i)
				if err != nil {
					t.Error(err)
				}
				calls = append(calls, p.Call(classfile.Entry(i), 3))
				for _, at := range returns {
					calls = append(calls, p.Call(at, 4))
				}
			}
		}
		changed, err := class.Insert(calls)
		if err != nil {
			t.Error(err)
		}
		return changed
	}
}

// TestPoints: classes that are loaded before the agent is, or after that, count exactly. At the end they are as they
// were, and the agent can be loaded once more.
func TestPoints(t *testing.T) {
	s := startSteps(t)
	for round := range 2 {
		p, err := s.LoadPoints()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.LoadPoints(); !errors.Is(err, ErrOther) {
			t.Errorf("a second session at the same time: %v", err)
		}
		for i := range 5 {
			if n, err := p.Name(1, fmt.Sprint("point ", i)); err != nil || n != i {
				t.Fatalf("counter %d: %v", n, err)
			}
		}
		if err := p.Rewrite([][]string{{"\x01\x00\x0aSteps.java"}, {"\x00Nothing"}}, p.rewrite(t)); err != nil {
			t.Fatal(err)
		}
		loaded, err := p.Loaded()
		if err != nil || !slices.Contains(loaded, Loaded{"LSteps;", "Steps.java"}) {
			t.Fatalf("%d classes are loaded: %v", len(loaded), err)
		}
		if err := p.Again([]string{"LSteps;", "LLater;"}); err != nil {
			t.Fatal(err)
		}
		old, err := p.Old()
		if err != nil || !slices.Equal(old, []Frame{{"LSteps;", "main"}}) {
			t.Errorf("old frames: %v, %v", old, err)
		}
		s.make(t, 10_000)
		// Half of the visits come by where each can be seen, too. That changes no count.
		if err := errors.Join(p.BindTimed(), p.Each(true)); err != nil {
			t.Error(err)
		}
		s.make(t, 5_000)
		if err := p.Each(false); err != nil {
			t.Error(err)
		}
		s.make(t, 5_000)
		if got, want := s.counts(t, p, 5), []uint64{10_000, 20_000, 0, 20_000, 20_000}; !slices.Equal(got, want) {
			t.Errorf("round %d: counted %d, not %d", round, got, want)
		}
		s.end(t, p)
		s.make(t, 1000)
		if again := s.counts(t, p, 5); again[0] != 10_000 {
			t.Errorf("round %d: counted %d after the end", round, again)
		}
	}
}

// end ends a session.
func (s *steps) end(t *testing.T, p *Points) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for s.hasAgent(t) {
		time.Sleep(time.Millisecond)
	}
}

// count has the class Steps counted at n numbers.
func (s *steps) count(t *testing.T, n int) *Points {
	t.Helper()
	p, err := s.LoadPoints()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, err := p.Name(1, fmt.Sprint("point ", i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Rewrite([][]string{{"\x01\x00\x0aSteps.java"}}, p.rewrite(t)); err != nil {
		t.Fatal(err)
	}
	return p
}

// writeAgent puts a class into a JAR file that a VM loads as an agent.
func writeAgent(t *testing.T, jar, name string) {
	t.Helper()
	_, classes := programs(t)
	class, err := os.ReadFile(filepath.Join(classes, name+".class"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, file := range []struct {
		name string
		text []byte
	}{
		{"META-INF/MANIFEST.MF",
			[]byte("Manifest-Version: 1.0\nPremain-Class: " + name + "\nCan-Retransform-Classes: true\n")},
		{name + ".class", class},
	} {
		w, err := z.Create(file.name)
		if err == nil {
			_, err = w.Write(file.text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(jar, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPointsStay: where the VM refuses to change a class back the next session uses other counters.
func TestPointsStay(t *testing.T) {
	dir := t.TempDir()
	jar, refuses := filepath.Join(dir, "refuses.jar"), filepath.Join(dir, "refuses")
	writeAgent(t, jar, "Refuses")
	s := startSteps(t, "-javaagent:"+jar+"="+refuses)
	const n = 5
	first := s.count(t, n)
	if err := first.Again([]string{"LSteps;"}); err != nil {
		t.Fatal(err)
	}
	s.make(t, 1000)
	if err := os.WriteFile(refuses, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.end(t, first)
	s.make(t, 1000)
	if got := s.counts(t, first, n); got[3] != 2000 {
		t.Errorf("the class was changed back: %d", got)
	}
	if err := os.Remove(refuses); err != nil {
		t.Fatal(err)
	}
	second := s.count(t, n)
	if second.retired != n {
		t.Errorf("%d counters are not used any more", second.retired)
	}
	s.make(t, 1000)
	before := s.counts(t, first, n)
	if got := s.counts(t, second, n); got[3] != 0 || before[3] != 3000 {
		t.Errorf("the next session has counted %d, the first one %d", got, before)
	}
	if err := second.Again([]string{"LSteps;"}); err != nil {
		t.Fatal(err)
	}
	s.make(t, 1000)
	if got := s.counts(t, second, n); got[3] != 1000 || !slices.Equal(s.counts(t, first, n), before) {
		t.Errorf("the next session has counted %d, the first one %d, before %d", got, s.counts(t, first, n), before)
	}
	s.end(t, second)
}

// hasAgent tells whether the agent's thread is there.
func (s *steps) hasAgent(t *testing.T) bool {
	t.Helper()
	names, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", s.process))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(names, func(e os.DirEntry) bool {
		name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/comm", s.process, e.Name()))
		return strings.TrimSpace(string(name)) == "whatif"
	})
}
