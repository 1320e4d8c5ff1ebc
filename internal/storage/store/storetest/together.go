package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// brief is how long a test lets something wait that has to give up.
const brief = 150 * time.Millisecond

func busy(t *testing.T, h Harness) {
	w := begin(t, h.Store, newWorkspace())
	ctx, cancel := context.WithTimeout(t.Context(), brief)
	defer cancel()
	if other, err := h.Store.Begin(ctx, w.ws); !errors.Is(err, store.ErrBusy) {
		t.Fatalf("Begin of a line that is written: %v, %v, want ErrBusy", other, err)
	}
	if ctx.Err() == nil {
		t.Error("Begin gives up before its time is over")
	}

	next := make(chan store.Writer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		w, err := h.Store.Begin(ctx, w.ws)
		if err != nil {
			t.Errorf("Begin while the line is written: %v", err)
		}
		next <- w
	}()
	card := w.seal(1, []byte("first"))
	select {
	case <-next:
		t.Fatal("two writers hold one line")
	default:
	}
	w.close()
	second := <-next
	if second == nil {
		return
	}
	if at := second.Head(); at.Latest != 1 {
		t.Errorf("the second writer begins with %+v, want the seal of the first", at)
	}
	if err := second.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	wantLeaf(t, h.Store, card, []byte("first"))
}

func twoLines(t *testing.T, h Harness) {
	const lines, n = 2, 10
	var pens [lines]pen
	for i := range pens {
		pens[i] = begin(t, h.Store, newWorkspace()) // all are open at once
	}
	var cards [lines][n]retake.Card
	var wg sync.WaitGroup
	for i, w := range pens {
		wg.Go(func() {
			defer func() {
				if err := w.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			for j := range n {
				card, err := sealQuietly(t.Context(), w, int64(j+1), fmt.Appendf(nil, "%d %d", i, j))
				if err != nil {
					t.Errorf("line %d: %v", i, err)
					return
				}
				cards[i][j] = card
			}
		})
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	s := reopen(t, h)
	heads, err := s.Heads(t.Context())
	if err != nil || len(heads) != lines {
		t.Fatalf("Heads: %v, %v, want %d", heads, err, lines)
	}
	for i, w := range pens {
		if at := head(t, s, w.ws); at.Latest != n || at.Workspace.ID != w.ws.ID {
			t.Errorf("head: %+v", at)
		}
		for j, card := range cards[i] {
			wantLeaf(t, s, card, fmt.Appendf(nil, "%d %d", i, j))
		}
	}
}

// sealQuietly is for goroutines, which must not end the test.
func sealQuietly(ctx context.Context, w pen, number int64, content []byte) (retake.Card, error) {
	id, size, err := w.WriteFile(ctx, "a", bytes.NewReader(content))
	if err != nil {
		return retake.Card{}, err
	}
	e := retake.Entry{Name: "a", Kind: retake.KindFile, Mode: 0o600, Size: size, Object: id}
	dir, sum, err := w.WriteDir(ctx, []retake.Entry{e}, 0)
	if err != nil {
		return retake.Card{}, err
	}
	root := retake.Entry{Kind: retake.KindDir, Mode: 0o700, Object: dir, Sum: sum}
	card := newCard(w.ws, number, root)
	return card, w.Seal(ctx, store.Sealing{Card: card, Files: root})
}

// sweepWaits sweeps between a write and its seal.
func sweepWaits(t *testing.T, h Harness) {
	content := noise(20, 1<<20)
	w := begin(t, h.Store, newWorkspace())
	root := w.dir("", w.file("a", content))
	ctx, cancel := context.WithTimeout(t.Context(), brief)
	defer cancel()
	if _, err := h.Store.Sweep(ctx, store.SweepOptions{}); err == nil {
		t.Error("Sweep runs while a writer is open")
	}

	swept := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := h.Store.Sweep(ctx, store.SweepOptions{})
		swept <- err
	}()
	card := w.sealTree(1, root, nil)
	select {
	case err := <-swept:
		t.Errorf("Sweep ends while a writer is open: %v", err)
		swept <- err
	default:
	}
	w.close()
	if err := <-swept; err != nil {
		t.Errorf("Sweep after the writer is closed: %v", err)
	}
	s := reopen(t, h)
	wantLeaf(t, s, card, content)
	w = begin(t, s, w.ws) // the sweep gave the store back
	w.seal(2, []byte("after"))
	w.close()
	wantNumbers(t, s, w.ws, 0, 1, 2)
}
