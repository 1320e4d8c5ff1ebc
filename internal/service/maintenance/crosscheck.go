package maintenance

import (
	"context"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// CrossCheck compares every file with the index and returns the changes that the tracker
// missed. If there are any, the tracker is not trusted any more and every save scans all
// files.
func (s *Maintenance) CrossCheck(ctx context.Context, id retake.WorkspaceID) (retake.CrossCheck, error) {
	ws, root, err := s.workspaces.OpenRoot(ctx, id)
	if err != nil {
		return retake.CrossCheck{}, err
	}
	defer root.Close() //nolint:errcheck // only looked
	l := s.workspaces.CacheFor(id)
	l.Mu.Lock()
	defer l.Mu.Unlock()
	ctx, end := context.WithCancel(ctx)
	defer end()
	l.CancelCheck.Store(&end)
	defer l.CancelCheck.Store(nil)
	s.workspaces.DrainTracker(l, ws.Root)
	out := retake.CrossCheck{At: s.workspaces.Clock.Now()}
	if l.RescanReason != "" || l.Index == nil || l.Tip == nil {
		return out, nil // the next save scans everything anyway
	}
	out.Files = l.Tip.Files
	missed, err := s.findMissedPaths(ctx, l, ws, root)
	if err != nil {
		return out, workspace.WrapError("the workspace cannot be compared", workspace.Unchanged, err)
	}
	if out.Missed = missed; len(missed) > 0 {
		l.NoWatchReason = "the tracker missed changes: " + strings.Join(missed[:min(3, len(missed))], ", ")
		l.TrackerDistrusted = true
		s.workspaces.StopWatch(l)
	}
	l.LastCheck = &out
	return out, nil
}

// findMissedPaths returns the changed paths that the tracker did not report. It looks twice
// and returns only what both looks found, because files may change in between.
func (s *Maintenance) findMissedPaths(ctx context.Context, l *workspace.Cache, ws retake.Workspace, root fsx.Dir) ([]string, error) {
	first, err := s.findUnreportedPaths(ctx, l, ws, root)
	if err != nil || len(first) == 0 {
		return nil, err
	}
	again, err := s.findUnreportedPaths(ctx, l, ws, root)
	return slices.DeleteFunc(again, func(p string) bool { return !slices.Contains(first, p) }), err
}

// findUnreportedPaths compares a full scan with a scan of the dirty set and returns the
// paths that only the full scan found. The tracker is drained in between.
func (s *Maintenance) findUnreportedPaths(ctx context.Context, l *workspace.Cache, ws retake.Workspace, root fsx.Dir) ([]string, error) {
	o, err := s.workspaces.CaptureOptions(ws.ID, ws.Root, 0, nil)
	if err != nil {
		return nil, err
	}
	all, _, err := capture.Diff(ctx, root, l.Index, o, s.history.MatchesStored)
	if err != nil {
		return nil, err
	}
	if s.workspaces.DrainTracker(l, ws.Root); l.RescanReason != "" {
		return nil, nil
	}
	l.LimitToDirty(&o)
	told, _, err := capture.Diff(ctx, root, l.Index, o, s.history.MatchesStored)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range told {
		known[c.Path] = true
	}
	var out []string
	for _, c := range all {
		if !known[c.Path] {
			out = append(out, c.Path)
		}
	}
	return out, nil
}
