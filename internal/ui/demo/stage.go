package demo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/retake-dev/retake"
)

const (
	patience  = time.Minute
	pollEvery = 10 * time.Millisecond
)

// storyRunner plays the story in a new workspace.
type storyRunner struct {
	svc   retake.Service
	req   Request
	ws    retake.Workspace
	forks []retake.Workspace
	turns int

	claude, codex        *agentSession
	mismatch, lost, last int64
}

func newStoryRunner(s retake.Service, req Request) (*storyRunner, error) {
	dir, err := filepath.EvalSymlinks(req.Dir) // signals name the place as the service does
	if err != nil {
		return nil, fmt.Errorf("find directory: %w", err)
	}
	req.Dir = dir
	return &storyRunner{svc: s, req: req}, nil
}

func (st *storyRunner) reportStep(text string) {
	if st.req.OnStep != nil {
		st.req.OnStep(text)
	}
}

// shopDir is where the shop is.
func (st *storyRunner) shopDir() string { return filepath.Join(st.req.Dir, Shop) }

func (st *storyRunner) shopFile(path string) string {
	return filepath.Join(st.shopDir(), filepath.FromSlash(path))
}

// waitUntil polls a timeline until holds returns true.
func (st *storyRunner) waitUntil(ctx context.Context, ws retake.WorkspaceID, holds func(retake.Timeline) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("it takes too long"))
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		t, err := st.svc.Log(ctx, retake.LogQuery{Workspace: ws})
		if err == nil && holds(t) {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("wait for the timeline: %w", context.Cause(ctx))
		}
		if err != nil {
			return fmt.Errorf("read timeline: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// waitForCheckpoint waits for a checkpoint of an agent's turn.
func (st *storyRunner) waitForCheckpoint(ctx context.Context, a *agentSession, trigger retake.Trigger) (retake.Checkpoint, error) {
	ws, err := st.svc.Locate(ctx, a.dir)
	if err != nil {
		return retake.Checkpoint{}, fmt.Errorf("locate workspace: %w", err)
	}
	var found retake.Checkpoint
	err = st.waitUntil(ctx, ws.ID, func(t retake.Timeline) bool {
		i := slices.IndexFunc(t.Checkpoints, func(c retake.Checkpoint) bool {
			return c.Trigger == trigger && c.Turn != nil && c.Turn.ID == a.turn
		})
		if i >= 0 {
			found = t.Checkpoints[i]
		}
		return i >= 0
	})
	return found, err
}

// recordCheck runs the check of the shop on the live files, which are those of a checkpoint.
func (st *storyRunner) recordCheck(ctx context.Context, cp retake.Checkpoint, dir string) error {
	a, err := st.req.Check(ctx, dir)
	if err != nil {
		return fmt.Errorf("run check: %w", err)
	}
	a.Workspace, a.Ref, a.Name, a.Command = cp.Workspace, string(cp.ID), CheckName, CheckLine
	if _, err := st.svc.Attest(ctx, a); err != nil {
		return fmt.Errorf("record check: %w", err)
	}
	return nil
}

// restoreTo goes to another checkpoint, by a plan whose obstacles are known and accepted.
func (st *storyRunner) restoreTo(ctx context.Context, req retake.PlanRequest) (retake.Checkpoint, error) {
	req.Workspace = st.ws.ID
	plan, err := st.svc.PlanRestore(ctx, req)
	if err != nil {
		return retake.Checkpoint{}, fmt.Errorf("plan %s: %w", req.Course, err)
	}
	var accept []string
	for _, o := range plan.Obstacles {
		accept = append(accept, o.Class)
	}
	res, err := st.svc.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: req, Digest: plan.Digest, Accept: accept})
	if err == nil && len(res.Failed) > 0 {
		err = fmt.Errorf("%s: %s", res.Failed[0].Path, res.Failed[0].Why)
	}
	if err != nil {
		return retake.Checkpoint{}, fmt.Errorf("apply %s: %w", req.Course, err)
	}
	return res.Checkpoint, nil
}

// maxTimelineReads is how often a timeline is asked to be told; each time is bounded.
const maxTimelineReads = 4

// readTimeline returns a timeline in which all checkpoints have their stories: a search waits
// for those in progress and makes the missing ones.
func (st *storyRunner) readTimeline(ctx context.Context, ws retake.WorkspaceID) (retake.Timeline, error) {
	var t retake.Timeline
	for range maxTimelineReads {
		if _, err := st.svc.Search(ctx, retake.SearchQuery{Workspace: ws, Text: Shop, Limit: 1}); err != nil {
			return t, fmt.Errorf("search timeline: %w", err)
		}
		var err error
		if t, err = st.svc.Log(ctx, retake.LogQuery{Workspace: ws}); err != nil {
			return t, fmt.Errorf("read timeline: %w", err)
		}
		if !slices.ContainsFunc(t.Checkpoints, func(c retake.Checkpoint) bool { return t.Findings[c.ID].Gist == nil }) {
			break // else what is missing is told when somebody looks
		}
	}
	return t, nil
}

// collectResult waits until everything is told, and counts.
func (st *storyRunner) collectResult(ctx context.Context) (Result, error) {
	st.reportStep("reading what changed")
	for _, f := range st.forks {
		if _, err := st.readTimeline(ctx, f.ID); err != nil {
			return Result{}, err
		}
	}
	t, err := st.readTimeline(ctx, st.ws.ID)
	if err != nil {
		return Result{}, err
	}
	effects, err := st.svc.Effects(ctx, st.ws.ID, "")
	if err != nil {
		return Result{}, fmt.Errorf("list effects: %w", err)
	}
	return Result{
		Dir: st.req.Dir, Workspace: st.ws, Forks: st.forks, Checkpoints: t.Total, Turns: st.turns, Effects: len(effects), Good: t.Good,
		Mismatch: st.mismatch, Lost: st.lost, Last: st.last,
	}, nil
}
