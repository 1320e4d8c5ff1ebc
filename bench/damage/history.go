//go:build linux

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"path/filepath"
)

const (
	states   = 8
	files    = 200
	changes  = 10
	largest  = 300 << 10
	dirCount = 10
)

// state is what a workspace holds: the SHA-256 of each file, by its path.
type state map[string][sha256.Size]byte

// history is a series of workspace states and the writes that lead from each to the next.
type history struct {
	writes [states]map[string][]byte
	want   [states]state
	total  int // files of all states together
	bytes  int // of the newest state
}

// newHistory makes the same history for the same seed.
func newHistory(seed int64) *history {
	rnd := rand.New(rand.NewSource(seed))
	h := &history{}
	now := map[string][]byte{}
	for i := range states {
		h.writes[i] = map[string][]byte{}
		n := changes
		if i == 0 {
			n = files
		}
		for k := range n {
			if i > 0 {
				k = rnd.Intn(files)
			}
			h.writes[i][filePath(k)] = content(rnd, k, now)
			now[filePath(k)] = h.writes[i][filePath(k)]
		}
		h.want[i] = state{}
		for path, b := range now {
			h.want[i][path] = sha256.Sum256(b)
		}
		h.total += len(now)
	}
	for _, b := range now {
		h.bytes += len(b)
	}
	return h
}

func filePath(k int) string {
	if k%2 == 0 {
		return fmt.Sprintf("dir%02d/text%03d.txt", k%dirCount, k)
	}
	return fmt.Sprintf("dir%02d/blob%03d.bin", k%dirCount, k)
}

// content makes text for even files and random bytes for odd ones, of 1 byte to largest, with many
// small files. Every twentieth file is a copy of another one.
func content(rnd *rand.Rand, k int, now map[string][]byte) []byte {
	size := int(math.Pow(largest, rnd.Float64()))
	if twin := now[filePath(k-2)]; k%20 == 19 && twin != nil {
		return twin
	}
	if k%2 == 1 {
		b := make([]byte, size)
		rnd.Read(b)
		return b
	}
	var b bytes.Buffer
	for b.Len() < size {
		fmt.Fprintf(&b, "line %d of file %d: %x\n", b.Len(), k, rnd.Uint32())
	}
	return b.Bytes()[:size]
}

// apply brings a workspace from state i-1 to state i.
func (h *history) apply(ws string, i int) error {
	for path, b := range h.writes[i] {
		full := filepath.Join(ws, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, b, 0o644)); err != nil {
			return fmt.Errorf("write workspace: %w", err)
		}
	}
	return nil
}
