package replica

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// heads is a place with nothing but heads.
type heads struct {
	Place
	objects map[string][]byte
}

func (p *heads) List(context.Context, string) (out []Object, err error) {
	for name, data := range p.objects {
		out = append(out, Object{Name: name, Size: int64(len(data))})
	}
	slices.SortFunc(out, func(a, b Object) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func (p *heads) Get(_ context.Context, name string, _, _ int64) ([]byte, error) {
	data, ok := p.objects[name]
	if !ok {
		return nil, ErrMissing
	}
	return data, nil
}

func newSealer(t testing.TB) Sealer {
	t.Helper()
	s, err := NewSealer(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sealed(t testing.TB, h *Head) []byte {
	t.Helper()
	b, err := newSealer(t).seal(h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The newest head that opens counts; one that does not keeps its number.
func TestReadHead(t *testing.T) {
	t.Parallel()
	p := &heads{objects: map[string][]byte{"retake.head.strange": nil, "retake.head.ffffffffffffffff": nil}}
	h, err := ReadHead(t.Context(), p, newSealer(t))
	if err != nil || h.Number != 0 || len(h.Indexes) > 0 {
		t.Fatalf("no head: %+v %v", h, err)
	}
	for n := range int64(3) {
		p.objects[headName(n+9)] = sealed(t, &Head{V: 1, Number: n + 9, Writer: "w"})
	}
	if h, err = ReadHead(t.Context(), p, newSealer(t)); err != nil || h.Number != 11 {
		t.Fatalf("%+v %v", h, err)
	}
	p.objects[headName(11)] = p.objects[headName(11)][:20] // the place was cut off while it put
	h, err = ReadHead(t.Context(), p, newSealer(t))
	if err != nil || h.Number != 10 || h.next("w").Number != 12 {
		t.Fatalf("%+v %v", h, err)
	}
	p.objects[headName(10)], p.objects[headName(9)] = p.objects[headName(9)], p.objects[headName(10)]
	if h, err := ReadHead(t.Context(), p, newSealer(t)); err == nil {
		t.Errorf("heads under other numbers: %+v", h)
	}
	p.objects[headName(12)] = sealed(t, &Head{V: 2, Number: 12})
	if _, err := ReadHead(t.Context(), p, newSealer(t)); !errors.Is(err, errNewer) {
		t.Errorf("a newer version: %v", err)
	}
}

// As many indexes as there are: their number stays near the logarithm.
func TestFewIndexes(t *testing.T) {
	t.Parallel()
	var all []Index
	written, most := 0, 0
	for n := range 4096 {
		all = append(all, Index{Name: string(rune(n)), Entries: 16})
		for some := sameSize(all); some != nil; some = sameSize(all) {
			sum := 0
			for _, x := range some {
				sum += x.Entries
			}
			written += sum
			all = slices.DeleteFunc(all, func(x Index) bool { return slices.Contains(some, x) })
			all = append(all, Index{Name: string(rune(1<<20)) + string(rune(n)), Entries: sum})
		}
		most = max(most, len(all))
	}
	if most > 40 || written > 6*4096*16 {
		t.Errorf("up to %d indexes, each entry written %.1f times", most, float64(written)/4096/16)
	}
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	l := &limiter{rate: 1000, now: func() time.Time { return now }, pause: func(_ context.Context, d time.Duration) error {
		now = now.Add(d)
		return nil
	}}
	for range 10 {
		if err := l.wait(t.Context(), 500); err != nil {
			t.Fatal(err)
		}
	}
	if d := now.Sub(time.Unix(0, 0)); d != 4500*time.Millisecond { // the last is still on its way
		t.Errorf("5000 bytes at 1000 a second: %v", d)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := (&limiter{}).wait(ended, 1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzHead opens what anybody may have put.
func FuzzHead(f *testing.F) {
	f.Add(int64(1), sealed(f, &Head{V: 1, Number: 1, Writer: "w", Indexes: []Index{{Name: "xn0_ab-s1-c1", Length: 3}}}))
	f.Add(int64(2), []byte("no head"))
	f.Fuzz(func(t *testing.T, n int64, data []byte) {
		key := newSealer(t)
		if h, err := key.open(n, data); err == nil && h.Number != n {
			t.Errorf("head %d opens as %d", n, h.Number)
		}
		if got, ok := parseHeadName(headName(n)); n > 0 && (!ok || got != n) {
			t.Errorf("%d is read as %d", n, got)
		}
	})
}
