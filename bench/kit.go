package main

import (
	"path/filepath"

	"github.com/retake-dev/retake/bench/record"
)

// kit is how one tool is driven. home is a directory of the tool's own; ws is the
// workspace. What prepare does is outside the clock.
type kit struct {
	name    string
	env     []string // beside what all have
	homes   func(home string) []string
	prepare func(home string) [][]string
	first   func(home, ws string) [][]string
	save    func(home, ws string) [][]string
	store   func(home string) string // the directory that a save makes larger
	how     string
	version string
}

// shell is the environment that every tool gets: nothing of the caller's.
func (b *bench) shell() []string {
	return []string{
		"HOME=" + filepath.Join(b.tmp, "home"), "TMPDIR=" + filepath.Join(b.tmp, "tmp"),
		"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", "TZ=UTC", "TERM=dumb",
	}
}

func (b *bench) commands(k *kit, home, ws string, argvs [][]string) []command {
	env := append(b.shell(), k.env...)
	if k.homes != nil {
		env = append(env, k.homes(home)...)
	}
	var out []command
	for _, a := range argvs {
		out = append(out, command{argv: a, dir: ws, env: env})
	}
	return out
}

func nothing(string) [][]string { return nil }

func inHome(name string) func(string) string {
	return func(home string) string { return filepath.Join(home, name) }
}

func retakeKit(bin string) *kit {
	return &kit{
		name: record.Subject, how: "as it comes; init makes the store inside the clock",
		homes:   func(home string) []string { return []string{"RETAKE_HOME=" + home} },
		prepare: nothing,
		first:   func(_, ws string) [][]string { return [][]string{{bin, "init", "--no-input", ws}} },
		save:    func(_, ws string) [][]string { return [][]string{{bin, "save", "--no-input", "-C", ws, "round"}} },
		store:   inHome("data/store"),
	}
}

func kopiaKit(bin string) *kit {
	snapshot := func(_, ws string) [][]string { return [][]string{{bin, "snapshot", "create", "--no-progress", ws}} }
	return &kit{
		name: "kopia", how: "compression zstd-fastest as retake's, maintenance off; the repository is made before the clock starts",
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
		name: "restic", how: "as it comes; the repository is made before the clock starts",
		env: []string{"RESTIC_PASSWORD=measure"},
		homes: func(home string) []string {
			return []string{"RESTIC_REPOSITORY=" + filepath.Join(home, "store"), "RESTIC_CACHE_DIR=" + filepath.Join(home, "cache")}
		},
		prepare: func(string) [][]string { return [][]string{{bin, "init", "-q"}} },
		first:   backup, save: backup, store: inHome("store"),
	}
}

func gitKit(bin string) *kit {
	add := func(home, ws string) [][]string {
		at := []string{bin, "--git-dir=" + filepath.Join(home, "store"), "--work-tree=" + ws}
		return [][]string{
			append(at[:3:3], "add", "-A"),
			append(at[:3:3], "write-tree"),
		}
	}
	return &kit{
		name: "git", how: "a directory of its own beside the work tree: add -A, then write-tree; does not sync loose objects",
		env: []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"},
		prepare: func(home string) [][]string {
			return [][]string{{bin, "init", "-q", "--bare", filepath.Join(home, "store")}}
		},
		first: add, save: add, store: inHome("store"),
	}
}
