package insight

import (
	"context"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Story describes what changed between two checkpoints, from the trees alone.
func (s *Insight) Story(ctx context.Context, q retake.DiffQuery) (retake.Story, error) {
	how := storyOptions{ownCheckpoint: q.From == "" && len(q.Paths) == 0 && q.To != "" && q.To != history.LiveRef, everyPath: len(q.Paths) > 0, readContents: true, allHostFacts: q.Machine}
	d, err := s.compareForStory(ctx, q, &how)
	if err != nil {
		return retake.Story{}, err
	}
	st, remember, err := s.buildStory(ctx, d, how)
	remember()
	return st, workspace.WrapError("what changed can't be read", workspace.Unchanged, err)
}

// compareForStory compares two checkpoints for a story. The changes of a single checkpoint
// may still be known from its capture.
func (s *Insight) compareForStory(ctx context.Context, q retake.DiffQuery, how *storyOptions) (retake.Comparison, error) {
	if !how.ownCheckpoint {
		return s.history.Diff(ctx, q)
	}
	cp, err := s.history.Find(ctx, q.Workspace, q.To)
	if err != nil {
		return retake.Comparison{}, err
	}
	if last, ok := s.summarizer.lastSummaryOf(cp); ok && last.headKnown {
		how.head = &last.head
	}
	u := s.summarizer.findRecent(cp)
	u.Checkpoint, how.justSealed = cp, u.captured != nil
	return s.compareWithParent(ctx, u)
}

// storyOptions says how a story is built.
type storyOptions struct {
	ownCheckpoint bool    // one checkpoint against its parent: its messages are checked against it
	everyPath     bool    // every path by itself
	readContents  bool    // files are read for their meaning
	justSealed    bool    // the host was not probed since
	head          *string // the commit that was checked out; nil: it is read

	allHostFacts bool // host changes by other programs are included
}

// maxReadChanges bounds a story whose files are read for their meaning.
const maxReadChanges = 50_000

// buildStory builds a story. The caller calls remember afterwards: it stores what was read,
// and takes time that nobody should wait for.
func (s *Insight) buildStory(ctx context.Context, d retake.Comparison, how storyOptions) (st retake.Story, remember func(), err error) {
	in := story.Input{From: d.From, To: d.To, Changes: withLiveObjects(d), Gaps: d.Gaps, Full: how.everyPath}
	in.OpenObject = cacheObjects(s.objectOpener(d), in.Changes)
	remember = func() {}
	if d.To != nil {
		in.Gaps = d.To.Coverage.Gaps
	}
	if d.From == nil {
		in.OpenObject = nil
	} else if how.readContents && len(d.Changes) <= maxReadChanges {
		in.Facts, in.Unread, remember = s.readFacts(ctx, in)
	}
	elsewhere := 0
	if how.ownCheckpoint && !how.justSealed {
		seen := s.loadHostFacts(ctx, *d.To)
		if !how.allHostFacts {
			all := len(seen)
			seen = ownHostFacts(*d.To, seen)
			elsewhere = all - len(seen)
		}
		in.Facts = append(in.Facts, seen...)
	}
	if st, err = story.Build(ctx, in); err != nil {
		return st, remember, err
	}
	st.Elsewhere = elsewhere
	if how.ownCheckpoint {
		st.Flags = s.findMismatches(ctx, *d.To, st)
	}
	st.Gist = story.BuildGist(st)
	switch {
	case how.head != nil:
		st.Gist.Head = *how.head
	case d.To != nil:
		st.Gist.Head = s.history.CheckedOutCommit(ctx, *d.To)
	}
	return st, remember, nil
}

// withLiveObjects gives the live files of a comparison, which are not stored, an object ID.
func withLiveObjects(d retake.Comparison) []retake.Change {
	if d.To != nil {
		return d.Changes
	}
	out := make([]retake.Change, len(d.Changes))
	for i, c := range d.Changes {
		if out[i] = c; c.After != nil && c.After.Kind == retake.KindFile && c.What != retake.Moded && c.What != retake.Timed {
			e := *c.After
			e.Object = retake.ObjectID(history.LiveObjectPrefix + c.Path)
			out[i].After = &e
		}
	}
	return out
}

// objectOpener returns a function that opens stored objects and live files.
func (s *Insight) objectOpener(d retake.Comparison) story.ObjectOpener {
	ws := retake.WorkspaceID("")
	if d.From != nil {
		ws = d.From.Workspace
	}
	return func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
		if path, live := strings.CutPrefix(string(id), history.LiveObjectPrefix); live {
			r, _, err := s.history.OpenLiveFile(ctx, ws, path)
			return r, err
		}
		return s.history.Bytes(ctx, id)
	}
}

// findMismatches compares what was said with what changed. Checkpoints before a turn and
// restores have no statements to compare.
func (s *Insight) findMismatches(ctx context.Context, cp retake.Checkpoint, st retake.Story) []retake.Flag {
	said := story.Statements{Intent: cp.Intent, Manual: cp.Trigger == retake.TriggerManual}
	switch cp.Trigger {
	case retake.TriggerManual, retake.TriggerTurn, retake.TriggerTask, retake.TriggerCall, retake.TriggerSession, retake.TriggerRisk:
	default:
		return nil
	}
	if t := cp.Turn; t != nil {
		said.Prompt, said.FinalMessage = t.Prompt, t.Words
	}
	var answers []retake.Answer
	if found, err := s.history.LoadFindings(ctx, cp.Workspace, []retake.Checkpoint{cp}, false); err == nil {
		answers = found[cp.ID].Answers
	}
	return story.FindMismatches(said, st, answers)
}
