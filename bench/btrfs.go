package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake/bench/record"
)

// btrfsKit lets the file system keep the history: a snapshot of a subvolume in an
// image of its own. Its store is the file system, so it has no size to compare.
func btrfsKit(bin string) *kit {
	snapshot := func(_, ws string) [][]string {
		return [][]string{{bin, "subvolume", "snapshot", "-r", ws, filepath.Join(filepath.Dir(ws), "at-"+snapshotMark)}}
	}
	return &kit{
		name: record.Btrfs, how: "subvolume snapshot -r in a mounted image of its own; the file system writes back before it",
		place:   placeBtrfs,
		prepare: func(string) [][]string { return nil },
		first:   snapshot, save: snapshot,
	}
}

// snapshotMark becomes a new number in every command.
const snapshotMark = "{number}"

// placeBtrfs makes and mounts an image; it is unmounted at the end of the run.
func placeBtrfs(ctx context.Context, b *bench, dir string, bytes int64) (string, error) {
	mount, err := b.image(ctx, dir, 4*bytes+4<<30, "loop", "mkfs.btrfs", "-q")
	if err != nil {
		return "", err
	}
	ws := filepath.Join(mount, "ws")
	_, err = command{argv: []string{"btrfs", "subvolume", "create", ws}, env: b.shell(), dir: dir}.output(ctx)
	return ws, err
}

// image makes a file system in a sparse file and mounts it below dir; it is unmounted
// at the end of the scenario.
func (b *bench) image(ctx context.Context, dir string, bytes int64, options string, mkfs ...string) (string, error) {
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	if err := os.MkdirAll(mount, 0o755); err != nil {
		return "", fmt.Errorf("make image: %w", err)
	}
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return "", fmt.Errorf("make image: %w", err)
	}
	if err := os.Truncate(image, bytes); err != nil {
		return "", fmt.Errorf("make image: %w", err)
	}
	do := func(ctx context.Context, argv ...string) error {
		_, err := command{argv: argv, env: b.shell(), dir: dir}.output(ctx)
		return err
	}
	if err := do(ctx, append(mkfs, image)...); err != nil {
		return "", err
	}
	if err := do(ctx, "mount", "-o", options, image, mount); err != nil {
		return "", err
	}
	b.closers = append(b.closers, func() error { return do(context.WithoutCancel(ctx), "umount", "-l", mount) })
	return mount, nil
}
