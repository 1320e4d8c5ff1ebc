package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/retake-dev/retake"
)

// right is the newest checkpoint whose check passed. It must be that of the answer: else the
// run itself is wrong.
func (s *stand) right() (retake.Checkpoint, error) {
	var newest *act
	for i := range s.acts {
		if s.acts[i].passed {
			newest = &s.acts[i]
		}
	}
	switch {
	case newest == nil:
		return retake.Checkpoint{}, fmt.Errorf("the check never passes")
	case newest.turn.Number != s.run.Answer:
		return retake.Checkpoint{}, fmt.Errorf("the check passes last at turn %d, the answer is %d", newest.turn.Number, s.run.Answer)
	}
	return newest.last(), nil
}

// findGood asks for the newest good checkpoint in both ways.
func (s *stand) findGood(ctx context.Context, a *account) bool {
	want, err := s.right()
	if err != nil {
		return a.wrong("%v", err)
	}
	cp, err := s.svc.Find(ctx, s.ws, "good")
	if err != nil {
		return a.wrong("find good: %v", err)
	}
	log, err := s.svc.Log(ctx, retake.LogQuery{Workspace: s.ws, Limit: 1})
	switch {
	case err != nil:
		return a.wrong("read log: %v", err)
	case cp.Content != want.Content:
		return a.wrong("good is %d, right is %d", cp.Number, want.Number)
	case log.Good == nil || log.Good.ID != cp.ID:
		return a.wrong("the log does not have %d as its good one", cp.Number)
	}
	return true
}

// search is one bisection.
type search struct {
	Stored    bool `json:"stored"` // every answer was known before
	OK        bool `json:"ok"`
	Runs      int  `json:"runs"`
	Elsewhere int  `json:"elsewhere,omitempty"` // runs that could not stand at the path of the workspace
}

// bisects searches with the check, of which every answer is stored, and with the same in
// other words, of which none is.
func (s *stand) bisects(ctx context.Context, a *account) []search {
	want, err := s.right()
	if err != nil {
		return nil // said already
	}
	return []search{
		s.bisect(ctx, a, want, s.run.Check, true),
		s.bisect(ctx, a, want, s.run.Check+" # once more", false),
	}
}

func (s *stand) bisect(ctx context.Context, a *account, want retake.Checkpoint, line string, stored bool) search {
	out := search{Stored: stored}
	text, err := s.tell(ctx, "bisect", "--json", "--", line)
	var b struct {
		Found     bool
		Why       string
		Good, Bad *retake.Checkpoint
		Runs      []retake.Verification
	}
	if bad := json.Unmarshal(text, &b); bad != nil {
		a.wrong("bisect says nothing: %v", err)
		return out
	}
	out.Runs = len(b.Runs)
	for _, v := range b.Runs {
		if v.Where == retake.Elsewhere {
			out.Elsewhere++
		}
	}
	switch {
	case err != nil || !b.Found || b.Good == nil || b.Bad == nil:
		a.wrong("bisect finds no border: %s %v", b.Why, err)
	case b.Good.Content != want.Content || b.Bad.Number <= b.Good.Number:
		a.wrong("bisect has the border from %d to %d, right is %d", b.Good.Number, b.Bad.Number, want.Number)
	case stored && out.Runs > 0:
		a.wrong("bisect needs %d runs, and all answers are stored", out.Runs)
	case !stored && out.Runs == 0:
		a.wrong("bisect asks nobody, and no answer is stored")
	default:
		out.OK = true
	}
	return out
}
