package experiment

import (
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// TestSmallPackets: a packet takes more than its bytes, of which there may be one. Not all are taken in at once.
func TestSmallPackets(t *testing.T) {
	var j javaAgent
	j.room.L = &j.mu
	const n = mostWaiting / (1 + packetCost)
	for range n {
		j.packets = append(j.packets, []byte{'X'})
		j.bytes += 1 + packetCost
	}
	if j.bytes < mostWaiting-packetCost-1 {
		t.Errorf("%d packets are %d bytes", n, j.bytes)
	}
	turns, met := 0, 0
	for ; len(j.packets) > 0; turns++ {
		packets, _ := j.take()
		met += len(packets)
		if len(packets) > mostTaken/packetCost {
			t.Errorf("%d packets at once", len(packets))
		}
	}
	if met != n || j.bytes != 0 || turns < mostWaiting/mostTaken {
		t.Errorf("%d packets in %d turns, %d bytes are left", met, turns, j.bytes)
	}
}

// TestDoubts: what a VM answers is in a warning, but not all of it, if it is long.
func TestDoubts(t *testing.T) {
	var mu sync.Mutex
	made := newGenerated(nil, &Config{}, &mu)
	for range 10 * mostDoubts {
		made.doubt("it says\n" + strings.Repeat("ä", longestDoubt))
	}
	all := made.javaDoubts()
	if len(all) != mostDoubts || len(all[0]) > longestDoubt+len("; …") || !strings.HasPrefix(all[0], "it says; ä") ||
		!utf8.ValidString(all[0]) {
		t.Errorf("%d doubts: %q", len(all), all[0])
	}
}
