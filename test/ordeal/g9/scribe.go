//go:build linux

package g9

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// scribe rewrites one file, generation after generation. Each block of generation
// g is filled with g. The order of the blocks is known for each generation, so
// that one can tell a state the file went through from one it never had.
type scribe struct {
	name  string
	path  string
	way   string
	lazy  bool // rests within a generation, too
	seed  int64
	f     *os.File
	view  []byte
	done  chan struct{}
	ended atomic.Bool
	err   error // read after done
}

func newScribe(root, way string, lazy bool, seed int64) (*scribe, error) {
	s := &scribe{name: fmt.Sprintf("%s-%v", way, lazy), way: strings.TrimRight(way, "0123456789"), lazy: lazy, seed: seed, done: make(chan struct{})}
	s.path = root + "/" + s.name
	if err := os.WriteFile(s.path, make([]byte, treebed.Block*treebed.Blocks), 0o644); err != nil {
		return nil, err
	}
	var err error
	if s.f, err = os.OpenFile(s.path, os.O_RDWR, 0); err != nil {
		return nil, err
	}
	if s.way == "map" {
		s.view, err = unix.Mmap(int(s.f.Fd()), 0, treebed.Block*treebed.Blocks, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	return s, err
}

func (s *scribe) end() {
	s.ended.Store(true)
	<-s.done
	if s.view != nil {
		_ = unix.Munmap(s.view) // scratch
	}
	_ = s.f.Close() // scratch
}

// order is how the blocks of a generation are written.
func (s *scribe) order(g uint64) []int {
	if s.way == "overwrite" || s.way == "map" {
		return rand.New(rand.NewSource(s.seed + int64(g))).Perm(treebed.Blocks)
	}
	out := make([]int, treebed.Blocks)
	for i := range out {
		out[i] = i
	}
	return out
}

func ink(b []byte, g uint64) {
	for at := 0; at < len(b); at += 8 {
		binary.LittleEndian.PutUint64(b[at:], g)
	}
}

func (s *scribe) work() {
	defer close(s.done)
	rnd := rand.New(rand.NewSource(s.seed))
	for g := uint64(1); !s.ended.Load() && s.err == nil; g++ {
		s.err = s.rewrite(g, rnd)
		pause := time.Duration(rnd.Intn(4000)) * time.Microsecond
		if s.lazy || rnd.Intn(20) == 0 {
			pause *= 15
		}
		time.Sleep(pause)
	}
}

func (s *scribe) rewrite(g uint64, rnd *rand.Rand) error {
	f := s.f
	switch s.way {
	case "truncate":
		if err := f.Truncate(0); err != nil {
			return err
		}
	case "rename":
		var err error
		if f, err = os.Create(s.path + ".new"); err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // scratch
	}
	b := make([]byte, treebed.Block)
	ink(b, g)
	for _, i := range s.order(g) {
		if s.way == "map" {
			ink(s.view[i*treebed.Block:(i+1)*treebed.Block], g)
		} else if _, err := f.WriteAt(b, int64(i)*treebed.Block); err != nil {
			return err
		}
		if s.lazy && rnd.Intn(16) == 0 {
			time.Sleep(time.Duration(rnd.Intn(3000)) * time.Microsecond)
		}
	}
	if s.way == "rename" {
		return errors.Join(f.Close(), os.Rename(s.path+".new", s.path))
	}
	return nil
}

// was tells whether the file had these bytes at some checkpoint, and how: whole, or
// in the midst of a rewrite.
func (s *scribe) was(b []byte) (bool, string) {
	words := make([]uint64, len(b)/8)
	newest, oldest := uint64(0), ^uint64(0)
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(b[i*8:])
		newest, oldest = max(newest, words[i]), min(oldest, words[i])
	}
	switch {
	case len(b)%treebed.Block != 0:
		return false, fmt.Sprintf("%d bytes are no blocks", len(b))
	case len(b) == treebed.Block*treebed.Blocks && newest == oldest:
		return true, "whole"
	case s.way == "rename":
		return false, "a file that is only ever replaced is mixed"
	case s.way == "truncate":
		return len(b) == 0 || newest == oldest, fmt.Sprintf("%d bytes of generations %d to %d", len(b), oldest, newest)
	case len(b) != treebed.Block*treebed.Blocks || newest != oldest+1:
		return false, fmt.Sprintf("%d bytes of generations %d to %d", len(b), oldest, newest)
	}
	return s.within(words, newest)
}

// within: what generation g wrote is a beginning of its order, and nothing else.
func (s *scribe) within(words []uint64, g uint64) (bool, string) {
	const per = treebed.Block / 8
	over := false // an old word was seen: from there on all must be old
	for k, i := range s.order(g) {
		for j, w := range words[i*per : (i+1)*per] {
			if w == g && over {
				return false, fmt.Sprintf("generation %d is ahead of its order at block %d, the %dth, word %d", g, i, k, j)
			}
			over = over || w != g
		}
	}
	return true, "in the midst"
}
