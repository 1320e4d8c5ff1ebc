//go:build unix

// Command pictures plays a morning of work in a small shop through the real program, and
// makes pictures of what its commands print.
//
//	go run ./test/pictures              into docs/pictures
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
)

// most is how large a picture may be.
const most = 60 << 10

func main() {
	out := flag.String("o", "docs/pictures", "directory for the pictures")
	keep := flag.Bool("keep", false, "keep the home and the tree")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	err := run(ctx, *out, *keep)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out string, keep bool) (err error) {
	for _, program := range []string{"git", "sqlite3", "script", "stty"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("find %s: %w", program, err)
		}
	}
	dir, err := os.MkdirTemp("", "rt-pictures-")
	if err != nil {
		return fmt.Errorf("make scratch: %w", err)
	}
	if keep {
		fmt.Println("kept:", dir)
	} else {
		defer os.RemoveAll(dir) //nolint:errcheck // scratch
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	s, err := newStage(ctx, dir)
	if err != nil {
		return err
	}
	defer s.strike(&err)
	return s.morning(ctx, func(p picture) error {
		b, err := s.shoot(ctx, p)
		if err != nil {
			return err
		}
		if len(b) > most {
			return fmt.Errorf("draw %s: %d bytes are too many", p.name, len(b))
		}
		fmt.Printf("%-18s %5.1f KB\n", p.name, float64(len(b))/1024)
		return os.WriteFile(filepath.Join(out, p.name), b, 0o644)
	})
}
