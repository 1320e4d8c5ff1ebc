package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// rowBuilder makes rows of entries.
type rowBuilder struct {
	in      *Input
	titles  Titles
	pins    map[retake.CheckpointID][]string
	parents Lookup
}

func newRowBuilder(in Input) *rowBuilder {
	b := &rowBuilder{in: &in, titles: in.nameAll(), pins: map[retake.CheckpointID][]string{}, parents: in.lookup()}
	for _, p := range in.Pins {
		b.pins[p.Checkpoint] = append(b.pins[p.Checkpoint], p.Name)
	}
	return b
}

func (b *rowBuilder) entryRow(e entry, place retake.RowPlace) retake.TimelineRow {
	switch {
	case e.fork != nil:
		return forkRow(e.fork, place)
	case e.replaced:
		return b.replacedRow(e, place)
	case e.more > 0:
		return retake.TimelineRow{
			Kind: retake.RowMore, Key: "more-" + string(e.origin.ID), Place: place, Number: e.origin.Number, Count: int64(e.more),
			Title: "+" + termtext.CountNoun(int64(e.more), "fork", "forks"),
		}
	case len(e.checkpoints) > 1:
		return b.quietRow(e.checkpoints, place)
	}
	return b.checkpointRow(&e.checkpoints[0], place)
}

func (b *rowBuilder) checkpointRow(c *retake.Checkpoint, place retake.RowPlace) retake.TimelineRow {
	if b.in.Graph {
		return retake.TimelineRow{Kind: retake.RowCheckpoint, Key: string(c.ID), Place: place, Number: c.Number, Newest: c.Number == b.in.Newest}
	}
	f := b.in.Findings[c.ID]
	r := retake.TimelineRow{
		Kind: retake.RowCheckpoint, Key: string(c.ID), Place: place, Number: c.Number, Time: c.Time, Who: AuthorOf(c), Good: f.Good,
		Newest: c.Number == b.in.Newest, Flags: Flags(c, f), Answers: sortAnswers(f.Answers), Pins: b.pins[c.ID], Checkpoint: c,
		Base: b.titles.number(c.Parent),
	}
	r.Title, r.Written = Title(c, b.titles)
	if u := b.in.Upload; u != nil && c.Number > u.Through {
		r.Flags = append(r.Flags, retake.RowFlag{Word: "not uploaded", Why: "it is on this machine only", Tone: retake.ToneNote})
	}
	setChanges(&r, c, f.Gist)
	b.setIdleTurn(&r, c)
	return r
}

// sortAnswers returns the answers with the gravest first.
func sortAnswers(answers []retake.Answer) []retake.Answer {
	if len(answers) == 0 {
		return nil
	}
	return slices.SortedStableFunc(slices.Values(answers), func(a, b retake.Answer) int { return cmp.Compare(VerdictRank(a), VerdictRank(b)) })
}

// VerdictRank orders verdicts, the gravest first. A check that could not run says nothing
// about the files, so it comes after those that did.
func VerdictRank(a retake.Answer) int {
	if a.Claim {
		return 5
	}
	switch a.Verdict {
	case retake.Failed:
		return 0
	case retake.Running:
		return 1
	case retake.RanOnOther:
		return 3
	case retake.CouldNotRun:
		return 4
	default:
		return 2
	}
}

// forkRow is a fork with the counts of its newest checkpoint.
func forkRow(f *Fork, place retake.RowPlace) retake.TimelineRow {
	c := f.Latest
	r := retake.TimelineRow{
		Kind: retake.RowFork, Key: string(f.ID), Place: place, Time: c.Time, Who: AuthorOf(c), Good: f.Finding.Good, Written: true,
		Title: "fork " + f.Name + ", " + termtext.CountNoun(f.Count, "checkpoint", "checkpoints"), Answers: sortAnswers(f.Finding.Answers),
		Fork: &f.WorkspaceState, Adopted: len(f.Adopted) > 0,
	}
	setChanges(&r, c, f.Finding.Gist)
	r.Heavy = false
	return r
}

// foldRow is a row that stands for several checkpoints, newest first.
func (b *rowBuilder) foldRow(kind retake.RowKind, run []retake.Checkpoint, place retake.RowPlace) retake.TimelineRow {
	newest, oldest := &run[0], &run[len(run)-1]
	r := retake.TimelineRow{
		Kind: kind, Key: foldKey(kind, run), Place: place, Number: newest.Number, First: oldest.Number, Count: int64(len(run)),
		Time: oldest.Time, Until: newest.Time,
	}
	if b.in.Graph {
		return r
	}
	r.Inside = make([]retake.TimelineRow, 0, len(run))
	inside := retake.RowPlace{Replaced: place.Replaced || kind == retake.RowReplaced}
	for i := range run {
		r.Inside = append(r.Inside, b.checkpointRow(&run[i], inside))
	}
	return r
}

// foldKey names a fold by its oldest checkpoint: folds grow at their top.
func foldKey(kind retake.RowKind, run []retake.Checkpoint) string {
	return string(kind) + "-" + string(run[len(run)-1].ID)
}

// quietRow is a run of quiet checkpoints. Files that always move are the same each time, so the
// most that one of them changed stands for all; own edits are added up.
func (b *rowBuilder) quietRow(run []retake.Checkpoint, place retake.RowPlace) retake.TimelineRow {
	r := b.foldRow(retake.RowQuiet, run, place)
	r.Who, r.Title = AuthorOf(&run[0]), termtext.Count(int64(len(run)))+" auto-checkpoints"
	moving := false
	for i := range run {
		g := b.in.Findings[run[i].ID].Gist
		if g == nil || g.Counts.Total() <= r.Files {
			continue
		}
		r.Files, moving, r.Lead, r.Points = g.Counts.Total(), g.Moving, g.Lead, slices.Clone(g.Points)
	}
	r.About = "talk, and files that always move"
	if sum := countOwnEdits(run); sum > 0 {
		r.Files, r.About = sum, "your own edits between turns"
	}
	if len(r.Points) > 0 && moving {
		r.Points[0].Text = "files that always move: " + r.Points[0].Text
	}
	return r
}

// maxEffectsNamed is how many effects a fold names before it counts them.
const maxEffectsNamed = 4

// replacedRow is the row of checkpoints that were folded because a restore left them.
func (b *rowBuilder) replacedRow(e entry, place retake.RowPlace) retake.TimelineRow {
	r := b.foldRow(retake.RowReplaced, e.checkpoints, place)
	var parts []string
	for i := len(e.checkpoints) - 1; i >= 0; i-- {
		for _, effect := range e.checkpoints[i].Effects {
			parts = append(parts, effect.ID)
		}
	}
	if n := len(parts); n > maxEffectsNamed {
		parts = []string{termtext.CountNoun(int64(n), "effect", "effects")}
	}
	if e.more > 0 {
		parts = append(parts, termtext.CountNoun(int64(e.more), "fork", "forks"))
	}
	r.Title = "replaced by a restore"
	if n := len(parts); n > 0 {
		with := parts[n-1]
		if n > 1 {
			with = strings.Join(parts[:n-1], ", ") + " and " + with
		}
		r.Title += ", with " + with
	}
	r.About = "nothing of it is lost: each can be looked at and gone back to"
	return r
}

// AuthorOf is at the beginning of a checkpoint: an agent, or you.
func AuthorOf(c *retake.Checkpoint) string {
	if t := c.Turn; t != nil {
		switch len(t.Contested) {
		case 0:
			return AgentName(t.Agent)
		case 1:
			return "both"
		}
		return "many"
	}
	switch c.Trigger {
	case retake.TriggerInit, retake.TriggerManual, retake.TriggerReturn, retake.TriggerSafety, retake.TriggerFork, retake.TriggerQuiet:
		return "you"
	default:
		return ""
	}
}

// AgentName is the name of an agent as people say it: claude for claude-code.
func AgentName(agent string) string {
	first, _, _ := strings.Cut(agent, "-")
	return first
}
