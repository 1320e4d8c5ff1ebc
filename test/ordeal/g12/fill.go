//go:build linux

package g12

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
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
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
func filling(r *harness.Run) harness.Verdict {
	v := harness.Verdict{Guarantee: "G12", What: "a store that an agent fills above its limit: older checkpoints stay", Control: "a checkpoint taken from the rows is missed", Detail: map[string]any{}}
	start := time.Now()
	c := &later{}
	h, err := serverbed.OpenHall(r, serverbed.HallOptions{Clock: c})
	if err != nil {
		v.Fail("%v", err)
		return v
	}
	g, err := h.Add("alpha")
	if err == nil {
		_, err = h.Must(g.Keys[retake.KeyAdmin], http.MethodPut, "/v1/namespace/limits", fmt.Sprintf(`{"store":%d}`, smallStore))
	}
	const first = 3 // they fit
	if err == nil {
		err = fill(h, g, first)
	}
	c.by.Store(int64(26 * time.Hour))
	for range 3 {
		if err == nil && fill(h, g, 4) != nil {
			v.Detail["refused"] = true // as a limit does
		}
		c.by.Add(int64(2 * time.Hour))
		rest := time.NewTimer(time.Second) // what looks after the store begins when saves pause
		<-rest.C
	}
	v.Tried = first
	for i := range first {
		if err == nil && !has(h, g, i+1) {
			v.Fail("checkpoint %d is gone", i+1)
		}
	}
	if _, cerr := h.Rows.Conn.ExecContext(context.Background(), `DELETE FROM checkpoint WHERE number = 1`); cerr == nil && !has(h, g, 1) {
		v.Caught++
	}
	if err = errors.Join(err, h.Close()); err != nil {
		v.Fail("%v", err)
	}
	v.Seconds = time.Since(start).Seconds()
	return v
}

// fill saves n checkpoints of bytes that nothing makes smaller.
func fill(h *serverbed.Hall, g *serverbed.Guest, n int) error {
	b := make([]byte, largeFile)
	for range n {
		_, _ = rand.Read(b) // never fails; the runtime ends the process instead
		if err := os.WriteFile(filepath.Join(h.Files(g.Ns), "default", "large"), b, 0o644); err != nil {
			return err
		}
		if _, err := h.Must(g.Keys[retake.KeyAgent], http.MethodPost, "/v1/snapshots", `{"label":"full"}`); err != nil {
			return err
		}
	}
	return nil
}

func has(h *serverbed.Hall, g *serverbed.Guest, number int) bool {
	return h.Ask(serverbed.Asked{Key: g.Keys[retake.KeyReader], Method: http.MethodGet, Path: fmt.Sprintf("/v1/workspaces/%s/find?ref=%d", g.Home, number)}).Good()
}
