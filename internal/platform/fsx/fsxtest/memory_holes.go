package fsxtest

import "github.com/retake-dev/retake/internal/platform/fsx"

// memoryBlockSize is the unit in which storage is allocated.
const memoryBlockSize = 4096

func blockStart(at int64) int64 { return at / memoryBlockSize * memoryBlockSize }
func blockEnd(at int64) int64   { return blockStart(at + memoryBlockSize - 1) }

// fillHoles returns what is left of holes when the range is written: whole blocks get storage.
func fillHoles(holes []fsx.Hole, from, end int64) (left []fsx.Hole) {
	from, end = blockStart(from), blockEnd(end)
	for _, h := range holes {
		stop := h.Offset + h.Length
		if before := min(from, stop) - h.Offset; before > 0 {
			left = append(left, fsx.Hole{Offset: h.Offset, Length: before})
		}
		if start := max(end, h.Offset); start < stop {
			left = append(left, fsx.Hole{Offset: start, Length: stop - start})
		}
	}
	return left
}

// extend appends zeros up to size, with a hole for the whole blocks. Contents that share the
// existing bytes are not affected.
func (c *content) extend(size int64) {
	have := int64(len(c.data))
	c.data = append(c.data, make([]byte, size-have)...)
	start := blockEnd(have)
	if last := len(c.holes) - 1; last >= 0 && c.holes[last].Offset+c.holes[last].Length == have {
		start = c.holes[last].Offset
		c.holes = c.holes[:last:last]
	}
	if start < size {
		c.holes = append(c.holes, fsx.Hole{Offset: start, Length: size - start})
	}
}
