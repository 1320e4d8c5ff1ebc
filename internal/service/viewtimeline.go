package service

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/view"
)

// ViewTimeline arranges a part of the timeline in rows. What a row needs besides the timeline,
// such as the names of what was restored, is left out where it cannot be read.
func (s *Service) ViewTimeline(ctx context.Context, q retake.TimelineQuery) (retake.TimelineView, error) {
	present := func() view.Present { return view.Present{} }
	if q.Now {
		present = startReadPresent(ctx, s, q.Workspace)
	}
	in := view.Input{Tree: !q.IsFiltered() && !q.Flat, Flat: q.Flat, Graph: q.Graph, FoldReplaced: q.FoldReplaced, Open: q.Open}
	var err error
	if in.Timeline, err = s.Log(ctx, q.LogQuery); err != nil {
		return retake.TimelineView{}, err
	}
	in.Workspace.Unprotected = s.Registry.Unprotected(ctx, in.Workspace)
	s.readViewDetails(ctx, &in)
	in.SetPresent(s.newestNumber(ctx, q, in.Checkpoints), present())
	return view.Timeline(in), nil
}

// newestNumber returns the number of the newest checkpoint, with which a part may not begin;
// 0 if it is the first of the part, or not known.
func (s *Service) newestNumber(ctx context.Context, q retake.TimelineQuery, part []retake.Checkpoint) int64 {
	if len(part) == 0 || !q.IsFiltered() && q.Before == 0 {
		return 0
	}
	cp, err := s.Registry.Catalog.Latest(ctx, q.Workspace, 0)
	if err != nil {
		return 0
	}
	return cp.Number
}

// maxTurnLookups is how many checkpoints are read because they hold the work of a turn of
// which only the end is shown.
const maxTurnLookups = 32

// readViewDetails reads the names of restored checkpoints that are not shown, the forks of the
// checkpoints that are, and the work of turns. Forks are read once, and only if a row needs them.
func (s *Service) readViewDetails(ctx context.Context, in *view.Input) {
	ws := in.Workspace.ID
	var forks []retake.WorkspaceState
	if in.Tree || hasAdoption(in.Checkpoints) {
		forks, _ = s.Forks(ctx, ws) // best effort: the timeline stands without them
		forks = slices.DeleteFunc(forks, func(f retake.WorkspaceState) bool { return !retake.MayLoad(ctx, f.ID) })
	}
	find := s.checkpointLookup(ctx)
	ofWorkspace := func(id retake.CheckpointID) (*retake.Checkpoint, bool) {
		c, ok := find(id)
		return c, ok && c.Workspace == ws
	}
	in.Titles = view.Titles{}
	adopted := in.Titles.Read(in.Checkpoints, ofWorkspace, func(id retake.CheckpointID) (retake.WorkspaceState, bool) {
		return forkWith(forks, id, find)
	})
	left := maxTurnLookups
	in.ReadEarlier(func(id retake.CheckpointID) (*retake.Checkpoint, bool) {
		if left--; left < 0 {
			return nil, false
		}
		return ofWorkspace(id)
	})
	if in.Tree {
		in.Forks = view.ForksOf(forks, in.Checkpoints, adopted)
		s.readForkFindings(ctx, in.Forks)
	}
}

func hasAdoption(cps []retake.Checkpoint) bool {
	for i := range cps {
		if r := cps[i].Return; r != nil && r.Course == retake.CourseAdopt {
			return true
		}
	}
	return false
}

// checkpointLookup returns a lookup that reads each checkpoint at most once.
func (s *Service) checkpointLookup(ctx context.Context) view.Lookup {
	known := map[retake.CheckpointID]*retake.Checkpoint{}
	return func(id retake.CheckpointID) (*retake.Checkpoint, bool) {
		c, ok := known[id]
		if !ok {
			if cp, err := s.Registry.LoadCheckpoint(ctx, id); err == nil {
				c = &cp
			}
			known[id] = c
		}
		return c, c != nil
	}
}

// forkWith returns the fork that a checkpoint belongs to. Mostly it is the newest of the fork,
// and needs no lookup.
func forkWith(forks []retake.WorkspaceState, id retake.CheckpointID, find view.Lookup) (retake.WorkspaceState, bool) {
	for _, f := range forks {
		if f.Latest != nil && f.Latest.ID == id {
			return f, true
		}
	}
	if len(forks) == 0 {
		return retake.WorkspaceState{}, false
	}
	if c, ok := find(id); ok {
		for _, f := range forks {
			if f.ID == c.Workspace {
				return f, true
			}
		}
	}
	return retake.WorkspaceState{}, false
}

// readForkFindings reads what is known of the newest checkpoints of forks that have a row.
func (s *Service) readForkFindings(ctx context.Context, forks []view.Fork) {
	rows := map[retake.CheckpointID]int{}
	for i := range forks {
		f := &forks[i]
		if rows[f.Origin.Checkpoint]++; rows[f.Origin.Checkpoint] > view.MaxForksShown {
			continue
		}
		if found, err := s.History.LoadFindings(ctx, f.ID, []retake.Checkpoint{*f.Latest}, true); err == nil {
			f.Finding = found[f.Latest.ID]
		}
	}
}

// presentTimeout is how long a timeline waits to hear what changed since the newest checkpoint.
const presentTimeout = 300 * time.Millisecond

// presentReader is what can say how the live files are.
type presentReader interface {
	Status(ctx context.Context, ws retake.WorkspaceID) (retake.Status, error)
	Story(ctx context.Context, q retake.DiffQuery) (retake.Story, error)
	RunTask(task string, step func() error) // a panic is recorded and ends the step alone
}

var errPresentUnknown = errors.New("it is not known what changed since the newest checkpoint")

// startReadPresent starts to read the state of the live files and returns a function that
// waits for it. If it takes too long the state is marked as timed out; that is never an error.
func startReadPresent(ctx context.Context, s presentReader, ws retake.WorkspaceID) func() view.Present {
	ctx, stop := context.WithTimeout(ctx, presentTimeout)
	got := make(chan view.Present, 1)
	go func() {
		defer stop()
		got <- readPresent(ctx, s, ws)
	}()
	return func() view.Present { return <-got }
}

func readPresent(ctx context.Context, s presentReader, ws retake.WorkspaceID) view.Present {
	type answer struct {
		st  retake.Status
		err error
	}
	answers := make(chan answer, 1)
	go func() { // who is asked may wait for a lock, and does not hear that the time is over
		a := answer{err: errPresentUnknown}
		s.RunTask(workspace.TaskPresent, func() error {
			a.st, a.err = s.Status(ctx, ws)
			return nil // who asked gets the error
		})
		answers <- a
	}()
	select {
	case <-ctx.Done():
		return view.Present{TimedOut: true}
	case a := <-answers:
		if a.err != nil {
			return view.Present{TimedOut: ctx.Err() != nil}
		}
		return view.Present{Status: &a.st, Gist: readPresentGist(ctx, s, &a.st)}
	}
}

// readPresentGist says what changed in the words of other rows, if there is time for that.
func readPresentGist(ctx context.Context, s presentReader, st *retake.Status) *retake.Gist {
	if st.Latest == nil || st.Saving || st.Now.Total() == 0 {
		return nil
	}
	gists := make(chan *retake.Gist, 1)
	go func() {
		var gist *retake.Gist
		s.RunTask(workspace.TaskPresent, func() error {
			if story, err := s.Story(ctx, retake.DiffQuery{Workspace: st.Workspace.ID, From: string(st.Latest.ID)}); err == nil {
				gist = &story.Gist
			}
			return nil // the counts are shown without it
		})
		gists <- gist
	}()
	select {
	case <-ctx.Done():
		return nil
	case g := <-gists:
		return g
	}
}
