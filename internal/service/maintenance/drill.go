package maintenance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// drillMark is the catalog mark with the last drill of a workspace.
const drillMark = "drill:"

// Drill restores the newest good checkpoint into a throwaway fork, mounted at the
// workspace's own path, and runs its checks there. The live files are not touched.
func (s *Maintenance) Drill(ctx context.Context, id retake.WorkspaceID) (retake.Drill, error) {
	cp, err := s.history.FindNewestGood(ctx, id)
	if err != nil {
		return retake.Drill{}, workspace.WrapError("not drilled", workspace.Unchanged, err)
	}
	if cp == nil {
		return retake.Drill{}, &retake.Error{Kind: retake.NotFound, What: "no checkpoint is good yet", Safe: workspace.Unchanged, Hint: "set a check: retake config verify.test \"npm test\""}
	}
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	if err != nil {
		return retake.Drill{}, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	d := retake.Drill{At: s.workspaces.Clock.Now(), Number: cp.Number, Verdict: retake.Passed}
	if err := s.withThrowawayFork(ctx, *cp, func(dir string) { s.runDrillChecks(ctx, ws, *cp, dir, &d) }); err != nil {
		d.Verdict, d.Why = retake.CouldNotRun, err.Error()
	}
	b, err := json.Marshal(d)
	if err == nil {
		err = s.workspaces.Catalog.SetMark(ctx, drillMark+string(id), string(b))
	}
	return d, workspace.WrapError("the drill is not noted", workspace.Unchanged, err)
}

// runDrillChecks runs the checks that the checkpoint passed when it became good.
func (s *Maintenance) runDrillChecks(ctx context.Context, ws retake.Workspace, cp retake.Checkpoint, dir string, d *retake.Drill) {
	asked := s.history.StandingChecks(ws.ID)
	if len(asked) == 0 {
		about, _ := s.history.VerificationsByContent(ctx, ws.ID, []retake.Checkpoint{cp})
		seen := map[string]bool{}
		for _, v := range about[cp.Content] {
			if !v.Claim && v.Verdict == retake.Passed && !seen[v.Name] {
				seen[v.Name] = true
				asked = append(asked, retake.Standing{Name: v.Name, Command: v.Command})
			}
		}
	}
	for _, st := range asked {
		out := s.insight.RunCommand(ctx, ws, st.Command, dir)
		if out.Verdict != retake.Passed && d.Verdict == retake.Passed {
			d.Verdict, d.Why = out.Verdict, strings.TrimSpace(st.Name+": "+out.Why)
		}
		if ctx.Err() == nil {
			_, _ = s.insight.Attest(ctx, insight.NewAttestation(cp, st, out)) // the drill has the result too
		}
	}
}

// withThrowawayFork builds a fork of a checkpoint, calls f with its directory, and removes
// it.
func (s *Maintenance) withThrowawayFork(ctx context.Context, cp retake.Checkpoint, f func(dir string)) error {
	data, err := s.workspaces.FS.OpenRoot(s.workspaces.DataDir)
	if err != nil {
		return err
	}
	defer data.Close() //nolint:errcheck // a directory handle
	name := "drill-" + uuid.NewString()
	dir := filepath.Join(s.workspaces.DataDir, name)
	if err := data.Mkdir(name, 0o700); err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	defer func() {
		if to, err := data.OpenDir(name); err == nil {
			_ = s.rewinder.ClearForkDir(dir, to, true) // what is left must be removed by hand
			_ = to.Close()
		}
	}()
	if _, err := s.rewinder.Fork(ctx, retake.ForkRequest{Workspace: cp.Workspace, Ref: string(cp.ID), Dir: dir, Throwaway: true}); err != nil {
		return err
	}
	f(dir)
	return nil
}

// LastDrill returns the last drill of a workspace, or nil.
func (s *Maintenance) LastDrill(ctx context.Context, id retake.WorkspaceID) *retake.Drill {
	text, err := s.workspaces.Catalog.Mark(ctx, drillMark+string(id))
	var d retake.Drill
	if err != nil || text == "" || json.Unmarshal([]byte(text), &d) != nil {
		return nil
	}
	return &d
}

// A drill is due once a day at night, or at any time if nights were missed, and only in an
// idle workspace.
const (
	drillInterval  = 20 * time.Hour
	drillOverdue   = 36 * time.Hour
	drillIdleTime  = 10 * time.Minute
	nightStartHour = 1
	nightEndHour   = 5
)

// runDueDrills runs the drills that are due.
func (s *Maintenance) runDueDrills(ctx context.Context) error {
	var failed error
	ran := false
	for _, id := range s.workspaces.WatchedWorkspaces() {
		if ctx.Err() != nil || !s.opts.DrillEnabled(id) || !s.isIdle(id) {
			continue
		}
		now := s.workspaces.Clock.Now()
		last := time.Time{}
		if d := s.LastDrill(ctx, id); d != nil {
			last = d.At
		}
		night := now.Local().Hour() >= nightStartHour && now.Local().Hour() < nightEndHour
		if ago := now.Sub(last); night && ago > drillInterval || !last.IsZero() && ago > drillOverdue {
			_, err := s.Drill(ctx, id)
			if retake.IsKind(err, retake.NotFound) {
				continue // no good checkpoint yet
			}
			ran, failed = true, errors.Join(failed, err)
		}
	}
	if !ran {
		return diag.ErrSkipped
	}
	return failed
}

// isIdle reports whether a workspace was not used for a while.
func (s *Maintenance) isIdle(id retake.WorkspaceID) bool {
	l := s.workspaces.CacheFor(id)
	if !l.Mu.TryLock() {
		return false
	}
	defer l.Mu.Unlock()
	return s.workspaces.Clock.Now().Sub(l.LastUsed) > drillIdleTime
}
