package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/test/story/replay"
)

// play plays the run, and lets every turn become a checkpoint as its doer would: an agent by
// its signals, a person by a save.
func (s *stand) play(ctx context.Context) error {
	if err := s.furnish(); err != nil {
		return err
	}
	s.sessions = map[string]bool{}
	return s.run.Play(ctx, s.tree(), func(number int, t replay.Turn, before, after replay.Walk) error {
		t.Facts = append(t.Facts, s.gitTruth(ctx)...)
		a := act{turn: t, before: s.newest, dirs: countDirs(t.Paths.Dirs, before, after)}
		var err error
		if number == 0 {
			err = s.protect(ctx)
			a.checkpoints = []retake.Checkpoint{s.newest}
		} else {
			a.checkpoints, err = s.record(ctx, t)
		}
		if err != nil {
			return fmt.Errorf("record turn %d of %s: %w", number, s.run.Name, err)
		}
		s.newest = a.last()
		if s.verify {
			if a.passed, err = s.attest(ctx, a.last()); err != nil {
				return fmt.Errorf("verify turn %d of %s: %w", number, s.run.Name, err)
			}
		}
		s.acts = append(s.acts, a)
		if number < len(s.run.Turns) {
			return s.announce(ctx, s.run.Turns[number]) // the script of the next turn follows
		}
		return nil
	})
}

// announce tells that an agent begins a turn.
func (s *stand) announce(ctx context.Context, t replay.Turn) error {
	if t.Person {
		return nil
	}
	if agent := agentOf(t); !s.sessions[agent] {
		s.sessions[agent] = true
		if err := s.signal(ctx, t, retake.SignalSessionStart); err != nil {
			return err
		}
	}
	return s.signal(ctx, t, retake.SignalPrompt)
}

func agentOf(t replay.Turn) string {
	if t.Agent == "" {
		return "claude-code"
	}
	return t.Agent
}

func (s *stand) signal(ctx context.Context, t replay.Turn, kind retake.SignalKind) error {
	agent := agentOf(t)
	sig := retake.Signal{
		ID: queue.NewID(), Kind: kind, Time: time.Now(), Agent: agent, Session: "story-" + agent, Dir: s.tree(),
	}
	switch kind {
	case retake.SignalPrompt:
		sig.Prompt = t.Prompt
	case retake.SignalTurnEnd:
		sig.Message = t.Says
	default:
	}
	r, err := s.svc.Observe(ctx, sig)
	if err != nil {
		return fmt.Errorf("tell %s: %w", kind, err)
	}
	if r.Workspace != s.ws {
		return fmt.Errorf("tell %s: nobody feels concerned", kind)
	}
	return nil
}

// record makes the turn that was just played a checkpoint.
func (s *stand) record(ctx context.Context, t replay.Turn) ([]retake.Checkpoint, error) {
	if t.Person {
		res, err := s.svc.Save(ctx, retake.SaveRequest{Workspace: s.ws, Intent: t.Intent, Trigger: retake.TriggerManual})
		if err != nil {
			return nil, fmt.Errorf("save: %w", err)
		}
		return []retake.Checkpoint{res.Checkpoint}, nil
	}
	if err := s.signal(ctx, t, retake.SignalTurnEnd); err != nil {
		return nil, err
	}
	var found []retake.Checkpoint
	ok, err := await(ctx, checkpointPatience, func() (bool, error) {
		log, err := s.svc.Log(ctx, retake.LogQuery{Workspace: s.ws, Limit: 10})
		if err != nil {
			return false, fmt.Errorf("read log: %w", err)
		}
		found = slices.DeleteFunc(log.Checkpoints, func(cp retake.Checkpoint) bool { return cp.Number <= s.newest.Number })
		slices.Reverse(found)
		return len(found) > 0 && found[len(found)-1].Coverage.Count()[retake.ReasonBudget] == 0, nil
	})
	if err == nil && !ok {
		err = fmt.Errorf("wait for checkpoint: none came in %s", checkpointPatience)
	}
	return found, err
}

// attest runs the check on the live tree and records what it answers.
func (s *stand) attest(ctx context.Context, cp retake.Checkpoint) (passed bool, err error) {
	began := time.Now()
	if passed, err = s.run.Verify(ctx, s.tree()); err != nil {
		return false, fmt.Errorf("run check: %w", err)
	}
	a := retake.Attestation{
		Workspace: s.ws, Ref: string(cp.ID), Command: s.run.Check, Where: retake.OnLive, Started: began, Took: time.Since(began),
	}
	want := retake.Passed
	if !passed {
		a.Exit, want = 1, retake.Failed
	}
	v, err := s.svc.Attest(ctx, a)
	if err != nil {
		return passed, fmt.Errorf("attest: %w", err)
	}
	if v.Verdict != want {
		return passed, fmt.Errorf("attest: %s is recorded as %s: %s", want, v.Verdict, v.Why)
	}
	return passed, nil
}
