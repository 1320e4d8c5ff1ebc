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

// shortWait is how long a test lets something wait that has to give up.
const shortWait = 150 * time.Millisecond

func testBusy(t *testing.T, h Harness) {
	w := beginWriter(t, h.Store, newWorkspace())
	ctx, cancel := context.WithTimeout(t.Context(), shortWait)
	defer cancel()
	if other, err := h.Store.Begin(ctx, w.ws); !errors.Is(err, store.ErrBusy) {
		t.Fatalf("Begin of a line that is written: %v, %v, want ErrBusy", other, err)
	}
	if ctx.Err() == nil {
		t.Error("Begin gives up before its time is over")
	}

	next := make(chan store.Writer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
		defer cancel()
		w, err := h.Store.Begin(ctx, w.ws)
		if err != nil {
			t.Errorf("Begin while the line is written: %v", err)
		}
		next <- w
	}()
	card := w.sealFile(1, []byte("first"))
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
	wantRecord(t, h.Store, card, []byte("first"))
}

func testTwoHistories(t *testing.T, h Harness) {
	const lines, n = 2, 10
	var pens [lines]testWriter
	for i := range pens {
		pens[i] = beginWriter(t, h.Store, newWorkspace()) // all are open at once
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
				card, err := sealNoFatal(t.Context(), w, int64(j+1), fmt.Appendf(nil, "%d %d", i, j))
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
		if at := readHead(t, s, w.ws); at.Latest != n || at.Workspace.ID != w.ws.ID {
			t.Errorf("head: %+v", at)
		}
		for j, card := range cards[i] {
			wantRecord(t, s, card, fmt.Appendf(nil, "%d %d", i, j))
		}
	}
}

// sealNoFatal is for goroutines, which must not end the test.
func sealNoFatal(ctx context.Context, w testWriter, number int64, content []byte) (retake.Card, error) {
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
	return card, w.Seal(ctx, store.SealRequest{Card: card, Files: root})
}

// testSweepWaits sweeps between a write and its seal.
func testSweepWaits(t *testing.T, h Harness) {
	content := randomBytes(20, 1<<20)
	w := beginWriter(t, h.Store, newWorkspace())
	root := w.writeDir("", w.writeFile("a", content))
	ctx, cancel := context.WithTimeout(t.Context(), shortWait)
	defer cancel()
	if _, err := h.Store.Sweep(ctx, store.SweepOptions{}); err == nil {
		t.Error("Sweep runs while a writer is open")
	}

	swept := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
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
	wantRecord(t, s, card, content)
	w = beginWriter(t, s, w.ws) // the sweep gave the store back
	w.sealFile(2, []byte("after"))
	w.close()
	wantNumbers(t, s, w.ws, 0, 1, 2)
}
