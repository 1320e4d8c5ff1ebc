//go:build linux

package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

type kopia struct {
	bin string
	ids map[string]string // by the name of the state, in the undamaged repository
}

func (k *kopia) name() string { return "kopia" }

// workers is larger: kopia waits long before it gives up.
func (k *kopia) workers() int { return 3 }

func (k *kopia) version() string { return "kopia " + firstLineOf(k.bin, "--version") }

func (k *kopia) notes() notes {
	return notes{
		Repository: "kopia repository create filesystem, kopia snapshot create --tags; no compression, no error correction",
		Restore:    "kopia snapshot restore ID, and if that fails again with --ignore-errors",
		Repair: []string{
			"if the repository does not open: the index blob that the error names is deleted, or kopia repository repair --recover-format=yes if it names none",
			"kopia index recover --parallel=10 --commit",
			"kopia snapshot create", "kopia snapshot fix invalid-files --parallel=10 --commit --verify-files-percent=100",
		},
		Flags: "KOPIA_DANGEROUS_COMMANDS=enabled, which index recover and repository repair need; --commit, --parallel and --verify-files-percent as its manual recommends; --recover-format=yes as repository repair recommends; index recover --ignore-errors if it fails without",
	}
}

func (k *kopia) kind(rel string) string { return firstDir(rel) }

func (k *kopia) store(b *bed) string { return b.repo() }

func (k *kopia) setup(b *bed) {
	b.env = []string{
		"KOPIA_PASSWORD=" + password, "KOPIA_CHECK_FOR_UPDATES=false", "KOPIA_DANGEROUS_COMMANDS=enabled",
		"KOPIA_CONFIG_PATH=" + filepath.Join(b.local(), "repository.config"),
		"KOPIA_CACHE_DIRECTORY=" + filepath.Join(b.local(), "cache"), "KOPIA_LOG_DIR=" + filepath.Join(b.local(), "logs"),
	}
}

func (k *kopia) do(ctx context.Context, b *bed, args ...string) (string, error) {
	return b.run(ctx, b.ws, append([]string{k.bin, "--no-progress"}, args...)...)
}

func (k *kopia) create(ctx context.Context, b *bed) error {
	if err := os.MkdirAll(b.repo(), 0o755); err != nil {
		return err
	}
	_, err := k.do(ctx, b, "repository", "create", "filesystem", "--path", b.repo())
	return err
}

func (k *kopia) save(ctx context.Context, b *bed, name string) error {
	_, err := k.do(ctx, b, "snapshot", "create", "--tags", "state:"+name, b.ws)
	return err
}

func (k *kopia) connect(ctx context.Context, b *bed) error {
	_, err := k.do(ctx, b, "repository", "connect", "filesystem", "--path", b.repo())
	return err
}

// open connects and looks up the snapshots: a repair gives them new ids.
func (k *kopia) open(ctx context.Context, b *bed) error {
	if err := k.connect(ctx, b); err != nil {
		return err
	}
	text, err := k.do(ctx, b, "snapshot", "list", "--json")
	found := parseIDs(text)
	if k.ids == nil {
		k.ids = found
	}
	b.ids = k.ids
	if err == nil && found != nil {
		b.ids = found
	}
	return err
}

func (k *kopia) restore(ctx context.Context, b *bed, i int, to string) (string, error) {
	id, ok := b.ids[stateName(i)]
	if !ok {
		id = k.ids[stateName(i)]
	}
	_, err := k.do(ctx, b, "snapshot", "restore", id, to)
	if err != nil {
		k.do(ctx, b, "snapshot", "restore", "--ignore-errors", id, to) //nolint:errcheck // the first error counts
	}
	return to, err
}

func (k *kopia) repair(ctx context.Context, b *bed) {
	if k.connect(ctx, b) != nil {
		if m := indexBlob.FindStringSubmatch(b.said.String()); m != nil {
			removeBlob(b.repo(), m[1])
		} else {
			k.do(ctx, b, "repository", "repair", "--recover-format=yes", "filesystem", "--path", b.repo()) //nolint:errcheck // what it did not repair is counted
		}
		k.connect(ctx, b) //nolint:errcheck // the next command fails then
	}
	if _, err := k.do(ctx, b, "index", "recover", "--parallel=10", "--commit"); err != nil {
		k.do(ctx, b, "index", "recover", "--parallel=10", "--commit", "--ignore-errors") //nolint:errcheck // what it did not repair is counted
	}
	k.save(ctx, b, stateName(newBackup))                                                                        //nolint:errcheck // what it did not repair is counted
	k.do(ctx, b, "snapshot", "fix", "invalid-files", "--parallel=10", "--commit", "--verify-files-percent=100") //nolint:errcheck // the same
}

var indexBlob = regexp.MustCompile(`error loading index blob (x[0-9a-z_-]+)`)

// removeBlob removes the file of a blob, whose name is spread over directories. kopia blob delete does
// not work while the repository does not open.
func removeBlob(repo, name string) {
	filepath.WalkDir(repo, func(path string, d fs.DirEntry, err error) error { //nolint:errcheck // the function returns none
		if rel, _ := filepath.Rel(repo, path); err == nil && !d.IsDir() && strings.ReplaceAll(rel, "/", "") == name+".f" {
			os.Remove(path) //nolint:errcheck // what stays is counted
		}
		return nil
	})
}

func (k *kopia) close(context.Context, *bed) error { return nil }
