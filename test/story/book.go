package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/alike"
	"github.com/retake-dev/retake/test/story/replay"
)

// book is one run, turn by turn, with what Retake tells of it.
type book struct {
	run      replay.Run
	chapters []chapter
	timeline alike.Timeline
	unseen   []miss // what a story tells and the row of the timeline does not
}

// chapter is the truth about one turn, and what is told of it.
type chapter struct {
	turn replay.Turn
	dirs ownDirs
	told told
}

// told is what Retake says of one turn.
type told struct {
	changes []retake.Change
	own     retake.Story // of the checkpoint, with its facts
	full    retake.Story // with every path by itself
	flags   []retake.Flag
}

// clone lets a control change what was told.
func (t told) clone() told {
	t.changes, t.flags = slices.Clone(t.changes), slices.Clone(t.flags)
	t.own.Facts = slices.Clone(t.own.Facts)
	t.full.Groups = slices.Clone(t.full.Groups)
	for i := range t.full.Groups {
		t.full.Groups[i].Items = slices.Clone(t.full.Groups[i].Items)
	}
	return t
}

// write asks for everything that is told of the turns.
func (s *stand) write(ctx context.Context) (book, error) {
	b := book{run: s.run}
	for _, a := range s.acts[1:] {
		t, err := s.ask(ctx, a)
		if err != nil {
			return b, fmt.Errorf("ask about turn %d: %w", a.turn.Number, err)
		}
		b.chapters = append(b.chapters, chapter{turn: a.turn, dirs: a.dirs, told: t})
	}
	var err error
	b.unseen, err = s.rows(ctx, b.chapters)
	return b, err
}

func (s *stand) ask(ctx context.Context, a act) (t told, err error) {
	q := retake.DiffQuery{Workspace: s.ws, To: string(a.last().ID)}
	if len(a.checkpoints) > 1 { // together they are the turn
		q.From = string(a.before.ID)
	}
	if t.own, err = s.svc.Story(ctx, q); err != nil {
		return t, fmt.Errorf("ask for story: %w", err)
	}
	t.flags = t.own.Flags
	if q.From != "" {
		for _, m := range a.checkpoints {
			st, err := s.svc.Story(ctx, retake.DiffQuery{Workspace: s.ws, To: string(m.ID)})
			if err != nil {
				return t, fmt.Errorf("ask for story: %w", err)
			}
			t.flags = append(t.flags, st.Flags...)
		}
	}
	d, err := s.svc.Diff(ctx, q)
	if err != nil {
		return t, fmt.Errorf("ask for changes: %w", err)
	}
	t.changes = d.Changes
	q.Paths = []string{"."}
	if t.full, err = s.svc.Story(ctx, q); err != nil {
		return t, fmt.Errorf("ask for every path: %w", err)
	}
	return t, nil
}

// rowPatience is how long the row of a checkpoint may lag behind.
const rowPatience = 30 * time.Second

// rows waits until the timeline shows what the stories tell, and names what it does not.
func (s *stand) rows(ctx context.Context, chapters []chapter) ([]miss, error) {
	var out []miss
	_, err := await(ctx, rowPatience, func() (bool, error) {
		log, err := s.svc.Log(ctx, retake.LogQuery{Workspace: s.ws})
		if err != nil {
			return false, fmt.Errorf("read log: %w", err)
		}
		out = out[:0]
		for i, c := range chapters {
			if why := lags(log.Findings[s.acts[i+1].last().ID].Gist, c.told); why != "" && len(s.acts[i+1].checkpoints) == 1 {
				out = append(out, miss{c.turn.Number, areaRow, why})
			}
		}
		return len(out) == 0, nil
	})
	return out, err
}

func lags(g *retake.Gist, t told) string {
	switch {
	case g == nil:
		return "the row has no gist"
	case g.Counts != t.own.Counts:
		return fmt.Sprintf("the row counts %+v, the story %+v", g.Counts, t.own.Counts)
	case !slices.Equal(g.Flags, t.flags):
		return fmt.Sprintf("the row has %d flags, the story %d", len(g.Flags), len(t.flags))
	}
	return ""
}
