package insight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/verify"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// checkRunner runs the standing checks of new checkpoints in the background, one run per
// workspace. The next checkpoint or prompt cancels it.
type checkRunner struct {
	svc  *Insight
	mu   sync.Mutex
	runs map[retake.WorkspaceID]*checkRun
}

// checkRun is one run.
type checkRun struct {
	content      retake.ContentID
	pendingNames []string // checks without a result
	cancel       context.CancelFunc
}

// runningChecks returns the names of the checks that are running, by content.
func (r *checkRunner) runningChecks(ws retake.WorkspaceID) map[retake.ContentID][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.runs[ws]
	if v == nil {
		return nil
	}
	return map[retake.ContentID][]string{v.content: slices.Clone(v.pendingNames)}
}

// stop cancels the run of a workspace because its files are about to change. No result is
// recorded.
func (r *checkRunner) stop(ws retake.WorkspaceID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.runs[ws]; v != nil {
		v.cancel()
		delete(r.runs, ws)
	}
}

// stopAll cancels every run.
func (r *checkRunner) stopAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ws, v := range r.runs {
		v.cancel()
		delete(r.runs, ws)
	}
}

// onCheckpoint starts the checks of a new checkpoint if it is a complete one at the end of
// some work.
func (r *checkRunner) onCheckpoint(cp retake.Checkpoint) {
	switch cp.Trigger {
	case retake.TriggerTurn, retake.TriggerManual, retake.TriggerReturn, retake.TriggerSession:
	default:
		return
	}
	standing := r.svc.history.StandingChecks(cp.Workspace)
	if len(standing) == 0 || !r.svc.workspaces.Exclusive || cp.Coverage.Grade != retake.Complete || cp.Turn != nil && cp.Turn.Running > 0 {
		return
	}
	r.stop(cp.Workspace)
	ctx, cancel := context.WithCancel(r.svc.workspaces.Lifetime)
	v := &checkRun{content: cp.Content, cancel: cancel}
	for _, st := range standing {
		v.pendingNames = append(v.pendingNames, st.Name)
	}
	r.mu.Lock()
	r.runs[cp.Workspace] = v
	r.mu.Unlock()
	r.svc.workspaces.Work.Go(func() {
		defer cancel()
		r.svc.workspaces.RunTask(workspace.TaskChecks, func() error { return r.runAll(ctx, cp, standing, v) })
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.runs[cp.Workspace] == v {
			delete(r.runs, cp.Workspace)
		}
	})
}

// runAll runs the checks one after the other. Those with a result for this content are
// skipped.
func (r *checkRunner) runAll(ctx context.Context, cp retake.Checkpoint, standing []retake.Standing, v *checkRun) error {
	about, err := r.svc.history.VerificationsByContent(ctx, cp.Workspace, []retake.Checkpoint{cp})
	if err != nil {
		return err
	}
	var failed error
	for _, st := range standing {
		if ctx.Err() == nil && !isAnswered(about[cp.Content], st) {
			failed = errors.Join(failed, r.runCheck(ctx, cp, st))
		}
		r.mu.Lock()
		v.pendingNames = slices.DeleteFunc(v.pendingNames, func(n string) bool { return n == st.Name })
		r.mu.Unlock()
	}
	return failed
}

// isAnswered reports whether there is a real result of a check for this content.
func isAnswered(about []retake.Verification, st retake.Standing) bool {
	return slices.ContainsFunc(about, func(v retake.Verification) bool {
		return v.Name == st.Name && v.Command == st.Command && !v.Claim && !v.Bisect && v.Where != retake.Elsewhere && (v.Verdict == retake.Passed || v.Verdict == retake.Failed)
	})
}

// runCheck runs one check in the live workspace and records its result, unless it was
// canceled.
func (r *checkRunner) runCheck(ctx context.Context, cp retake.Checkpoint, st retake.Standing) error {
	ws, err := r.svc.workspaces.LoadWorkspace(ctx, cp.Workspace)
	if err != nil {
		return err
	}
	out := r.svc.RunCommand(ctx, ws, st.Command, ws.Root)
	if ctx.Err() != nil {
		return nil // it was canceled: no result
	}
	_, err = r.svc.Attest(ctx, NewAttestation(cp, st, out)) // on failure the next checkpoint runs it again
	return err
}

// RunCommand runs a check of a workspace in dir. If that is not the root, the check sees it
// at the path of the root.
func (s *Insight) RunCommand(ctx context.Context, ws retake.Workspace, command, dir string) verify.Outcome {
	job := verify.Job{Command: command, Dir: dir, Env: s.workspaces.CheckEnvironment(ws.ID), Limit: s.opts.VerifyLimit(ws.ID), Clock: s.workspaces.Clock}
	if dir != ws.Root {
		job.Over = ws.Root
	}
	return verify.Run(ctx, job)
}

// NewAttestation is the result of a standing check, as evidence about a checkpoint.
func NewAttestation(cp retake.Checkpoint, st retake.Standing, out verify.Outcome) retake.Attestation {
	return retake.Attestation{
		Workspace: cp.Workspace, Ref: string(cp.ID), Name: st.Name, Command: st.Command, Where: out.Where, Verdict: out.Verdict, Why: out.Why,
		Exit: out.Exit, Started: out.Started, Took: out.Took, Output: out.Output,
	}
}

// RecordClaim records what an agent says of its tests, as a claim.
func (s *Insight) RecordClaim(ctx context.Context, cp retake.Checkpoint) error {
	if cp.Turn == nil || cp.Turn.Words == "" {
		return nil
	}
	name, ok := verify.FindClaim(cp.Turn.Words)
	if !ok {
		return nil
	}
	_, err := s.Attest(ctx, retake.Attestation{
		Workspace: cp.Workspace, Ref: string(cp.ID), Name: name, Claim: true, By: cp.Turn.Agent, Verdict: retake.Passed,
		Why: fmt.Sprintf("%s says so", cp.Turn.Agent), Started: cp.Time,
	})
	return err
}
