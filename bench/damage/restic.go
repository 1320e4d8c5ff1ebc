//go:build linux

package main

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
)

type restic struct {
	bin string
	ids map[string]string // by the name of the state, in the undamaged repository
}

func (r *restic) name() string { return "restic" }

func (r *restic) workers() int { return 3 }

func (r *restic) version() string { return firstLineOf(r.bin, "version") }

func (r *restic) notes() notes {
	return notes{
		Repository: "restic init, restic backup --tag STATE; format 2, compression auto",
		Restore:    "restic restore ID; it continues after damaged files and exits with 1",
		Repair: []string{
			"restic check --read-data", "restic repair packs IDS if check recommends it, else restic repair index",
			"restic backup", "restic repair snapshots --forget", "restic recover if a state is still missing; its trees count if they match",
		},
		Flags: "--no-cache; --read-data and --forget as its troubleshooting manual recommends",
	}
}

func (r *restic) kind(rel string) string {
	if k := firstDir(rel); k != "locks" {
		return k
	}
	return ""
}

func (r *restic) store(b *bed) string { return b.repo() }

func (r *restic) setup(b *bed) {
	b.env = []string{"RESTIC_PASSWORD=" + password, "RESTIC_REPOSITORY=" + b.repo()}
}

// do runs restic outside the workspace: repair packs writes copies of packs to the current directory.
func (r *restic) do(ctx context.Context, b *bed, args ...string) (string, error) {
	return b.run(ctx, b.local(), append([]string{r.bin, "--no-cache"}, args...)...)
}

func (r *restic) create(ctx context.Context, b *bed) error {
	_, err := r.do(ctx, b, "init", "-q")
	return err
}

func (r *restic) save(ctx context.Context, b *bed, name string) error {
	_, err := r.do(ctx, b, "backup", "-q", "--tag", name, b.ws)
	return err
}

// open looks up the snapshots: a repair gives them new ids. If that fails, the old ids are tried.
func (r *restic) open(ctx context.Context, b *bed) error {
	text, err := r.do(ctx, b, "snapshots", "--json")
	found := parseIDs(text)
	if r.ids == nil {
		r.ids = found
	}
	b.ids = r.ids
	if err == nil && found != nil {
		b.ids = found
	}
	return err
}

func (r *restic) restore(ctx context.Context, b *bed, i int, to string) (string, error) {
	id, ok := b.ids[stateName(i)]
	if !ok { // not listed: whoever knows the id can still try it
		id = r.ids[stateName(i)]
	}
	_, err := r.do(ctx, b, "restore", "-q", id, "--target", to)
	return filepath.Join(to, b.ws), err
}

var repairPacks = regexp.MustCompile(`restic repair packs((?: [0-9a-f]{64})+)`)

func (r *restic) repair(ctx context.Context, b *bed) {
	r.do(ctx, b, "check", "--read-data") //nolint:errcheck // it fails if there is damage
	if m := repairPacks.FindStringSubmatch(b.said.String()); m != nil {
		r.do(ctx, b, append([]string{"repair", "packs"}, strings.Fields(m[1])...)...) //nolint:errcheck // what it did not repair is counted
	} else {
		r.do(ctx, b, "repair", "index") //nolint:errcheck // the same
	}
	r.save(ctx, b, stateName(newBackup))            //nolint:errcheck // the same
	r.do(ctx, b, "repair", "snapshots", "--forget") //nolint:errcheck // the same
}

// recovered restores the snapshot that restic recover makes: one directory for each lost tree.
func (r *restic) recovered(ctx context.Context, b *bed) []string {
	if _, err := r.do(ctx, b, "recover"); err != nil {
		return nil
	}
	if _, err := r.do(ctx, b, "restore", "-q", "latest", "--tag", "recovered", "--target", b.out()); err != nil {
		return nil
	}
	roots, _ := filepath.Glob(filepath.Join(b.out(), "*", b.ws))
	return roots
}

func (r *restic) close(context.Context, *bed) error { return nil }
