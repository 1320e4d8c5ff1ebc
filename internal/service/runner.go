package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/verify"
)

// runner runs the standing verifications of new checkpoints in the background, one workspace
// one run: the next checkpoint, or the next prompt, ends it.
type runner struct {
	s    *Service
	mu   sync.Mutex
	runs map[retake.WorkspaceID]*verifying
}

// verifying is one run.
type verifying struct {
	content retake.ContentID
	names   []string // that have not answered yet
	cancel  context.CancelFunc
}

// running are the names that are being asked, by content.
func (r *runner) running(ws retake.WorkspaceID) map[retake.ContentID][]string {
	r.mu.Lock()
	defer r.mu.Unlock()
	v := r.runs[ws]
	if v == nil {
		return nil
	}
	return map[retake.ContentID][]string{v.content: slices.Clone(v.names)}
}

// stop ends a run: the files are about to change. What it would have said is not
// recorded.
func (r *runner) stop(ws retake.WorkspaceID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v := r.runs[ws]; v != nil {
		v.cancel()
		delete(r.runs, ws)
	}
}

// stopAll ends every run.
func (r *runner) stopAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ws, v := range r.runs {
		v.cancel()
		delete(r.runs, ws)
	}
}

// checkpoint asks about a new one, when it is the end of something.
func (r *runner) checkpoint(cp retake.Checkpoint) {
	switch cp.Trigger {
	case retake.TriggerTurn, retake.TriggerManual, retake.TriggerReturn, retake.TriggerSession:
	default:
		return
	}
	standing := r.s.standing(cp.Workspace)
	if len(standing) == 0 || !r.s.p.Exclusive || cp.Coverage.Grade != retake.Complete || cp.Turn != nil && cp.Turn.Running > 0 {
		return
	}
	r.stop(cp.Workspace)
	ctx, cancel := context.WithCancel(r.s.life)
	v := &verifying{content: cp.Content, cancel: cancel}
	for _, st := range standing {
		v.names = append(v.names, st.Name)
	}
	r.mu.Lock()
	r.runs[cp.Workspace] = v
	r.mu.Unlock()
	r.s.hears.Go(func() {
		defer cancel()
		r.s.background(taskChecks, func() error { return r.all(ctx, cp, standing, v) })
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.runs[cp.Workspace] == v {
			delete(r.runs, cp.Workspace)
		}
	})
}

// all asks one after the other. What is known of this content is not asked again.
func (r *runner) all(ctx context.Context, cp retake.Checkpoint, standing []retake.Standing, v *verifying) error {
	about, err := r.s.answersAbout(ctx, cp.Workspace, []retake.Checkpoint{cp})
	if err != nil {
		return err
	}
	var failed error
	for _, st := range standing {
		if ctx.Err() == nil && !answered(about[cp.Content], st) {
			failed = errors.Join(failed, r.one(ctx, cp, st))
		}
		r.mu.Lock()
		v.names = slices.DeleteFunc(v.names, func(n string) bool { return n == st.Name })
		r.mu.Unlock()
	}
	return failed
}

// answered reports whether a real answer about this content stands already.
func answered(about []retake.Verification, st retake.Standing) bool {
	return slices.ContainsFunc(about, func(v retake.Verification) bool {
		return v.Name == st.Name && v.Command == st.Command && !v.Claim && !v.Bisect && v.Where != retake.Elsewhere && (v.Verdict == retake.Passed || v.Verdict == retake.Failed)
	})
}

func (r *runner) one(ctx context.Context, cp retake.Checkpoint, st retake.Standing) error {
	ws, err := r.s.row(ctx, cp.Workspace)
	if err != nil {
		return err
	}
	out := verify.Run(ctx, verify.Job{Command: st.Command, Dir: ws.Root, Env: r.s.verifyEnv(ws.ID), Limit: r.s.p.VerifyLimit(ws.ID), Clock: r.s.p.Clock})
	if ctx.Err() != nil {
		return nil // it was ended by us, and says nothing
	}
	_, err = r.s.Attest(ctx, attestation(cp, st, out)) // not recorded: the next checkpoint asks again
	return err
}

func attestation(cp retake.Checkpoint, st retake.Standing, out verify.Outcome) retake.Attestation {
	return retake.Attestation{
		Workspace: cp.Workspace, Ref: string(cp.ID), Name: st.Name, Command: st.Command, Where: out.Where, Verdict: out.Verdict, Why: out.Why,
		Exit: out.Exit, Started: out.Started, Took: out.Took, Output: out.Output,
	}
}

// environment is what verifications see of the user's, as it was when the workspace was
// protected.
type environment struct {
	V   int       `json:"v"`
	At  time.Time `json:"at"`
	Env []string  `json:"env"`
}

func envName(ws retake.WorkspaceID) string { return string(ws) + ".env" }

func (s *Service) keepEnv(ws retake.WorkspaceID, env []string) error {
	if len(env) == 0 || s.p.Sessions == "" {
		return nil
	}
	return s.writeSmall(envName(ws), environment{V: 1, At: s.p.Clock.Now(), Env: env})
}

func (s *Service) verifyEnv(ws retake.WorkspaceID) []string {
	var e environment
	if s.readSmall(envName(ws), &e) && len(e.Env) > 0 {
		return e.Env
	}
	return s.p.Env()
}

// claim keeps what an agent says of its tests as what it is: a claim.
func (s *Service) claim(ctx context.Context, cp retake.Checkpoint) error {
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
