package service

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/explain/story"
)

// meaningTime is how long a plan waits to learn what its steps mean. Without an answer it
// shows bytes.
const planReadWait = 300 * time.Millisecond

// longestMeaning bounds the reading that goes on after that.
const planReadLimit = 5 * time.Second

// addPlanFacts reads what a plan would change for its meaning: rows of tables, packages, keys
// of settings. It is never a reason for a plan to fail.
func (s *Service) addPlanFacts(ctx context.Context, p *retake.Plan) {
	if s.readers == nil || p.Total() == 0 || p.Total() > maxReadChanges {
		return
	}
	wait, stop := context.WithTimeout(ctx, planReadWait)
	defer stop()
	tip, err := s.parts.Catalog.Latest(ctx, p.Workspace, 0)
	if err != nil {
		return
	}
	in := story.Input{From: &tip, Changes: stepChanges(p)}
	in.OpenObject = func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
		if path, live := strings.CutPrefix(string(id), liveObjectPrefix); live {
			r, _, err := s.openLiveFile(ctx, p.Workspace, path)
			return r, err
		}
		return s.Bytes(ctx, id)
	}
	told := make(chan []retake.Fact, 1)
	s.backgroundWG.Go(func() { // what comes too late for this plan is remembered for the next one
		life, stop := context.WithTimeout(s.lifetime, planReadLimit)
		defer stop()
		facts, _, remember := s.readFacts(life, in)
		told <- facts
		remember()
	})
	select {
	case <-wait.Done():
	case facts := <-told:
		annotateSteps(p, facts)
	}
}

// stepChanges are the steps of a plan as changes from now to then. What is not stored has
// the address of the live file.
func stepChanges(p *retake.Plan) []retake.Change {
	var out []retake.Change
	for _, s := range planSteps(p) {
		if s.Merge != nil || s.What == retake.Timed {
			continue
		}
		c := retake.Change{Path: s.Path, What: s.What, Before: s.Now, After: s.Then}
		if now := s.Now; now != nil && now.Kind == retake.KindFile && restore.IsUnstored(now.Object) {
			e := *now
			e.Object = retake.ObjectID(liveObjectPrefix + s.Path)
			c.Before = &e
		}
		out = append(out, c)
	}
	return out
}

// annotateSteps puts facts beside the steps that they speak of. A database of which only the
// log changes is spoken of there.
func annotateSteps(p *retake.Plan, facts []retake.Fact) {
	p.Facts = facts
	means := story.DescribeFacts(facts)
	here := map[string]bool{}
	for _, s := range planSteps(p) {
		here[s.Path] = true
	}
	p.Writes, p.Deletes = slices.Clone(p.Writes), slices.Clone(p.Deletes) // the plan is remembered as it was made
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
