package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"whatif/internal/device"
)

// line is the size of a cache line in words of 8 bytes. Where lines are longer, two steps meet in one now and then.
const line = 64 / 8

// levelSizes are the bytes that a core uses to measure each level: half of a private cache, so that all of it stays
// there; between L2 and L3 in a shared one, as others use it, too; twice the last cache for DRAM, 256 MiB if no
// third one is known, at most a quarter of free memory. 0: there is no such level.
func levelSizes(caches map[string]int64, cores int, free int64) (sizes map[string]int64, doubt string) {
	l1, l2, l3 := caches["l1"], caches["l2"], caches["l3"]
	if l1 == 0 {
		l1 = 32 << 10 // the least that cores with Linux have
	}
	last := max(l1, l2, l3)
	sizes = map[string]int64{"l1": l1 / 2}
	if l2 > l1 {
		sizes["l2"] = max(l2/2, 2*l1)
	}
	if l3 > l2 {
		size := int64(math.Sqrt(float64(max(l2, l1)) * float64(l3)))
		// All cores together must not leave it, and each has to leave the level before.
		sizes["l3"] = max(min(size, l3/2/int64(cores)), 2*max(l2, l1))
	}
	want := max(2*last, 64<<20)
	if l3 == 0 { // a virtual machine may hide it
		want = max(want, 256<<20)
	}
	sizes["dram"] = min(want, max(free/4, 16<<20), 1<<30)
	if sizes["dram"] < 2*last {
		doubt = fmt.Sprintf("dram was measured with %d MiB, less than twice the last cache of %d MiB: part of it is cache",
			sizes["dram"]>>20, last>>20)
	}
	return sizes, doubt
}

// addMemory adds bandwidth and latency of each level.
func (b *bench) addMemory(caches map[string]int64) error {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return fmt.Errorf("asking for free memory: %w", err)
	}
	free := int64(info.Freeram+info.Bufferram) * int64(info.Unit)
	sizes, doubt := levelSizes(caches, b.cores, free)
	if doubt != "" {
		b.doubt("%s", doubt)
	}
	for _, level := range device.Levels() {
		size := sizes[level]
		if size == 0 {
			continue
		}
		regions := make([]*region, b.cores)
		// All cores share the memory for DRAM: each reads its own part, and begins its walk elsewhere.
		count := b.cores
		if level == "dram" {
			count = 1
		}
		words, err := b.allocate(size * int64(count))
		if err != nil {
			return err
		}
		each := int(size / 8 / line * line)
		for i := range regions {
			if level != "dram" {
				own := words[i*each:][:each]
				ring(own)
				regions[i] = &region{walked: own, read: own}
				continue
			}
			if i == 0 {
				ring(words[:each])
			}
			part := each / line / b.cores * line
			regions[i] = &region{walked: words[:each], read: words[i*part:][:part], at: uint64(i * part)}
		}
		b.addLevel(level, regions)
	}
	return nil
}

// allocate returns zeroed memory in small pages, whatever this machine does by default: large ones are not always to
// be had, so figures would differ from time to time. Misses of the address translation are in the latency, therefore,
// as they are in most programs.
func (b *bench) allocate(bytes int64) ([]uint64, error) {
	memory, err := unix.Mmap(-1, 0, int(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, fmt.Errorf("allocating %d MiB: %w", bytes>>20, err)
	}
	b.close = append(b.close, func() { _ = unix.Munmap(memory) })
	_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE) // fails where there are none
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(memory))), bytes/8), nil
}

// ring links all cache lines of words to one cycle in random order (Sattolo's algorithm): the first word of a line is
// the index of the next line's. So a walk knows each address only when the load before has ended.
func ring(words []uint64) {
	lines := len(words) / line
	order := make([]uint32, lines)
	for i := range order {
		order[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(1, 2)) // the same order everywhere
	for i := lines - 1; i > 0; i-- {
		j := random.IntN(i)
		order[i], order[j] = order[j], order[i]
	}
	for i, next := range order {
		words[i*line] = uint64(next) * line
	}
}

// A region is the memory of one core at one level.
type region struct {
	walked, read []uint64
	at           uint64 // where the walk is
	from         int    // where reading is
}

// walk goes n steps along the ring.
func (r *region) walk(n int) {
	words, at := r.walked, r.at
	for range n {
		at = words[at]
	}
	r.at = at
}

// scan reads n cache lines, and goes on at the begin when it comes to the end.
func (r *region) scan(n int) {
	var total uint64
	for n > 0 {
		part := r.read[r.from:]
		if len(part) > n*line {
			part = part[:n*line]
		}
		total += add(part)
		n -= len(part) / line
		if r.from += len(part); r.from == len(r.read) {
			r.from = 0
		}
	}
	sink.Add(total)
}

// add reads whole cache lines, word by word.
//
//go:noinline
func add(words []uint64) uint64 {
	var a, b, c, d uint64
	for len(words) >= line {
		w := words[:line:line]
		a += w[0] + w[4]
		b += w[1] + w[5]
		c += w[2] + w[6]
		d += w[3] + w[7]
		words = words[line:]
	}
	return a + b + c + d
}

// warmed reads all regions before take, untimed: other measures have thrown them out of the caches, and a walk through
// an L3 takes longer than a round. It does so for a few milliseconds on all cores at once, as private caches belong to
// cores; a thread that moves afterwards warms its new core in its first laps.
func warmed(regions []*region, take func(time.Duration) (float64, error)) func(time.Duration) (float64, error) {
	return func(d time.Duration) (float64, error) {
		var done sync.WaitGroup
		for _, r := range regions {
			done.Go(func() { sink.Add(add(r.read)) })
		}
		done.Wait()
		return take(d)
	}
}

func (b *bench) addLevel(level string, regions []*region) {
	scans, walks := make([]func(int), len(regions)), make([]func(int), len(regions))
	for i, r := range regions {
		scans[i], walks[i] = r.scan, r.walk
	}
	warm := func(_ []*region, take func(time.Duration) (float64, error)) func(time.Duration) (float64, error) {
		return take
	}
	if level != "dram" {
		warm = warmed
	}
	scan, walk := one(scans[0]), one(walks[0])
	b.add("memory.bandwidth."+level+".one", warm(regions[:1], func(d time.Duration) (float64, error) {
		x, err := scan(d)
		return x * line * 8, err
	}))
	b.add("memory.bandwidth."+level+".all", warm(regions, func(d time.Duration) (float64, error) {
		return sum(all(scans, d)) * line * 8, nil
	}))
	b.add("memory.latency."+level+".one", warm(regions[:1], func(d time.Duration) (float64, error) {
		x, err := walk(d)
		return 1 / x, err
	}))
	b.add("memory.latency."+level+".all", warm(regions, func(d time.Duration) (float64, error) {
		return float64(len(walks)) / sum(all(walks, d)), nil
	}))
}
