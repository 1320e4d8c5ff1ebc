// Package rescue saves files outside of a workspace before a call of an agent destroys them.
//
// It reads what the text of the call names, and runs nothing. Other workspaces among it get a
// checkpoint of their own; everything else is stored with the checkpoint that is taken before the
// call. It writes no file of the user.
//
//	W1  What is not saved is named, with the reason, before the call runs.
//	W2  It neither fails nor delays the checkpoint beyond its limit of time.
//	W3  It never reads the store's own directory, and nothing for a caller on another machine.
package rescue

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Rescuer saves files outside of workspaces.
type Rescuer struct {
	workspaces  *workspace.Registry
	checkpoints *checkpoint.Checkpoints
	localAgents bool // agents run on this machine, with the rights of this process; else nothing is saved
}

// New returns a Rescuer.
func New(w *workspace.Registry, c *checkpoint.Checkpoints, localAgents bool) *Rescuer {
	return &Rescuer{workspaces: w, checkpoints: c, localAgents: localAgents}
}

// IsLocal reports whether files outside of workspaces may be read and written: they are the caller's.
func (s *Rescuer) IsLocal() bool { return s.localAgents }

// Request is a call that may destroy files outside of its workspace.
type Request struct {
	Workspace retake.Workspace
	Command   string   // for the checkpoints of other workspaces
	Bases     []string // where relative targets may begin; resolved
	Targets   []risk.Target
	More      bool // it may destroy what no target names
	Limit     retake.RescueLimit
	Since     time.Time // when the agent began to wait
}

// Limits of one call.
const (
	maxRescues    = 32
	maxWorkspaces = 8     // that get a checkpoint
	maxMatches    = 10000 // names that a pattern stands for
)

// Prepare finds what a call may destroy outside of its workspace, and takes checkpoints of the other
// workspaces among it. It returns nil if there is nothing.
func (s *Rescuer) Prepare(ctx context.Context, req Request) *Plan {
	if !s.localAgents {
		return nil
	}
	p := &Plan{svc: s, limit: req.Limit, deadline: req.Since.Add(req.Limit.Time)}
	f := &finder{svc: s, req: req, plan: p, groups: map[string]*group{}, others: map[retake.WorkspaceID]*retake.Rescue{}}
	f.findAll(ctx)
	if len(p.groups) == 0 && len(p.rescues) == 0 && len(f.otherOrder) == 0 {
		return nil
	}
	p.rescues = append(f.saveOthers(ctx), p.rescues...)
	return p
}

// PrepareFiles returns a plan that stores names of one directory, however long that takes.
func (s *Rescuer) PrepareFiles(dir string, names []string) *Plan {
	const unlimited = 1 << 60
	return &Plan{
		svc: s, limit: retake.RescueLimit{Bytes: unlimited}, deadline: s.workspaces.Clock.Now().Add(time.Hour),
		groups: []*group{{dir: dir, names: names}},
	}
}

// saveOthers takes a checkpoint of each other workspace that the call may destroy files in.
func (f *finder) saveOthers(ctx context.Context) []retake.Rescue {
	var out []retake.Rescue
	for i, ws := range f.otherOrder {
		r := *f.others[ws.ID]
		switch cp, err := f.saveOther(ctx, ws, i); {
		case err != nil:
			r.NotSaved = "no checkpoint of " + ws.Name + " could be taken: " + retake.AsError(err).What
		case cp.Coverage.Grade != retake.Complete:
			r.Checkpoint, r.NotSaved = cp.Number, fmt.Sprintf("checkpoint %d of %s is partial", cp.Number, ws.Name)
		default:
			r.Checkpoint = cp.Number
		}
		out = append(out, r)
	}
	return out
}

// saveOther takes a checkpoint of another workspace. It goes on if there is no time left to wait for it.
func (f *finder) saveOther(ctx context.Context, ws retake.Workspace, nth int) (retake.Checkpoint, error) {
	left := f.plan.timeLeft()
	if nth >= maxWorkspaces || left <= 0 {
		return retake.Checkpoint{}, errNoTime
	}
	type result struct {
		cp  retake.Checkpoint
		err error
	}
	done := make(chan result, 1)
	save := retake.SaveRequest{
		Workspace: ws.ID, Trigger: retake.TriggerRisk, IfChanged: true, Budget: left,
		Intent: fmt.Sprintf("before a command in %s: %s", f.req.Workspace.Name, f.req.Command),
	}
	f.svc.workspaces.Work.Go(func() {
		r := result{err: errNoTime}
		f.svc.workspaces.RunTask(workspace.TaskSaves, func() error {
			res, err := f.svc.checkpoints.Save(context.WithoutCancel(ctx), save)
			r = result{res.Checkpoint, err}
			return err
		})
		done <- r
	})
	select {
	case r := <-done:
		return r.cp, r.err
	case <-time.After(left):
		return retake.Checkpoint{}, errNoTime
	}
}

var errNoTime = &retake.Error{Kind: retake.Busy, What: "there was no time left"}
