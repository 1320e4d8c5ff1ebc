// Package demo makes a workspace to look around in: a small shop on which two agents
// worked for a dozen turns, and a restore, two forks and a change too far.
//
// It is a client of retake.Service like the command line: it sends the signals that agents
// send, and changes the files itself as they would. It touches one new
// directory and what the service keeps, runs nothing but the shop's own check, which is
// handed in, and sends nothing: pushes and mails of the story are only told.
//
//	M1  Nothing outside the directory is written, and no directory that holds something.
//	M2  Times, trees, answers and plans are real. The agents are played, and it says so.
//	M3  What was cut off says so, by a file in the directory.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// Names in the directory of a demo.
const (
	Shop       = "shopfront"  // the workspace
	Unfinished = "UNFINISHED" // is there until the demo is whole
	agentsDir  = "agents"     // the conversations
)

// CheckName and CheckLine are the verification of the shop.
const (
	CheckName = "test"
	CheckLine = "sh test.sh"
)

// Request asks for a demo in Dir, which is absolute, and new or empty.
type Request struct {
	Dir   string
	Clock clock.Clock
	Env   []string // what verifications may see of the caller's environment
	// Check runs CheckLine in a directory and tells what it answered.
	Check  func(ctx context.Context, dir string) (retake.Attestation, error)
	OnStep func(step string) // hears what is being done; may be nil
}

// Result is what there is to look at.
type Result struct {
	Dir         string             `json:"dir"`
	Workspace   retake.Workspace   `json:"workspace"`
	Forks       []retake.Workspace `json:"forks"`
	Checkpoints int64              `json:"moments"` // of the workspace
	Turns       int                `json:"turns"`   // with those in the forks
	Effects     int                `json:"effects"` // that were told; none was done
	Good        *retake.Checkpoint `json:"good,omitempty"`
	Took        time.Duration      `json:"took"`

	// Checkpoints worth looking at, by number.
	Mismatch int64 `json:"mismatch"` // says docs, changes settings
	Lost     int64 `json:"lost"`     // rows went in a migration
	Last     int64 `json:"last"`     // the change too far
}

// ErrOccupied says that the directory is not new or empty.
var ErrOccupied = errors.New("the directory is not empty")

// Make makes the demo. An error after ErrOccupied was ruled out leaves a part of it, with
// the file Unfinished.
func Make(ctx context.Context, s retake.Service, req Request) (Result, error) {
	began := req.Clock.Now()
	if err := claimDir(req.Dir); err != nil {
		return Result{}, err
	}
	st, err := newStoryRunner(s, req)
	if err != nil {
		return Result{}, err
	}
	if err := st.runStory(ctx); err != nil {
		return Result{}, err
	}
	res, err := st.collectResult(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := os.Remove(filepath.Join(req.Dir, Unfinished)); err != nil {
		return Result{}, fmt.Errorf("remove mark: %w", err)
	}
	res.Took = req.Clock.Now().Sub(began)
	return res, nil
}

const unfinishedText = `This demo of retake was interrupted before its end: its story is not whole.
Nothing outside this directory was changed. Remove it, and make it again:

  rm -r %s
  retake demo
`

// claimDir makes the directory and marks the demo in it as unfinished.
func claimDir(dir string) error {
	if err := CheckFree(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	// Two that begin at once do not both get it.
	f, err := os.OpenFile(filepath.Join(dir, Unfinished), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return ErrOccupied
	}
	if err != nil {
		return fmt.Errorf("mark directory: %w", err)
	}
	_, err = fmt.Fprintf(f, unfinishedText, filepath.Base(dir))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("mark directory: %w", err)
	}
	return nil
}

// CheckFree returns ErrOccupied if a directory is not empty. It changes nothing.
func CheckFree(dir string) error {
	names, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("read directory: %w", err)
	case len(names) > 0:
		return ErrOccupied
	}
	return nil
}

// IsUnfinished reports whether a directory holds a demo that was interrupted.
func IsUnfinished(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, Unfinished))
	return err == nil
}
