package harness

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// Middle returns the median.
func Middle(d []time.Duration) time.Duration {
	if len(d) == 0 {
		return 0
	}
	s := slices.Clone(d)
	slices.Sort(s)
	return s[len(s)/2]
}

// FastDir gives a place for the files of one trial. A kill takes nothing out of the
// page cache, so memory does as well as a disk.
func FastDir(r *Run, name string) string {
	d, err := os.MkdirTemp("/dev/shm", "ordeal-"+name+"-")
	if err != nil {
		return r.Scratch(name)
	}
	return d
}

// SpreadOver gives every operation its turn, or spreads fewer turns evenly.
func SpreadOver(i, n int, ops int64) int64 {
	if int64(n) >= ops {
		return int64(i)%ops + 1
	}
	return int64(i)*ops/int64(n) + 1
}

// Share runs the trials on two goroutines.
func Share(n int, f func(i int)) {
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := w; i < n; i += 2 {
				f(i)
			}
		})
	}
	wg.Wait()
}

// IgnoreAbsent returns nil for an error that says that there is no such file.
func IgnoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Patience is how long one save may take while somebody works against it.
const Patience = 30 * time.Second
