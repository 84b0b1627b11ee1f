package recording

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestAnonymous: nothing says which program it was, and what was equal is equal still.
func TestAnonymous(t *testing.T) {
	r := small()
	r.Places = append(r.Places, r.Places[0])
	r.Frames = append(r.Frames, Frame{Function: "work(int)", File: "/src/app.c", Line: 12, Binary: "/bin/app"})
	r.Frames = append(r.Frames, Frame{Function: "__pthread_mutex_lock", Binary: "/lib/libc.so.6"})
	was, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	a := Anonymous(r)
	if is, err := json.Marshal(r); err != nil || !bytes.Equal(was, is) {
		t.Error("the recording itself was changed")
	}
	if err := Check(a); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"main", "worker", "late", "app", "work", "futex_wait", "pthread", "libc",
		"request", "done", "/",
		"401000", "4198400", "2147352576", "139637976731648", "1700000000", "9223372036854775808"} {
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s is still there:\n%s", secret, text)
		}
	}
	if a.Places[0] != a.Places[3] || a.Places[0] == a.Places[1] || a.Places[1].Pointer != 0 {
		t.Errorf("places are %+v", a.Places)
	}
	if a.Frames[3].Function != a.Frames[0].Function || a.Frames[3].Line == a.Frames[0].Line || a.Frames[2].File != "" {
		t.Errorf("frames are %+v", a.Frames)
	}
	if got := a.Frames[4].Function; got != "function 4 mutex" {
		t.Errorf("a function of the library is %q", got)
	}
	if a.Threads[0].Process != a.Threads[1].Process || a.Objects[1].Process != No {
		t.Errorf("threads are %+v, objects %+v", a.Threads, a.Objects)
	}
	if e := a.Windows[0].Events; e[4].Key != e[9].Key || e[4].Key == 0 || e[3].Key != 0 {
		t.Error("keys do not match")
	}
	// All else is the same.
	for i := range a.Windows {
		for j := range a.Windows[i].Events {
			a.Windows[i].Events[j].Key = r.Windows[i].Events[j].Key
		}
	}
	if !reflect.DeepEqual(a.Windows, r.Windows) || !reflect.DeepEqual(a.Stacks, r.Stacks) || a.Losses != r.Losses {
		t.Error("events, stacks or losses are others")
	}
	if !strings.HasPrefix(a.Points[0].Name, "point ") || a.Points[0].Name == a.Points[1].Name {
		t.Errorf("points are %+v", a.Points)
	}
}
