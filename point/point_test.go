package point

import (
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func sum(e *entry) (n uint64) {
	for i := range e.shard {
		n += e.shard[i].count
	}
	return n
}

func TestVisits(t *testing.T) {
	p, pair := New("requests"), NewPair("request")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 1000 {
				pair.Begin()
				p.Visit()
				pair.End()
			}
		})
	}
	all.Wait()
	for _, e := range []*entry{p.e, pair.begin, pair.end} {
		if sum(e) != 20000 || e.mark != mark || e.shard[0].counts != mark {
			t.Errorf("%s: %d visits", e.name[:e.length], sum(e))
		}
	}
	if int(table.stride) != int(unsafe.Sizeof(entry{})) || unsafe.Offsetof(entry{}.shard) != 128 {
		t.Error("the table is not laid out as it is read")
	}
}

// TestMadeAtOnce makes points in several goroutines at once, for go test -race.
func TestMadeAtOnce(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { New("at once").Visit() })
	}
	all.Wait()
	if table.used < 4 || table.shards != shards {
		t.Errorf("%d used, %d shards", table.used, table.shards)
	}
}

func TestLongNameAndTooMany(t *testing.T) {
	long := New(strings.Repeat("a", 200) + "end")
	if name := string(long.e.name[:long.e.length]); len(name) != 111 || !strings.HasSuffix(name, "aend") {
		t.Errorf("name %q", name)
	}
	for range 2 * Most {
		New("more").Visit()
	}
	if table.used != Most {
		t.Errorf("%d used", table.used)
	}
}

func BenchmarkVisit(b *testing.B) {
	p := &Point{new(entry)}
	for b.Loop() {
		p.Visit()
	}
}

func BenchmarkVisitParallel(b *testing.B) {
	p := &Point{new(entry)}
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			p.Visit()
		}
	})
}
