//go:build linux

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// later is a clock that can be put forward.
type later struct{ by atomic.Int64 }

func (c *later) Now() time.Time { return clock.Wall.Now().Add(time.Duration(c.by.Load())) }

const (
	smallStore = 4 << 20
	largeFile  = 1 << 20
)

// filling: an agent that fills the store to its limit and beyond does not make older
// checkpoints go. They go when retention says so, or when somebody asks for it.
func filling(r *run) verdict {
	v := verdict{Guarantee: "G12", What: "a store that an agent fills above its limit: older checkpoints stay", Control: "a checkpoint taken from the rows is missed", Detail: map[string]any{}}
	start := time.Now()
	c := &later{}
	h, err := openHall(r, hallOptions{clock: c})
	if err != nil {
		v.fail("%v", err)
		return v
	}
	g, err := h.add("alpha")
	if err == nil {
		_, err = h.must(g.keys[retake.KeyAdmin], http.MethodPut, "/v1/namespace/limits", fmt.Sprintf(`{"store":%d}`, smallStore))
	}
	const first = 3 // they fit
	if err == nil {
		err = h.fill(g, first)
	}
	c.by.Store(int64(26 * time.Hour))
	for range 3 {
		if err == nil && h.fill(g, 4) != nil {
			v.Detail["refused"] = true // as a limit does
		}
		c.by.Add(int64(2 * time.Hour))
		rest := time.NewTimer(time.Second) // what looks after the store begins when saves pause
		<-rest.C
	}
	v.Tried = first
	for i := range first {
		if err == nil && !h.has(g, i+1) {
			v.fail("checkpoint %d is gone", i+1)
		}
	}
	if _, cerr := h.rows.conn.ExecContext(context.Background(), `DELETE FROM checkpoint WHERE number = 1`); cerr == nil && !h.has(g, 1) {
		v.Caught++
	}
	if err = errors.Join(err, h.close()); err != nil {
		v.fail("%v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

// fill saves n checkpoints of bytes that nothing makes smaller.
func (h *hall) fill(g *guest, n int) error {
	b := make([]byte, largeFile)
	for range n {
		_, _ = rand.Read(b) // never fails; the runtime ends the process instead
		if err := os.WriteFile(filepath.Join(h.files(g.ns), "default", "large"), b, 0o644); err != nil {
			return err
		}
		if _, err := h.must(g.keys[retake.KeyAgent], http.MethodPost, "/v1/snapshots", `{"label":"full"}`); err != nil {
			return err
		}
	}
	return nil
}

func (h *hall) has(g *guest, number int) bool {
	return h.ask(asked{key: g.keys[retake.KeyReader], method: http.MethodGet, path: fmt.Sprintf("/v1/workspaces/%s/find?ref=%d", g.home, number)}).good()
}
