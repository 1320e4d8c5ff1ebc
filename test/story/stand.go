package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/test/story/replay"
)

const (
	commandPatience    = 5 * time.Minute
	checkpointPatience = time.Minute
	pollEvery          = 5 * time.Millisecond
)

// stand is one run with a home, a daemon and a tree of its own.
type stand struct {
	exe    string
	dir    string
	run    replay.Run
	verify bool // the check is run after every turn, and its answer recorded

	svc      *client.Client
	head     string // the commit that the branch of the tree is at, if it has one
	ws       retake.WorkspaceID
	newest   retake.Checkpoint
	sessions map[string]bool // agents that were heard of
	acts     []act           // turn 0 first
}

// act is one turn that was played, and the checkpoints that it became.
type act struct {
	turn        replay.Turn
	dirs        ownDirs
	before      retake.Checkpoint
	checkpoints []retake.Checkpoint // more than one when the capture ran out of time
	passed      bool
}

// last is the checkpoint that holds all of the turn.
func (a act) last() retake.Checkpoint { return a.checkpoints[len(a.checkpoints)-1] }

func (s *stand) home() string { return filepath.Join(s.dir, "home") }

// tree carries the name of the run: people read it on the screen.
func (s *stand) tree() string { return filepath.Join(s.dir, "work", s.run.Name) }

func (s *stand) furnish() error {
	for _, d := range []string{s.home(), s.tree()} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return fmt.Errorf("make stand: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.home(), "config.json"), []byte(`{"floor":"1KB"}`), 0o600); err != nil {
		return fmt.Errorf("make stand: %w", err)
	}
	return nil
}

// command is the program in the tree. It finds other programs where replay does: in the
// usual places first, then where the caller has them.
func (s *stand) command(ctx context.Context, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, s.exe, args...)
	places := "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	for _, v := range c.Environ() {
		if p, ok := strings.CutPrefix(v, "PATH="); ok && p != "" {
			places += ":" + p
		}
	}
	c.Dir = s.tree()
	c.Env = []string{
		"RETAKE_HOME=" + s.home(), "HOME=" + s.home(), "PATH=" + places,
		"COLUMNS=80", "NO_COLOR=1", "TERM=xterm", "LANG=C.UTF-8", "TZ=UTC",
	}
	c.WaitDelay = 5 * time.Second
	return c
}

// tell runs the program and answers what it prints, also when it ends with trouble.
func (s *stand) tell(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, commandPatience)
	defer cancel()
	var trouble bytes.Buffer
	c := s.command(ctx, args...)
	c.Stderr = &trouble
	out, err := c.Output()
	if err != nil {
		return out, fmt.Errorf("retake %s: %w: %.600s", strings.Join(args, " "), err, trouble.String())
	}
	return out, nil
}

// protect takes the first checkpoint, and finds the daemon that took it.
func (s *stand) protect(ctx context.Context) error {
	if _, err := s.tell(ctx, "init", "--yes"); err != nil {
		return err
	}
	out, err := s.tell(ctx, "daemon", "start", "--json")
	if err != nil {
		return err
	}
	var at struct{ Socket string }
	if err := json.Unmarshal(out, &at); err != nil || at.Socket == "" {
		return fmt.Errorf("find daemon in %q: %w", out, err)
	}
	s.svc = client.New(client.Options{Socket: at.Socket, Version: "story"})
	ws, err := s.svc.Locate(ctx, s.tree())
	if err != nil {
		return fmt.Errorf("locate workspace: %w", err)
	}
	s.ws = ws.ID
	s.newest, err = s.svc.Find(ctx, s.ws, "latest")
	if err != nil {
		return fmt.Errorf("find first checkpoint: %w", err)
	}
	return nil
}

// strike stops the daemon of this home: none may stay.
func (s *stand) strike(err *error) {
	if s.svc == nil {
		return
	}
	_, stop := s.tell(context.Background(), "daemon", "stop")
	*err = errors.Join(*err, stop, s.svc.Close())
}

// await asks until something holds, or the patience is over.
func await(ctx context.Context, patience time.Duration, holds func() (bool, error)) (bool, error) {
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for end := time.Now().Add(patience); ; {
		if ok, err := holds(); ok || err != nil || time.Now().After(end) {
			return ok, err
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
