package main

import (
	"context"
	"path/filepath"

	"github.com/retake-dev/retake/bench/record"
)

// kit is how a peer is driven. home is a directory of the tool's own; ws is the
// workspace. What prepare does is outside the clock. An argument "{}" becomes what
// the step before it printed.
type kit struct {
	name    string
	how     string
	env     []string // beside what all have
	homes   func(home string) []string
	place   func(ctx context.Context, b *bench, dir string, bytes int64) (ws string, err error) // nil: a plain directory
	prepare func(home string) [][]string
	first   func(home, ws string) [][]string
	save    func(home, ws string) [][]string
	then    func(home, ws string) [][]string // a save that back goes to; nil: it does not go back here
	back    func(home, ws string) [][]string // a save, then back to the one of then
	store   func(home string) string         // the directory that a save makes larger; nil: none of its own
}

// shell is the environment that every tool gets: nothing of the caller's.
func (b *bench) shell() []string {
	return []string{
		"HOME=" + filepath.Join(b.tmp, "home"), "TMPDIR=" + filepath.Join(b.tmp, "tmp"),
		"PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "LC_ALL=C", "TZ=UTC", "TERM=dumb",
	}
}

func (b *bench) commands(k *kit, home, ws string, argvs [][]string) []command {
	env := append(b.shell(), k.env...)
	if k.homes != nil {
		env = append(env, k.homes(home)...)
	}
	var out []command
	for _, a := range argvs {
		out = append(out, command{argv: b.numbered(a), dir: ws, env: env})
	}
	return out
}

func inHome(name string) func(string) string {
	return func(home string) string { return filepath.Join(home, name) }
}

func kopiaKit(bin string) *kit {
	snapshot := func(_, ws string) [][]string { return [][]string{{bin, "snapshot", "create", "--no-progress", ws}} }
	return &kit{
		name: record.Kopia, how: "compression zstd-fastest as retake's, maintenance off; the repository is made before the clock starts",
		env: []string{"KOPIA_PASSWORD=measure", "KOPIA_CHECK_FOR_UPDATES=false"},
		homes: func(home string) []string {
			return []string{
				"KOPIA_CONFIG_PATH=" + filepath.Join(home, "config"), "KOPIA_CACHE_DIRECTORY=" + filepath.Join(home, "cache"),
				"KOPIA_LOG_DIR=" + filepath.Join(home, "logs"),
			}
		},
		prepare: func(home string) [][]string {
			return [][]string{
				{bin, "repository", "create", "filesystem", "--path", filepath.Join(home, "store")},
				{bin, "policy", "set", "--global", "--compression=zstd-fastest"},
				{bin, "maintenance", "set", "--enable-quick=false", "--enable-full=false"},
			}
		},
		first: snapshot, save: snapshot, store: inHome("store"),
	}
}

func resticKit(bin string) *kit {
	backup := func(_, ws string) [][]string { return [][]string{{bin, "backup", "-q", ws}} }
	return &kit{
		name: record.Restic, how: "as it comes; the repository is made before the clock starts",
		env: []string{"RESTIC_PASSWORD=measure"},
		homes: func(home string) []string {
			return []string{"RESTIC_REPOSITORY=" + filepath.Join(home, "store"), "RESTIC_CACHE_DIR=" + filepath.Join(home, "cache")}
		},
		prepare: func(string) [][]string { return [][]string{{bin, "init", "-q"}} },
		first:   backup, save: backup, store: inHome("store"),
	}
}

// gitBack takes only the paths back that differ: of all ways of git's that are right,
// this one looks at the fewest files.
const gitBack = `"$1" "$2" "$3" diff-tree -r --name-only -z --no-commit-id "$4" refs/heads/then |
"$1" "$2" "$3" restore --source=refs/heads/then --staged --worktree --pathspec-from-file=- --pathspec-file-nul`

func gitKit(bin string) *kit {
	at := func(home, ws string, more ...string) []string {
		return append([]string{bin, "--git-dir=" + filepath.Join(home, "store"), "--work-tree=" + ws}, more...)
	}
	commit := func(home, ws string) [][]string {
		return [][]string{
			at(home, ws, "add", "-A"),
			at(home, ws, "write-tree"),
			at(home, ws, "commit-tree", "-m", "round", "{}"),
		}
	}
	return &kit{
		name: record.Git, how: "a directory of its own beside the work tree: add -A, write-tree, commit-tree; does not sync loose objects",
		env: []string{
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost",
		},
		prepare: func(home string) [][]string {
			return [][]string{{bin, "init", "-q", "--bare", filepath.Join(home, "store")}}
		},
		first: commit, save: commit, store: inHome("store"),
		then: func(home, ws string) [][]string {
			return append(commit(home, ws), at(home, ws, "update-ref", "refs/heads/then", "{}"))
		},
		back: func(home, ws string) [][]string {
			return append(commit(home, ws), append([]string{"/bin/sh", "-c", gitBack, "sh"}, at(home, ws, "{}")...))
		},
	}
}
