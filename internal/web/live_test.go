package web

import (
	"fmt"
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
