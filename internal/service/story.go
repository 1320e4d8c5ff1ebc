package service

import (
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/story"
	"github.com/retake-dev/retake/internal/tree"
)

// Story tells what really changed between two moments, from the trees alone.
func (s *Service) Story(ctx context.Context, q retake.DiffQuery) (retake.Story, error) {
	d, err := s.Diff(ctx, q)
	if err != nil {
		return retake.Story{}, err
	}
	st, err := s.tell(ctx, d, telling{own: q.From == "" && len(q.Paths) == 0 && d.To != nil, full: len(q.Paths) > 0, deep: true})
	return st, fault("what changed cannot be told", unchanged, err)
}

// telling is how a story is told.
type telling struct {
	own  bool // of one moment since the one before: its words are held against it
	full bool // every path by itself
	deep bool // files are read for their meaning
}

// mostRead bounds a story whose files are read for their meaning: a first capture is no
// change.
const mostRead = 50_000

func (s *Service) tell(ctx context.Context, d retake.Comparison, how telling) (retake.Story, error) {
	in := story.Input{From: d.From, To: d.To, Changes: named(d), Gaps: d.Gaps, Full: how.full, Bytes: s.bytesFor(d)}
	if d.To != nil {
		in.Gaps = d.To.Coverage.Gaps
	}
	if d.From == nil {
		in.Bytes = nil
	} else if how.deep && len(d.Changes) <= mostRead {
		in.Facts, in.Unread = s.facts(ctx, in)
	}
	if how.own {
		in.Facts = append(in.Facts, s.machineOf(ctx, *d.To)...)
	}
	st, err := story.Tell(ctx, in)
	if err != nil {
		return st, err
	}
	if how.own {
		st.Flags = s.mismatch(ctx, *d.To, st)
	}
	st.Gist = story.Gist(st)
	if d.To != nil {
		st.Gist.Head = s.commit(ctx, *d.To)
	}
	return st, nil
}

// liveObject begins the address of a file that is not stored, for the time of one story.
const liveObject = "now:"

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
func (s *Service) bytesFor(d retake.Comparison) story.Bytes {
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
	said := story.Said{Intent: cp.Intent, Manual: cp.Trigger == retake.TriggerManual}
	switch cp.Trigger {
	case retake.TriggerManual, retake.TriggerTurn, retake.TriggerTask, retake.TriggerCall, retake.TriggerSession, retake.TriggerRisk:
	default:
		return nil
	}
	if t := cp.Turn; t != nil {
		said.Prompt, said.Words = t.Prompt, t.Words
	}
	var answers []retake.Answer
	if found, err := s.findings(ctx, cp.Workspace, []retake.Checkpoint{cp}, false); err == nil {
		answers = found[cp.ID].Answers
	}
	return story.Mismatch(said, st, answers)
}

// commit is the one that was checked out at a checkpoint, read from the stored .git: no
// program of git's is run on what a workspace holds.
func (s *Service) commit(ctx context.Context, cp retake.Checkpoint) string {
	st, err := s.store(ctx)
	if err != nil {
		return ""
	}
	root, err := s.files(ctx, st, cp)
	if err != nil {
		return ""
	}
	text := func(path string, most int64) string {
		e, err := tree.Find(ctx, st, root, path)
		if err != nil || e.Kind != retake.KindFile {
			return ""
		}
		r, err := st.File(ctx, e.Object)
		if err != nil {
			return ""
		}
		defer r.Close() //nolint:errcheck // only read
		b, _ := io.ReadAll(io.LimitReader(r, most))
		return string(b)
	}
	head := strings.TrimSpace(text(".git/HEAD", 1<<10))
	name, branch := strings.CutPrefix(head, "ref: ")
	if !branch {
		return hash(head)
	}
	if name = cleanPath(name); !strings.HasPrefix(name, "refs/") {
		return ""
	}
	if sha := hash(strings.TrimSpace(text(".git/"+name, 1<<10))); sha != "" {
		return sha
	}
	lines := bufio.NewScanner(strings.NewReader(text(".git/packed-refs", 4<<20)))
	for lines.Scan() {
		if sha, ref, ok := strings.Cut(lines.Text(), " "); ok && ref == name {
			return hash(sha)
		}
	}
	return ""
}

// hash answers the text when it is the name of a commit.
func hash(s string) string {
	if (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" {
		return s
	}
	return ""
}
