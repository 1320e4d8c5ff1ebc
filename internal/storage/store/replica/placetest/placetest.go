// Package placetest is the suite that every replica.Place passes. It touches the place that it is given,
// and nothing else.
package placetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// Run runs the suite. open returns an empty place.
func Run(t *testing.T, open func(t *testing.T) replica.Place) {
	tests := []struct {
		name string
		run  func(*bed)
	}{
		{"PutAndGet", putAndGet}, {"Missing", missing}, {"Exists", exists}, {"List", list}, {"Delete", deletes}, {"Together", together}, {"Large", large},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := open(t)
			t.Cleanup(func() { _ = p.Close() })
			tt.run(&bed{t, p})
		})
	}
}

type bed struct {
	*testing.T
	p replica.Place
}

func (b *bed) put(name, text string) {
	b.Helper()
	if err := b.p.Put(b.Context(), name, []byte(text)); err != nil {
		b.Fatal(err)
	}
}

func (b *bed) wantGet(name string, offset, length int64, want string) {
	b.Helper()
	got, err := b.p.Get(b.Context(), name, offset, length)
	if err != nil || string(got) != want {
		b.Errorf("get %s from %d, %d bytes: %q %v, want %q", name, offset, length, got, err, want)
	}
}

func putAndGet(b *bed) {
	b.put("p1", "0123456789")
	b.put("retake.head.0000000000000001", "")
	b.wantGet("p1", 0, -1, "0123456789")
	b.wantGet("p1", 2, 3, "234")
	b.wantGet("p1", 7, -1, "789")
	b.wantGet("p1", 0, 10, "0123456789")
	b.wantGet("p1", 4, 0, "")
	b.wantGet("retake.head.0000000000000001", 0, -1, "")
	for _, r := range [][2]int64{{8, 3}, {11, 1}} { // more than there is
		if got, err := b.p.Get(b.Context(), "p1", r[0], r[1]); err == nil {
			b.Errorf("get from %d, %d bytes: %q", r[0], r[1], got)
		}
	}
}

func missing(b *bed) {
	for _, length := range []int64{-1, 5} {
		if _, err := b.p.Get(b.Context(), "p1", 0, length); !errors.Is(err, replica.ErrMissing) {
			b.Errorf("get %d bytes of what is not there: %v", length, err)
		}
	}
	if all, err := b.p.List(b.Context(), ""); err != nil || len(all) > 0 {
		b.Errorf("%v %v", all, err)
	}
}

func exists(b *bed) {
	b.put("p1", "first")
	if err := b.p.Put(b.Context(), "p1", []byte("second")); !errors.Is(err, replica.ErrExists) {
		b.Errorf("put again: %v", err)
	}
	b.wantGet("p1", 0, -1, "first")
}

func list(b *bed) {
	for _, name := range []string{"q2", "p3", "p1", "xn0_ab-s1-c1", "p2"} {
		b.put(name, name)
	}
	for prefix, want := range map[string][]string{"p": {"p1", "p2", "p3"}, "x": {"xn0_ab-s1-c1"}, "": {"p1", "p2", "p3", "q2", "xn0_ab-s1-c1"}, "z": nil} {
		all, err := b.p.List(b.Context(), prefix)
		var names []string
		for _, o := range all {
			names = append(names, o.Name)
			if o.Size != int64(len(o.Name)) || o.Since.IsZero() {
				b.Errorf("%+v", o)
			}
		}
		if err != nil || !slices.Equal(names, want) {
			b.Errorf("list %q: %q %v, want %q", prefix, names, err, want)
		}
	}
}

func deletes(b *bed) {
	b.put("p1", "first")
	for range 2 { // the second has nothing to do
		if err := b.p.Delete(b.Context(), "p1"); err != nil {
			b.Error(err)
		}
	}
	if _, err := b.p.Get(b.Context(), "p1", 0, -1); !errors.Is(err, replica.ErrMissing) {
		b.Errorf("get what was deleted: %v", err)
	}
	b.put("p1", "second")
	b.wantGet("p1", 0, -1, "second")
}

// together lets several put one name: where the place refuses to replace, exactly one does it.
func together(b *bed) {
	traits, err := b.p.Traits(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for round := range 10 {
		name := fmt.Sprintf("p%d", round)
		var wg sync.WaitGroup
		won := make(chan string, 8)
		for i := range 8 {
			wg.Go(func() {
				text := fmt.Sprintf("%d says %d", i, round)
				switch err := b.p.Put(context.WithoutCancel(b.Context()), name, []byte(text)); {
				case err == nil:
					won <- text
				case traits.Refuses && !errors.Is(err, replica.ErrExists):
					b.Errorf("put together: %v", err)
				}
			})
		}
		wg.Wait()
		close(won)
		var winners []string
		for w := range won {
			winners = append(winners, w)
		}
		got, err := b.p.Get(b.Context(), name, 0, -1)
		if err != nil || len(winners) == 0 || traits.Refuses && (len(winners) != 1 || string(got) != winners[0]) {
			b.Errorf("%d won, there is %q %v", len(winners), got, err)
		}
	}
}

func large(b *bed) {
	data := make([]byte, 21<<20+7)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(data) // it never fails
	if err := b.p.Put(b.Context(), "p1", data); err != nil {
		b.Fatal(err)
	}
	got, err := b.p.Get(b.Context(), "p1", 0, -1)
	if err != nil || !bytes.Equal(got, data) {
		b.Errorf("%d bytes %v", len(got), err)
	}
	got, err = b.p.Get(b.Context(), "p1", 20<<20, 1<<20)
	if err != nil || !bytes.Equal(got, data[20<<20:21<<20]) {
		b.Errorf("%d bytes of a part, %v", len(got), err)
	}
}
