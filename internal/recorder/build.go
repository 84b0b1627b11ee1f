package recorder

import (
	"encoding/binary"

	"whatif/bpf"
	"whatif/internal/device/measure"
	"whatif/internal/recording"
)

// build makes the recording of what was read.
func (r *Recorder) build() *recording.Recording {
	b := builder{code: r.code, stacks: make(map[string]int32), frames: make(map[recording.Frame]int32)}
	n := r.numbers
	rec := &recording.Recording{
		Cores: len(r.kernel.cpus), Period: int64(r.options.Period), Began: r.wall.UnixNano(),
		Length: int64(r.ended - r.began), Points: r.options.Points, Threads: n.threads, Objects: n.list,
		Cache:  ownCache(),
		Losses: recording.Losses{Events: int64(r.kernel.counts().lost), LeftOut: r.leftOut},
	}
	rec.Losses.Outside = rec.Length - r.leftOut
	for _, id := range n.placeIDs {
		p, told := r.places[id]
		at := recording.Place{Stack: recording.No, Address: p.address, Pointer: p.pointer}
		if told {
			at.Stack = b.stack(p.frames, false)
		}
		rec.Places = append(rec.Places, at)
	}
	stacks := make([]int32, len(n.stackIDs))
	for i, id := range n.stackIDs {
		stacks[i] = recording.No
		if p, told := r.places[id]; told {
			stacks[i] = b.stack(p.frames, true)
		}
	}
	for _, w := range r.taken {
		for i := range w.Events {
			if e := &w.Events[i]; e.Stack >= 0 {
				e.Stack = stacks[e.Stack]
			}
		}
		rec.Windows = append(rec.Windows, w.Window)
		rec.Losses.Repaired += w.repaired
		rec.Losses.Outside -= w.End - w.Begin
	}
	rec.Stacks, rec.Frames = b.allStacks, b.allFrames
	return rec
}

// ownCache is the size of the last cache that belongs to a core, and not to all of them.
func ownCache() int64 {
	caches := measure.Caches("/sys")
	return max(caches["l1"], caches["l2"])
}

// builder resolves stacks.
type builder struct {
	code      *code
	stacks    map[string]int32 // by their frames' numbers
	frames    map[recording.Frame]int32
	resolved  map[codeAddress][]int32
	allStacks []recording.Stack
	allFrames []recording.Frame
}

// codeAddress is a frame as the kernel side has it.
type codeAddress struct {
	frame   uint64
	sampled bool // the innermost one of a sample
}

// stack is the number of a stack. Two stacks with the same lines are one, but for what samples say of the instruction.
func (b *builder) stack(frames []uint64, sampled bool) int32 {
	var s recording.Stack
	for i, f := range frames {
		s = append(s, b.resolve(codeAddress{f, sampled && i == 0})...)
	}
	key, err := binary.Append(nil, binary.NativeEndian, []int32(s))
	if err != nil {
		panic(err) // numbers can always be written
	}
	i, known := b.stacks[string(key)]
	if !known {
		i = int32(len(b.allStacks))
		b.stacks[string(key)] = i
		b.allStacks = append(b.allStacks, s)
	}
	return i
}

// resolve gives the frames at a place in the code.
func (b *builder) resolve(at codeAddress) []int32 {
	if known, ok := b.resolved[at]; ok {
		return known
	}
	if b.resolved == nil {
		b.resolved = make(map[codeAddress][]int32)
	}
	const shift = bpf.RecordRecordLimitRECORD_FRAME_FILE
	file, offset := uint16(at.frame>>shift), at.frame&(1<<shift-1)
	var numbers []int32
	for _, f := range b.code.frames(file, offset, at.sampled) {
		i, known := b.frames[f]
		if !known {
			i = int32(len(b.allFrames))
			b.frames[f] = i
			b.allFrames = append(b.allFrames, f)
		}
		numbers = append(numbers, i)
	}
	b.resolved[at] = numbers
	return numbers
}
