//go:build linux

package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

type borg struct{ bin string }

func newBorg(context.Context) (tool, error) {
	bin, err := exec.LookPath("borg")
	if err != nil {
		return nil, fmt.Errorf("it is not on the path: %w", err)
	}
	return &borg{bin}, nil
}

func (g *borg) name() string { return "borg" }

func (g *borg) workers() int { return 4 }

func (g *borg) version() string { return firstLineOf(g.bin, "--version") }

func (g *borg) notes() notes {
	return notes{
		Repository: "borg init --encryption=repokey, borg create",
		Restore:    "borg extract; the states it gives up are read from borg mount",
		Repair:     []string{"borg check --repair", "borg create", "borg check --repair, which puts chunks back that the new archive has"},
		Flags:      "BORG_CHECK_I_KNOW_WHAT_I_AM_DOING=YES, which --repair needs without a terminal; BORG_RELOCATED_REPO_ACCESS_IS_OK=yes; --lock-wait 5",
	}
}

// kind is data for segments, else the name without the number of its transaction.
func (g *borg) kind(rel string) string {
	if strings.HasPrefix(rel, "lock.") {
		return ""
	}
	k, _, _ := strings.Cut(firstDir(rel), ".")
	return k
}

func (g *borg) store(b *bed) string { return b.repo() }

func (g *borg) setup(b *bed) {
	b.env = []string{
		"BORG_PASSPHRASE=" + password, "BORG_REPO=" + b.repo(), "BORG_BASE_DIR=" + b.local(),
		"BORG_RELOCATED_REPO_ACCESS_IS_OK=yes", "BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK=yes", "BORG_CHECK_I_KNOW_WHAT_I_AM_DOING=YES",
	}
}

func (g *borg) do(ctx context.Context, b *bed, dir string, args ...string) error {
	_, err := b.run(ctx, dir, append([]string{g.bin, "--lock-wait", "5"}, args...)...)
	return err
}

func (g *borg) create(ctx context.Context, b *bed) error {
	return g.do(ctx, b, b.ws, "init", "--encryption=repokey")
}

func (g *borg) save(ctx context.Context, b *bed, name string) error {
	return g.do(ctx, b, b.ws, "create", "::"+name, ".")
}

func (g *borg) open(context.Context, *bed) error { return nil }

func (g *borg) restore(ctx context.Context, b *bed, i int, to string) (string, error) {
	return to, g.do(ctx, b, to, "extract", "::"+stateName(i))
}

func (g *borg) mount(b *bed) []string {
	return []string{g.bin, "--lock-wait", "5", "mount", "--foreground", b.repo(), b.point()}
}

func (g *borg) mountedRoot(b *bed, i int) string { return filepath.Join(b.point(), stateName(i)) }

func (g *borg) repair(ctx context.Context, b *bed) {
	g.do(ctx, b, b.ws, "check", "--repair") //nolint:errcheck // what it did not repair is counted
	g.save(ctx, b, stateName(newBackup))    //nolint:errcheck // the same
	g.do(ctx, b, b.ws, "check", "--repair") //nolint:errcheck // the same
}

func (g *borg) close(context.Context, *bed) error { return nil }
