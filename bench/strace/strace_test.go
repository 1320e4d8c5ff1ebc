package strace_test

import (
	"math"
	"testing"

	"github.com/retake-dev/retake/bench/strace"
)

const text = `21351 --- SIGURG {si_signo=SIGURG, si_code=SI_TKILL, si_pid=21348, si_uid=0} ---
21354 fsync(13</h/data>)        = 0 <0.001000>
21354 syncfs(13</ws>)           = 0 <0.004000>
21352 fsync(18</h/data/store/blobs/x.tmp> <unfinished ...>
21354 fsync(16</h/data/store/blobs/p.f>) = 0 <0.002000>
21354 fdatasync(9</h/data/storeroom/f>) = 0 <0.000500>
21352 <... fsync resumed>)              = 0 <0.003000>
21353 sync()                            = 0 <0.000250>
21352 +++ exited with 0 +++
`

func TestReadTellsTheStoreFromTheRest(t *testing.T) {
	t.Parallel()
	got := strace.Read(text, "/h/data/store")
	for _, c := range []struct {
		what          string
		sum           strace.Sum
		calls, millis float64
	}{
		{"store", got.Store, 2, 5}, {"rest", got.Rest, 2, 1.5}, {"whole", got.Whole, 2, 4.25},
	} {
		if c.sum.Calls != c.calls || math.Abs(c.sum.Millis-c.millis) > 1e-9 {
			t.Errorf("%s: %+v, want %v calls and %v ms", c.what, c.sum, c.calls, c.millis)
		}
	}
}
