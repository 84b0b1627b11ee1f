package web

import (
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"time"
)

// TestLiveShares: a page is made while the session writes to its maps. A map used by both would end
// the run, because Go calls "concurrent map iteration and map write" fatal. With -race this finds
// slices, too.
func TestLiveShares(t *testing.T) {
	d := world{}.made()
	d.Binaries = map[string]string{"/server": "1"}
	l := NewLive("whatif.profile", []string{"./server"})
	l.Update(d, false)
	mine, shown := reflect.ValueOf(d).Elem(), reflect.ValueOf(l.data).Elem()
	for i := range mine.NumField() {
		m, s := mine.Field(i), shown.Field(i)
		if m.Kind() == reflect.Map && !m.IsNil() && m.UnsafePointer() == s.UnsafePointer() {
			t.Errorf("the page and the session share %s", mine.Type().Field(i).Name)
		}
	}

	var writing sync.WaitGroup
	writing.Go(func() {
		for i := range 2000 {
			name := fmt.Sprint("/lib", i)
			d.Binaries[name], d.Sources[name] = "2", "3"
			d.Units[uint32(1000+i)] = d.Units[1]
			d.Experiments = append(d.Experiments, d.Experiments[1])
			if i%500 == 0 {
				l.Update(d, false)
			}
		}
	})
	for range 3 {
		l.making.Lock()
		l.next = time.Time{} // do not wait
		l.making.Unlock()
		l.Page()
	}
	writing.Wait()
}

// TestServerAtOnce: clients ask for a page, and for all that it is made of, at the same time, while new data come. With
// -race this finds what their requests share.
func TestServerAtOnce(t *testing.T) {
	d := world{latency: true}.made()
	l := NewLive("whatif.profile", []string{"./server"})
	l.Update(d, false)
	s := server(t, l.Page)
	get := func(path string) {
		answer, err := http.Get(s.Address() + path)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		if n, err := io.Copy(io.Discard, answer.Body); err != nil || n == 0 || answer.StatusCode != http.StatusOK {
			t.Errorf("%q: status %d, %d bytes, %v", path, answer.StatusCode, n, err)
		}
	}
	var clients sync.WaitGroup
	for range 3 {
		clients.Go(func() {
			get("")
			get("latest")
			p := s.page() // it is kept, as one more comes at most
			for _, name := range p.resources() {
				get(p.index.Version + "/" + name)
			}
		})
	}
	l.Update(d, true)
	clients.Wait()
	if p := s.page(); p.index.Live || len(p.index.Units) != 5 {
		t.Errorf("at the end: %+v", p.index)
	}
}
