//go:build linux

package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

// promise is one save that was acknowledged: what must be found from then on.
type promise struct {
	client int
	ws     int
	id     retake.CheckpointID
	number int64 // 0 when nobody was told
	file   string
	text   string // unique, and the intent as well
}

// ledger is what the clients of one ordeal were told.
type ledger struct {
	mu       sync.Mutex
	begun    int
	promises []promise // of one client in the order it was told
	refused  []promise // saves that ended with an error
	errors   []string
}

func (l *ledger) started() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.begun
}

// deed changes a file to a text that nobody wrote before, saves with one build of
// the program, and notes what it was told.
func (l *ledger) deed(h *daemonbed.Home, exe string, client, ws, step int) {
	l.mu.Lock()
	l.begun++
	l.mu.Unlock()
	p := promise{client: client, ws: ws, file: fmt.Sprintf("client-%d.txt", client), text: fmt.Sprintf("client %d step %d workspace %d", client, step, ws)}
	err := p.save(h, exe)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.refused, l.errors = append(l.refused, p), append(l.errors, err.Error())
		return
	}
	l.promises = append(l.promises, p)
}

func (p *promise) save(h *daemonbed.Home, exe string) error {
	if err := os.WriteFile(filepath.Join(h.Root(p.ws), p.file), []byte(p.text), 0o644); err != nil {
		return err
	}
	out, err := h.Ask(exe, "-C", h.Root(p.ws), "save", p.text, "--json")
	if err != nil {
		return err
	}
	var res retake.SaveResult
	if err := json.Unmarshal(out, &res); err != nil {
		return err
	}
	p.id, p.number = res.Checkpoint.ID, res.Checkpoint.Number
	return nil
}

// keptBy looks, without any daemon, whether every promise is kept: in the catalog
// as it is, and as the store alone makes it.
func (l *ledger) keptBy(ctx context.Context, h *daemonbed.Home, v *harness.Verdict) {
	s, err := h.Alone(ctx)
	if err != nil {
		v.Fail("open: %v", err)
		return
	}
	defer s.Close() //nolint:errcheck // scratch
	for _, when := range []string{"as it is", "rebuilt"} {
		if when == "rebuilt" {
			if _, err := s.Rebuild(ctx); err != nil {
				v.Fail("rebuild: %v", err)
				return
			}
		}
		for i := range h.Ids {
			l.lineKept(ctx, h, s, i, func(format string, a ...any) { v.Fail(when+": "+format, a...) })
		}
	}
	rep, err := s.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil || len(rep.Failed) > 0 {
		v.Fail("scrub: %v %v", err, rep.Failed)
	}
}

// lineKept compares one workspace with what was promised about it.
func (l *ledger) lineKept(ctx context.Context, h *daemonbed.Home, s retake.Service, ws int, fail func(string, ...any)) {
	tl, err := s.Log(ctx, retake.LogQuery{Workspace: h.Ids[ws]})
	if err != nil {
		fail("log of %d: %v", ws, err)
		return
	}
	byID, byIntent := inOrder(tl, fail)
	last := map[int]int64{}
	for _, p := range l.promises {
		if p.ws != ws {
			continue
		}
		if err := p.kept(ctx, s, h.Ids[ws], byID); err != nil {
			fail("%q: %v", p.text, err)
		}
		if n := byIntent[p.text]; n != 1 {
			fail("%q: acknowledged once, and there %d times", p.text, n)
		}
		if p.number != 0 && p.number <= last[p.client] {
			fail("%q: number %d after %d", p.text, p.number, last[p.client])
		}
		last[p.client] = p.number
	}
	for _, p := range l.refused {
		if n := byIntent[p.text]; p.ws == ws && n > 1 {
			fail("%q: refused, and there %d times", p.text, n)
		}
	}
}

// inOrder wants numbers that rise and ids that are there once; it gives the checkpoints
// by id, and how many there are of each intent.
func inOrder(tl retake.Timeline, fail func(string, ...any)) (byID map[retake.CheckpointID]retake.Checkpoint, byIntent map[string]int) {
	byID, byIntent = map[retake.CheckpointID]retake.Checkpoint{}, map[string]int{}
	for i, cp := range tl.Checkpoints { // the newest first
		byID[cp.ID] = cp
		byIntent[cp.Intent]++
		if i > 0 && cp.Number >= tl.Checkpoints[i-1].Number {
			fail("%s: number %d comes before %d", tl.Workspace.Name, cp.Number, tl.Checkpoints[i-1].Number)
		}
	}
	if len(byID) != len(tl.Checkpoints) || int64(len(byID)) != tl.Total {
		fail("%s: %d ids in %d checkpoints of %d", tl.Workspace.Name, len(byID), len(tl.Checkpoints), tl.Total)
	}
	return byID, byIntent
}

func (p *promise) kept(ctx context.Context, s retake.Service, ws retake.WorkspaceID, there map[retake.CheckpointID]retake.Checkpoint) error {
	cp, ok := there[p.id]
	if !ok {
		return fmt.Errorf("acknowledged %s is gone", p.id)
	}
	if p.number != 0 && cp.Number != p.number || cp.Intent != p.text {
		return fmt.Errorf("acknowledged as %d, is %d %q", p.number, cp.Number, cp.Intent)
	}
	r, _, err := s.Open(ctx, ws, string(p.id), p.file)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(r)
	if err != nil || string(b) != p.text {
		return fmt.Errorf("its file says %q: %w", b, err)
	}
	return nil
}

// readAlone reads the last promise of each workspace with the program itself.
func (l *ledger) readAlone(h *daemonbed.Home, v *harness.Verdict) {
	last := map[int]promise{}
	for _, p := range l.promises {
		last[p.ws] = p
	}
	for ws, p := range last {
		out, err := h.Ask(h.Exe, "--solo", "-C", h.Root(ws), "cat", string(p.id), p.file)
		if err != nil || string(out) != p.text {
			v.Fail("read alone: %q is %q: %v", p.text, out, err)
		}
	}
}
