package service

import (
	"context"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

// Story tells what really changed between two checkpoints, from the trees alone.
func (s *Service) Story(ctx context.Context, q retake.DiffQuery) (retake.Story, error) {
	how := telling{own: q.From == "" && len(q.Paths) == 0 && q.To != "" && q.To != now, full: len(q.Paths) > 0, deep: true, machine: q.Machine}
	d, err := s.changesFor(ctx, q, &how)
	if err != nil {
		return retake.Story{}, err
	}
	st, remember, err := s.tell(ctx, d, how)
	remember()
	return st, fault("what changed can't be read", unchanged, err)
}

// changesFor compares for a story. What one checkpoint changed since the one before its
// capture may still know.
func (s *Service) changesFor(ctx context.Context, q retake.DiffQuery, how *telling) (retake.Comparison, error) {
	if !how.own {
		return s.Diff(ctx, q)
	}
	cp, err := s.Find(ctx, q.Workspace, q.To)
	if err != nil {
		return retake.Comparison{}, err
	}
	if last, ok := s.teller.lastOf(cp); ok && last.sure {
		how.head = &last.head
	}
	u := s.teller.freshOf(cp)
	u.Checkpoint, how.early = cp, u.sealed != nil
	return s.compared(ctx, u)
}

// telling is how a story is told.
type telling struct {
	own   bool    // of one checkpoint since the one before: its words are held against it
	full  bool    // every path by itself
	deep  bool    // files are read for their meaning
	early bool    // it was just sealed: nobody looked at the machine since
	head  *string // the commit that was checked out; nil: it is read

	machine bool // what other programs did to the machine is told too
}

// mostRead bounds a story whose files are read for their meaning: a first capture is no
// change.
const mostRead = 50_000

// tell tells it. Remember is for later: it takes time that nobody should wait for.
func (s *Service) tell(ctx context.Context, d retake.Comparison, how telling) (st retake.Story, remember func(), err error) {
	in := story.Input{From: d.From, To: d.To, Changes: named(d), Gaps: d.Gaps, Full: how.full}
	in.OpenObject = onceOpened(s.bytesFor(d), in.Changes)
	remember = func() {}
	if d.To != nil {
		in.Gaps = d.To.Coverage.Gaps
	}
	if d.From == nil {
		in.OpenObject = nil
	} else if how.deep && len(d.Changes) <= mostRead {
		in.Facts, in.Unread, remember = s.facts(ctx, in)
	}
	elsewhere := 0
	if how.own && !how.early {
		seen := s.machineOf(ctx, *d.To)
		if !how.machine {
			all := len(seen)
			seen = ownFacts(*d.To, seen)
			elsewhere = all - len(seen)
		}
		in.Facts = append(in.Facts, seen...)
	}
	if st, err = story.Build(ctx, in); err != nil {
		return st, remember, err
	}
	st.Elsewhere = elsewhere
	if how.own {
		st.Flags = s.mismatch(ctx, *d.To, st)
	}
	st.Gist = story.BuildGist(st)
	switch {
	case how.head != nil:
		st.Gist.Head = *how.head
	case d.To != nil:
		st.Gist.Head = s.commit(ctx, *d.To)
	}
	return st, remember, nil
}

// liveObject begins the address of a file that is not stored, for the time of one story.
const liveObject = "now:"

func isLive(id retake.ObjectID) bool { return strings.HasPrefix(string(id), liveObject) }

// named gives the files of now, which are not stored, an address.
func named(d retake.Comparison) []retake.Change {
	if d.To != nil {
		return d.Changes
	}
	out := make([]retake.Change, len(d.Changes))
	for i, c := range d.Changes {
		if out[i] = c; c.After != nil && c.After.Kind == retake.KindFile && c.What != retake.Moded && c.What != retake.Timed {
			e := *c.After
			e.Object = retake.ObjectID(liveObject + c.Path)
			out[i].After = &e
		}
	}
	return out
}

// bytesFor opens what a story reads: stored bytes, or those of a live file.
func (s *Service) bytesFor(d retake.Comparison) story.ObjectOpener {
	ws := retake.WorkspaceID("")
	if d.From != nil {
		ws = d.From.Workspace
	}
	return func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
		if path, live := strings.CutPrefix(string(id), liveObject); live {
			r, _, err := s.openLive(ctx, ws, path)
			return r, err
		}
		return s.Bytes(ctx, id)
	}
}

// mismatch holds what was said against what happened. What changed before a turn, or by
// going back, nobody spoke of.
func (s *Service) mismatch(ctx context.Context, cp retake.Checkpoint, st retake.Story) []retake.Flag {
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
	if found, err := s.findings(ctx, cp.Workspace, []retake.Checkpoint{cp}, false); err == nil {
		answers = found[cp.ID].Answers
	}
	return story.FindMismatches(said, st, answers)
}
