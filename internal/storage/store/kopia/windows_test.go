package kopia

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kopia/kopia/repo/blob"
)

// Ranges that are read in a row come from windows, with the right bytes, from several goroutines; a
// fetch that fails is not remembered.
func TestWindows(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	pack := make([]byte, 3*windowSize+12345)
	for i := range pack {
		pack[i] = byte(rnd.Uint32())
	}
	var fetches, failures atomic.Int64
	away := errors.New("away")
	fetch := func(offset, length int64, out blob.OutputBuffer) error {
		if fetches.Add(1)%7 == 3 && failures.Add(1) < 5 {
			return away
		}
		end := min(offset+length, int64(len(pack)))
		if _, err := out.Write(pack[offset:end]); err != nil {
			return err
		}
		if end < offset+length {
			return blob.ErrInvalidRange
		}
		return nil
	}
	c := &windowCache{now: func() time.Time { return time.Unix(0, 0) }}
	var served atomic.Int64
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			rnd := rand.New(rand.NewPCG(5, uint64(g)))
			for range 500 {
				length := rnd.Int64N(40_000) + 1
				offset := rnd.Int64N(int64(len(pack)) - length)
				var got readBuffer
				if !c.read("p1", offset, length, &got, fetch) {
					continue
				}
				if served.Add(1); !bytes.Equal(got.Bytes(), pack[offset:offset+length]) {
					t.Errorf("%d bytes at %d are others", length, offset)
				}
			}
		})
	}
	all.Wait()
	if served.Load() < 3900 || fetches.Load() > 40 {
		t.Errorf("%d of 4000 served with %d fetches", served.Load(), fetches.Load())
	}
	if c.bytes > maxWindowBytes || c.bytes == 0 {
		t.Errorf("%d bytes are kept", c.bytes)
	}
	for range 5 { // a range behind the end is the storage's to refuse
		if c.read("p1", int64(len(pack))-10, 20, &readBuffer{}, fetch) {
			t.Error("bytes behind the end")
		}
	}
}

// A few reads, and reads far apart in time, are as small as they were asked for.
func TestWindowsNeedARow(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	c := &windowCache{now: func() time.Time { return now }}
	fetch := func(_, length int64, out blob.OutputBuffer) error {
		_, err := out.Write(make([]byte, length))
		return err
	}
	for i := range 20 {
		if c.read("p1", int64(i), 10, &readBuffer{}, fetch) {
			t.Errorf("read %d comes from a window", i)
		}
		if now = now.Add(time.Second); i%2 == 1 {
			now = now.Add(rowPause)
		}
	}
	for i := range 10 * maxWindowBytes / windowSize {
		for range rowOfReads {
			c.read("p2", int64(i)*windowSize, 10, &readBuffer{}, fetch)
		}
		if c.bytes > maxWindowBytes {
			t.Fatalf("%d bytes are kept", c.bytes)
		}
	}
	if c.clearAll(); c.bytes != 0 || c.read("p2", 0, 10, &readBuffer{}, fetch) {
		t.Error("it remembers")
	}
}
