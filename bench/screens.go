package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
)

const (
	screenFiles  = 1000
	screenEdits  = 2
	screenWidth  = "80"
	attestEvery  = 25 // every so many checkpoints have an answer
	failEvery    = 5  // and of these, every so many is a failure
	intentEvery  = 3
	untoldWait   = 20 * time.Minute
	screenRounds = 3 // times as many as other rounds
)

// screens measures the first screen of a person who comes back: the newest checkpoints of
// very many, with what they are about.
func (b *bench) screens(ctx context.Context) error {
	f, err := b.plant(ctx, "told", "told", grow.Project(screenFiles, b.size.seed), nil)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.home, 0o755); err != nil {
		return fmt.Errorf("make store: %w", err)
	}
	if err := f.noteAll(b.size.told, screenEdits); err != nil {
		return err
	}
	h := b.newHome(f.home, f.ws)
	if err := b.tellAll(ctx, h); err != nil {
		return err
	}
	b.closers = append(b.closers, h.stop)
	return h.screen(ctx)
}

// tellAll lets a child take the checkpoints and tell them.
func (b *bench) tellAll(ctx context.Context, h *home) error {
	say("taking and telling %d checkpoints", b.size.told)
	text, err := json.Marshal(task{Do: "tell", Dir: h.ws, Files: screenFiles, Seed: b.size.seed, Checkpoints: b.size.told, Edits: screenEdits, Retake: b.retake})
	if err != nil {
		return fmt.Errorf("encode task: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find own program: %w", err)
	}
	c := h.command()
	p := exec.CommandContext(ctx, self, "-inside", string(text))
	p.Dir, p.Env, p.Stderr = c.dir, c.env, os.Stderr
	if err := p.Run(); err != nil {
		return fmt.Errorf("tell checkpoints: %w", err)
	}
	return nil
}

// screen measures retake alone, the whole process, with its answer as text.
func (h *home) screen(ctx context.Context) error {
	b := h.b
	if err := h.settled(ctx); err != nil { // the daemon starts here
		return err
	}
	if err := h.dialed(ctx)(nil); err != nil {
		return err
	}
	if err := allTold(ctx, h.svc, h.id); err != nil {
		return err
	}
	c := h.command()
	c.env = append(c.env, "COLUMNS="+screenWidth)
	text, err := c.output(ctx)
	if err != nil {
		return err
	}
	t, err := h.svc.Log(ctx, retake.LogQuery{Workspace: h.id, Limit: 2 * attestEvery})
	if err != nil {
		return err
	}
	answers := 0
	for _, f := range t.Findings {
		answers += len(f.Answers)
	}
	if answers == 0 || t.Total < int64(b.size.told) {
		return fmt.Errorf("read the first screen: %d of %d checkpoints are there, %d of the newest have an answer", t.Total, b.size.told, answers)
	}
	b.fact("The first screen: %d checkpoints with their stories, every %d. verified; %d lines of %s columns, the daemon up.", t.Total, attestEvery, strings.Count(text, "\n")+1, screenWidth)
	for range screenRounds * b.size.rounds {
		u, err := b.steps(ctx, []command{c})
		if err != nil {
			return err
		}
		b.row("l", record.StoryScreen, record.Millis, "retake, the newest of %d checkpoints, the whole process", t.Total).Add(record.Process, u.millis)
	}
	return nil
}

// tellInside takes checkpoints one after the other and waits until all are told.
func tellInside(ctx context.Context, t task) error {
	conf, err := config.Read()
	if err != nil {
		return err
	}
	conf.Executable = t.Retake // a reader is started by this program
	settings, err := config.Load(conf.SettingsFile)
	if err != nil {
		return err
	}
	s, err := assemble.OpenService(ctx, conf, settings, assemble.Options{Exclusive: true})
	if err != nil {
		return err
	}
	return errors.Join(takeAndTell(ctx, s, t), s.Close())
}

func takeAndTell(ctx context.Context, s retake.Service, t task) error {
	plan := grow.Project(t.Files, t.Seed)
	res, err := s.Init(ctx, retake.InitRequest{Dir: t.Dir, Mark: retake.MarkCopy})
	if err != nil {
		return err
	}
	ws := res.Workspace.ID
	for i := 1; i <= t.Checkpoints; i++ {
		if _, err := plan.Edit(t.Dir, plan.Shared(t.Edits, uint64(i-1)), uint64(i-1)); err != nil {
			return err
		}
		req := retake.SaveRequest{Workspace: ws, Trigger: retake.TriggerManual}
		if i%intentEvery == 0 {
			req.Intent = fmt.Sprintf("step %d of the plan", i)
		}
		res, err := s.Save(ctx, req)
		if err != nil {
			return err
		}
		if i%attestEvery == 0 {
			a := retake.Attestation{Workspace: ws, Ref: string(res.Checkpoint.ID), Name: "test", Command: "npm test", Where: retake.InFork}
			if i%(attestEvery*failEvery) == 0 {
				a.Exit = 1
			}
			if _, err := s.Attest(ctx, a); err != nil {
				return err
			}
		}
	}
	return allTold(ctx, s, ws)
}

// allTold asks page by page until no checkpoint is left without a story; asking makes it told.
func allTold(ctx context.Context, s retake.Service, ws retake.WorkspaceID) error {
	const page = 500
	for end := time.Now().Add(untoldWait); ; {
		untold := 0
		for q := (retake.LogQuery{Workspace: ws, Limit: page}); ; {
			t, err := s.Log(ctx, q)
			if err != nil {
				return err
			}
			for _, cp := range t.Checkpoints {
				if g := t.Findings[cp.ID].Gist; g == nil || g.V == 0 {
					untold++
				}
				q.Before = cp.Number
			}
			if len(t.Checkpoints) < page {
				break
			}
		}
		if untold == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("tell checkpoints: %d are not told", untold)
		}
		if err := pause(ctx, storyCalm); err != nil {
			return err
		}
	}
}
