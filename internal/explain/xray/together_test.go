package xray_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// envs are small files, each with as many traits as its number.
func envs(n int) (asks []xray.Request, want []string) {
	for i := range n {
		var b strings.Builder
		for k := range i {
			fmt.Fprintf(&b, "K%d=v\n", k)
		}
		b.WriteString("# a remark, so that none is empty\n")
		asks = append(asks, ask("env@1", b.String()))
		want = append(want, fmt.Sprintf("%d ", i))
	}
	return asks, want
}

// turnsChild counts how often somebody who has written reads, which is how often two
// processes wait for each other.
type turnsChild struct {
	xray.Child
	wrote *atomic.Bool
	turns *atomic.Int32
}

func (c turnsChild) Write(b []byte) (int, error) {
	if !c.wrote.Swap(true) {
		c.turns.Add(1)
	}
	return c.Child.Write(b)
}

func (c turnsChild) Read(b []byte) (int, error) {
	n, err := c.Child.Read(b)
	c.wrote.Store(false)
	return n, err
}

// TestSmallFilesGoTogether holds that each has its own answer, and that there are few
// turns: with one for each file this would be 150.
func TestSmallFilesGoTogether(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var turns atomic.Int32
	p := xray.NewPool(func(ctx context.Context) (xray.Child, error) {
		c, err := proc.StartPiped(ctx, exe, "child", "good")
		return turnsChild{c, &atomic.Bool{}, &turns}, err
	})
	p.SetTimes(10*time.Second, time.Minute, time.Minute)
	t.Cleanup(func() { p.Close() })
	asks, want := envs(150)
	asks = append(asks, xray.Request{Reader: "mode@1", Path: "a", Entry: file(1)}, ask("none@1", "x"), ask("json@2", "{"), ask("env@1", "A=1\n"))
	want = append(want, "1 ", "0 there is no such reader", "0 is not JSON", "1 ")
	readings, err := p.Read(t.Context(), asks)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, whys(readings)); d != "" {
		t.Error(d)
	}
	if turns.Load() > 20 {
		t.Errorf("%d turns", turns.Load())
	}
}

// TestBlameAmongMany: the file that a child had is to blame, and no other.
func TestBlameAmongMany(t *testing.T) {
	t.Parallel()
	asks, want := envs(6)
	for how, first := range map[string]string{
		"deaf": "0 took too long", "hungry": "0 took too much memory", "mad": "0 the reader broke off",
		"brief": want[0], // one that ends for reasons of its own is nobody's fault
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p, started := pool(t, how, "good")
			if how == "deaf" {
				p.SetTimes(2*time.Second, time.Minute, time.Minute)
			}
			readings, err := p.Read(t.Context(), asks)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(append([]string{first}, want[1:]...), whys(readings)); d != "" {
				t.Error(d)
			}
			if started.Load() != 2 {
				t.Errorf("%d children", started.Load())
			}
		})
	}
}

// TestAnswersThatFillAPipe: both sides have more to say than a pipe holds, and neither
// waits for the other for ever.
func TestAnswersThatFillAPipe(t *testing.T) {
	t.Parallel()
	p, started := pool(t, "good")
	var text strings.Builder
	for i := range 1900 {
		fmt.Fprintf(&text, "A_%s_%d=v\n", strings.Repeat("LONG_", 20), i)
	}
	asks := slices.Repeat([]xray.Request{ask("env@1", text.String())}, 4)
	readings, err := p.Read(t.Context(), asks)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range readings {
		if r.Why != "" || len(r.Traits) != 1900 {
			t.Errorf("%d: %d traits, %s", i, len(r.Traits), r.Why)
		}
	}
	if started.Load() != 1 {
		t.Errorf("%d children", started.Load())
	}
}

// TestOneThatCannotBeOpenedAmongMany is said of it alone.
func TestOneThatCannotBeOpenedAmongMany(t *testing.T) {
	t.Parallel()
	p, started := pool(t, "good")
	asks, want := envs(5)
	asks[2].Open = func(context.Context) (io.ReadCloser, error) { return nil, errors.New("no such object") }
	asks[4].Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(&failing{1}), nil }
	want[2], want[4] = "0 the bytes could not be read", "0 the bytes could not be read"
	readings, err := p.Read(t.Context(), asks)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, whys(readings)); d != "" || started.Load() != 1 {
		t.Errorf("%d children: %s", started.Load(), d)
	}
}
