package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/story/replay"
)

// plainDir holds the screens of runs in which nothing was verified: a judge has only the
// story to go by.
const plainDir = "unverified"

// plainScreen plays a run once more, without any check, for its screen.
func plainScreen(ctx context.Context, o options, dir string, r replay.Run) (err error) {
	s := &stand{exe: o.retake, dir: dir, run: r}
	defer s.strike(&err)
	if err = s.play(ctx); err != nil {
		return err
	}
	if _, err = s.write(ctx); err != nil {
		return err
	}
	return s.screen(ctx, o.screens, filepath.Join(plainDir, r.Name))
}

// screen writes the complaint and what a person then sees; the answer is kept apart.
func (s *stand) screen(ctx context.Context, dir, name string) error {
	text, err := s.tell(ctx)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, name+".txt")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write screen: %w", err)
	}
	if err := os.WriteFile(file, fmt.Appendf(nil, "%s\n\n$ retake\n%s", s.run.Complaint, text), 0o644); err != nil {
		return fmt.Errorf("write screen: %w", err)
	}
	numbers, err := s.answers(ctx)
	if err != nil {
		return err
	}
	return putAnswer(filepath.Join(dir, "answers.json"), filepath.ToSlash(name), numbers)
}

// answers are the checkpoints that have the files as they were last right.
func (s *stand) answers(ctx context.Context) ([]int64, error) {
	log, err := s.svc.Log(ctx, retake.LogQuery{Workspace: s.ws})
	if err != nil {
		return nil, fmt.Errorf("read log: %w", err)
	}
	right := s.acts[s.run.Answer].last().Content
	var out []int64
	for _, cp := range log.Checkpoints {
		if cp.Content == right {
			out = append(out, cp.Number)
		}
	}
	return out, nil
}

func putAnswer(file, name string, numbers []int64) error {
	all := map[string][]int64{}
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &all)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("read answers: %w", err)
	}
	all[name] = numbers
	if text, err = json.MarshalIndent(all, "", "  "); err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write answers: %w", err)
	}
	return nil
}
