// Package ahead reads what is needed next on several goroutines, for stores and servers where each
// read waits for an answer. It touches nothing itself.
package ahead

import (
	"context"
	"iter"
	"sync"
)

type result[T, R any] struct {
	item     T
	got      R
	err      error
	panicked any
}

// Each calls use for every item and what read returned for it, in the order of the items and on the
// goroutine of the caller. Up to width reads run or wait at a time; with a width of 1 there is no
// other goroutine. It returns the first error, in that order, after all reads have ended.
func Each[T, R any](ctx context.Context, width int, items iter.Seq2[T, error], read func(context.Context, T) (R, error), use func(T, R) error) error {
	if width <= 1 {
		return oneByOne(ctx, items, read, use)
	}
	var all sync.WaitGroup
	defer all.Wait()
	reading, cancel := context.WithCancel(ctx)
	defer cancel()
	queue := make(chan chan result[T, R], width-1)
	all.Go(func() {
		defer close(queue)
		defer func() {
			if p := recover(); p != nil { // of the items
				c := make(chan result[T, R], 1)
				c <- result[T, R]{panicked: p}
				select {
				case queue <- c:
				case <-reading.Done():
				}
			}
		}()
		for item, err := range items {
			c := make(chan result[T, R], 1)
			if err != nil {
				c <- result[T, R]{err: err}
			}
			select {
			case queue <- c:
			case <-reading.Done():
				return
			}
			if err != nil {
				return
			}
			all.Go(func() { c <- readOne(reading, item, read) })
		}
	})
	for c := range queue {
		r := <-c
		if r.panicked != nil {
			panic(r.panicked) // where the caller expects it
		}
		if r.err != nil {
			return r.err
		}
		if err := use(r.item, r.got); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func readOne[T, R any](ctx context.Context, item T, read func(context.Context, T) (R, error)) (r result[T, R]) {
	defer func() { r.panicked = recover() }()
	r.item = item
	r.got, r.err = read(ctx, item)
	return r
}

func oneByOne[T, R any](ctx context.Context, items iter.Seq2[T, error], read func(context.Context, T) (R, error), use func(T, R) error) error {
	for item, err := range items {
		if err == nil {
			err = ctx.Err()
		}
		var got R
		if err == nil {
			got, err = read(ctx, item)
		}
		if err == nil {
			err = use(item, got)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
