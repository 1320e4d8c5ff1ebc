package ahead_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/retake-dev/retake/internal/pure/ahead"
)

func numbers(n int, last error) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
		if last != nil {
			yield(0, last)
		}
	}
}

// Everything is used once and in order, and reads wait for their answers together.
func TestReadsAreInOrderAndTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const width, wait = 8, 20 * time.Millisecond
		var running, most atomic.Int64
		var got []int
		began := time.Now()
		err := ahead.Each(t.Context(), width, numbers(100, nil), func(_ context.Context, i int) (int, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			<-time.After(wait + time.Duration(i%3)*time.Millisecond)
			return 2 * i, nil
		}, func(i, twice int) error {
			got = append(got, i)
			if twice != 2*i {
				t.Errorf("%d is read as %d", i, twice)
			}
			return nil
		})
		if err != nil || len(got) != 100 || !slices.IsSorted(got) {
			t.Errorf("%v: %v", err, got)
		}
		if took := time.Since(began); took > 100*wait/width*2 || most.Load() > width+1 {
			t.Errorf("it took %v with %d at a time", took, most.Load())
		}
	})
}

// The first error in the order of the items ends it, and no read goes on.
func TestErrorsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	bad, refused := errors.New("bad"), errors.New("refused")
	for name, x := range map[string]struct {
		items iter.Seq2[int, error]
		read  func(int) error
		use   func(int) error
		want  error
		used  int
	}{
		"a read":    {numbers(50, nil), func(i int) error { return map[bool]error{true: bad}[i == 20] }, nil, bad, 20},
		"the items": {numbers(20, bad), nil, nil, bad, 20},
		"the use":   {numbers(50, nil), nil, func(i int) error { return map[bool]error{true: refused}[i == 20] }, refused, 21},
	} {
		for _, width := range []int{1, 4} {
			var running atomic.Int64
			used := 0
			err := ahead.Each(t.Context(), width, x.items, func(_ context.Context, i int) (int, error) {
				running.Add(1)
				defer running.Add(-1)
				if x.read != nil {
					return i, x.read(i)
				}
				return i, nil
			}, func(i, _ int) error {
				used++
				if x.use != nil {
					return x.use(i)
				}
				return nil
			})
			if !errors.Is(err, x.want) || used != x.used || running.Load() != 0 {
				t.Errorf("%s by %d: %v after %d, %d run", name, width, err, used, running.Load())
			}
		}
	}
}

// A panic of a read is one of the caller, who may be able to handle it.
func TestPanicsArrive(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() != "oh" {
			t.Error("the panic is lost")
		}
	}()
	_ = ahead.Each(t.Context(), 2, numbers(5, nil), func(context.Context, int) (int, error) { panic("oh") }, func(int, int) error { return nil })
}

// So is one of the items.
func TestPanicsOfItemsArrive(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() != "oh" {
			t.Error("the panic is lost")
		}
	}()
	items := func(yield func(int, error) bool) {
		yield(1, nil)
		panic("oh")
	}
	_ = ahead.Each(t.Context(), 2, items, func(context.Context, int) (int, error) { return 0, nil }, func(int, int) error { return nil })
}

// A canceled caller does not take the end for the end of the items.
func TestCanceledIsAnError(t *testing.T) {
	t.Parallel()
	for _, width := range []int{1, 2} {
		ctx, cancel := context.WithCancel(t.Context())
		err := ahead.Each(ctx, width, numbers(1000, nil), func(context.Context, int) (int, error) { return 0, nil }, func(i, _ int) error {
			if i == 5 {
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}
