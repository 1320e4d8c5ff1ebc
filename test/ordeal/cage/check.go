//go:build linux

package cage

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// whole reads the checkpoint back.
func (b *cageBed) whole(cp retake.Checkpoint, dir string, want map[string][32]byte) error {
	for path, sum := range want {
		f, _, err := b.svc.Open(context.Background(), b.ws, string(cp.ID), filepath.ToSlash(filepath.Join(dir, path)))
		if err != nil {
			return fmt.Errorf("read back: %w", err)
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("read back: %w", err)
		}
		if [32]byte(h.Sum(nil)) != sum {
			return fmt.Errorf("%s has other bytes in the checkpoint", path)
		}
	}
	return nil
}

// means looks whether the story tells what the case means, or that it could not be read.
func (b *cageBed) means(cp retake.Checkpoint, h hostileFile, dir string, files int) error {
	ctx, cancel := context.WithTimeout(context.Background(), cageStoryTime)
	defer cancel()
	st, err := b.svc.Story(ctx, retake.DiffQuery{Workspace: b.ws, To: string(cp.ID)})
	if err != nil {
		return fmt.Errorf("story: %w", err)
	}
	if h.before == nil && st.Counts.Total() < int64(files) {
		return fmt.Errorf("%d of %d files are told", st.Counts.Total(), files)
	}
	inside := func(path string) bool { return strings.HasPrefix(path, filepath.ToSlash(dir)+"/") }
	facts := slices.ContainsFunc(st.Facts, func(f retake.Fact) bool { return inside(f.Path) })
	unread := slices.ContainsFunc(st.Unread, func(u retake.Unread) bool { return inside(u.Path) && u.Why != "" })
	switch {
	case unread:
		b.worst.unread++
	case facts:
		b.worst.facts++
	case h.silent:
		b.worst.silent++
	default:
		return errors.New("the story neither tells what it means nor that it was not read")
	}
	return nil
}

// digests are of all regular files below a directory, by their path.
func digests(dir string) (sums map[string][32]byte, err error) {
	sums = map[string][32]byte{}
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		sums[rel] = sha256.Sum256(data)
		return err
	})
	return sums, err
}
