//go:build unix

// Command pictures plays a morning of work in a small shop through the real program, and
// makes pictures of what its commands print. It also makes the demo and undoes its last turn,
// and makes a moving picture of that.
//
//	go run ./test/pictures              into docs/pictures
//	go run ./test/pictures -only undo   the moving picture alone
//	go run ./test/pictures -o /tmp/p -keep
//
// Everything happens below a temporary directory, with a home and a daemon of its own; it
// needs git, sqlite3 and script. Nothing on a picture is drawn by hand: files are written,
// agents signal, checks run. Only the clock is set from one checkpoint to the next, so that a
// morning takes seconds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake/test/pictures/reel"
)

// most is how large a picture may be.
const most = 60 << 10

func main() {
	out := flag.String("o", "docs/pictures", "directory for the pictures")
	only := flag.String("only", "", "morning or undo; both without it")
	keep := flag.Bool("keep", false, "keep the homes and the trees")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	err := run(ctx, *out, *only, *keep)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out, only string, keep bool) error {
	for _, program := range []string{"git", "sqlite3", "script", "stty"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("find %s: %w", program, err)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	plays := map[string]func(context.Context, *stage, string) error{"morning": filmMorning, "undo": filmUndo}
	if only != "" && plays[only] == nil {
		return fmt.Errorf("play %s: there is morning and undo", only)
	}
	for _, name := range []string{"morning", "undo"} {
		if only != "" && only != name {
			continue
		}
		if err := onStage(ctx, keep, func(s *stage) error { return plays[name](ctx, s, out) }); err != nil {
			return err
		}
	}
	return nil
}

// onStage plays something in a home of its own, and leaves nothing behind.
func onStage(ctx context.Context, keep bool, play func(*stage) error) (err error) {
	dir, err := os.MkdirTemp("", "rt-pictures-")
	if err != nil {
		return fmt.Errorf("make scratch: %w", err)
	}
	if keep {
		fmt.Println("kept:", dir)
	} else {
		defer os.RemoveAll(dir) //nolint:errcheck // scratch
	}
	s, err := newStage(ctx, dir)
	if err != nil {
		return err
	}
	defer s.strike(&err)
	return play(s)
}

func filmMorning(ctx context.Context, s *stage, out string) error {
	return s.morning(ctx, func(p picture) error {
		b, err := s.shoot(ctx, p)
		if err != nil {
			return err
		}
		return develop(out, p.name, b)
	})
}

// filmUndo makes the light and the dark form of one run.
func filmUndo(ctx context.Context, s *stage, out string) error {
	r, err := s.undo(ctx)
	if err != nil {
		return err
	}
	for name, dark := range map[string]bool{"undo-light.svg": false, "undo-dark.svg": true} {
		b, err := reel.SVG(r, dark)
		if err != nil {
			return err
		}
		if err := develop(out, name, b); err != nil {
			return err
		}
	}
	return nil
}

// develop writes a picture that is not too large.
func develop(out, name string, b []byte) error {
	if len(b) > most {
		return fmt.Errorf("draw %s: %d bytes are too many", name, len(b))
	}
	fmt.Printf("%-18s %5.1f KB\n", name, float64(len(b))/1024)
	return os.WriteFile(filepath.Join(out, name), b, 0o644)
}
