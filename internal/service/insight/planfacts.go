package insight

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// planReadWait is how long a plan waits for the meaning of its steps. Without it the plan
// shows bytes.
const planReadWait = 300 * time.Millisecond

// planReadLimit bounds the reading that continues after that.
const planReadLimit = 5 * time.Second

// AddPlanFacts adds to a plan the meaning of its changes: table rows, packages, settings.
// It never makes a plan fail.
func (s *Insight) AddPlanFacts(ctx context.Context, p *retake.Plan) {
	if s.opts.Readers == nil || p.Total() == 0 || p.Total() > maxReadChanges {
		return
	}
	wait, stop := context.WithTimeout(ctx, planReadWait)
	defer stop()
	tip, err := s.workspaces.Catalog.Latest(ctx, p.Workspace, 0)
	if err != nil {
		return
	}
	in := story.Input{From: &tip, Changes: stepChanges(p)}
	in.OpenObject = func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
		if path, live := strings.CutPrefix(string(id), history.LiveObjectPrefix); live {
			r, _, err := s.history.OpenLiveFile(ctx, p.Workspace, path)
			return r, err
		}
		return s.history.Bytes(ctx, id)
	}
	told := make(chan []retake.Fact, 1)
	s.workspaces.GoTask(workspace.TaskReadings, func() error { // what is too late for this plan is stored for the next one
		life, stop := context.WithTimeout(s.workspaces.Lifetime, planReadLimit)
		defer stop()
		facts, _, remember := s.readFacts(life, in)
		told <- facts
		remember()
		return nil
	})
	select {
	case <-wait.Done():
	case facts := <-told:
		annotateSteps(p, facts)
	}
}

// stepChanges returns the steps of a plan as changes. Files that are not stored get the
// object ID of the live file.
func stepChanges(p *retake.Plan) []retake.Change {
	var out []retake.Change
	for _, s := range PlanSteps(p) {
		if s.Merge != nil || s.What == retake.Timed {
			continue
		}
		c := retake.Change{Path: s.Path, What: s.What, Before: s.Now, After: s.Then}
		if now := s.Now; now != nil && now.Kind == retake.KindFile && restore.IsUnstored(now.Object) {
			e := *now
			e.Object = retake.ObjectID(history.LiveObjectPrefix + s.Path)
			c.Before = &e
		}
		out = append(out, c)
	}
	return out
}

// annotateSteps adds facts to the steps they describe. If only the log of a database
// changes, they are added there.
func annotateSteps(p *retake.Plan, facts []retake.Fact) {
	p.Facts = facts
	means := story.DescribeFacts(facts)
	here := map[string]bool{}
	for _, s := range PlanSteps(p) {
		here[s.Path] = true
	}
	p.Writes, p.Deletes = slices.Clone(p.Writes), slices.Clone(p.Deletes) // the remembered plan must not change
	for _, list := range [][]retake.Step{p.Writes, p.Deletes} {
		for i := range list {
			path := list[i].Path
			list[i].Means = means[path]
			if whole, ok := strings.CutSuffix(path, "-wal"); ok && !here[whole] {
				list[i].Means = means[whole]
			}
		}
	}
}

func PlanSteps(p *retake.Plan) []retake.Step {
	return slices.Concat(p.Deletes, p.Writes, p.Merges)
}
