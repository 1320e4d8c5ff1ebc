//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/retake-dev/retake"
)

// check is the verification that stands.
const check = "sh test.sh"

// steps does one after the other until one fails.
func steps(fs ...func() error) error {
	for _, f := range fs {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// morning plays everything, and takes the pictures when their time has come.
func (s *stage) morning(ctx context.Context, take func(picture) error) error {
	return steps(
		func() error { return s.begin(ctx) },
		func() error { return s.refactor(ctx) },
		func() error { return s.sessions(ctx) },
		func() error { return s.astray(ctx) },
		func() error { return s.back(ctx) },
		func() error { return s.forks(ctx) },
		func() error { return s.month(ctx) },
		func() error {
			s.at("11:42")
			if err := put(s.tree(), "later"); err != nil {
				return err
			}
			return s.gallery(ctx, take)
		},
	)
}

func (s *stage) gallery(ctx context.Context, take func(picture) error) error {
	installed, err := s.number(ctx, "install the session store")
	if err != nil {
		return err
	}
	before, err := s.number(ctx, "refactor auth to sessions")
	if err != nil {
		return err
	}
	astray, err := s.number(ctx, "move sessions to redis")
	if err != nil {
		return err
	}
	for _, p := range []picture{
		{"timeline-160.svg", "The timeline of a morning, on a terminal of 160 columns", "retake", 160},
		{"card.svg", "One checkpoint and what really changed in it", fmt.Sprintf("retake show %d", installed), 80},
		{"diff.svg", "What differs between two checkpoints, counted", fmt.Sprintf("retake diff %d %d --stat", before, installed), 80},
		{"bisect.svg", "The first checkpoint at which a command fails", fmt.Sprintf("retake bisect --to %d -- sh e2e/login.sh", astray), 80},
	} {
		if err := take(p); err != nil {
			return err
		}
	}
	return nil
}

// number finds the newest checkpoint of a turn.
func (s *stage) number(ctx context.Context, intent string) (int64, error) {
	log, err := s.svc.Log(ctx, retake.LogQuery{Workspace: s.ws})
	if err != nil {
		return 0, fmt.Errorf("read log: %w", err)
	}
	i := slices.IndexFunc(log.Checkpoints, func(c retake.Checkpoint) bool { return c.Intent == intent })
	if i < 0 {
		return 0, fmt.Errorf("find checkpoint %q: there is none", intent)
	}
	return log.Checkpoints[i].Number, nil
}

// begin: a clone under protection, some quiet minutes, a build.
func (s *stage) begin(ctx context.Context) error {
	s.at("09:41")
	if err := steps(
		func() error { return os.MkdirAll(s.tree(), 0o755) },
		func() error { return put(s.tree(), "start") },
		func() error { return install(s.tree(), basePackages) },
		func() error { return avatars(s.tree()) },
		func() error {
			return s.do(ctx, `mkdir -p data logs
sqlite3 data/dev.db "CREATE TABLE users (id INTEGER PRIMARY KEY, mail TEXT, password TEXT); CREATE TABLE orders (id INTEGER PRIMARY KEY, user INTEGER, total REAL);
WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 41) INSERT INTO users SELECT i, 'user' || i || '@shopfront.test', 'x' FROM n"
git config --global user.name Ada; git config --global user.email ada@shopfront.test
git init -q --bare --template= ../../remote.git; git init -q -b main --template=; git config remote.origin.url ../../remote.git
git add -A; git commit -qm 'first'; git switch -qc auth-sessions; : > logs/dev.log`)
		},
		func() error { return s.protect(ctx) },
		func() error { _, err := s.say(ctx, s.home(), s.exe, "config", "verify.test", check); return err },
		func() error { return s.retake(ctx, "verify") },
	); err != nil {
		return err
	}
	if err := s.quiet(ctx); err != nil {
		return err
	}
	s.at("10:02")
	if err := compile(s.tree()); err != nil {
		return err
	}
	return s.save(ctx, "clean clone, built")
}

// quiet: checkpoints in which only a log grew.
func (s *stage) quiet(ctx context.Context) error {
	for i, clock := range []string{"09:44", "09:48", "09:51", "09:58"} {
		s.at(clock)
		if err := s.do(ctx, fmt.Sprintf("echo '%s GET / 200 %d ms' >> logs/dev.log", clock, 12+i)); err != nil {
			return err
		}
		if err := s.save(ctx, ""); err != nil {
			return err
		}
	}
	return nil
}

// save is one by hand, whose check is waited for.
func (s *stage) save(ctx context.Context, intent string) error {
	r, err := s.svc.Save(ctx, retake.SaveRequest{Workspace: s.ws, Intent: intent, Trigger: retake.TriggerManual})
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	return s.settled(ctx, func(t retake.Timeline) bool { return len(t.Findings[r.Checkpoint.ID].Answers) > 0 })
}

// refactor: a person edits, then an agent does as it was told.
func (s *stage) refactor(ctx context.Context) error {
	const text = "refactor auth to sessions"
	if err := put(s.tree(), "readme"); err != nil {
		return err
	}
	s.at("10:08")
	return steps(
		func() error { _, err := s.signal(ctx, retake.Signal{Kind: retake.SignalSessionStart}); return err },
		func() error { return s.prompt(ctx, text) },
		func() error { s.at("10:11"); return put(s.tree(), "refactor") },
		func() error { return s.rest(ctx, text, "Auth is split up; the session store comes next.") },
	)
}

// sessions: a risky call, a big change that breaks the check, and a person who mends it.
func (s *stage) sessions(ctx context.Context) error {
	const text = "install the session store"
	s.at("10:13")
	return steps(
		func() error { return s.prompt(ctx, text) },
		func() error { s.at("10:14"); return s.shell(ctx, "c1", "rm -rf dist node_modules") },
		func() error { return install(s.tree(), basePackages, sessionPackages) },
		func() error { return put(s.tree(), "install") },
		func() error {
			return s.do(ctx, `echo SESSION_KEY=Vb5mR2xT9qLc7wKz >> .env
sqlite3 data/dev.db 'CREATE TABLE sessions (sid TEXT PRIMARY KEY, expired INTEGER, sess TEXT)'`)
		},
		func() error {
			s.at("10:18")
			return s.rest(ctx, text, "The session store is installed and the old build removed.")
		},
		func() error { s.at("10:27"); return put(s.tree(), "works") },
		func() error { return s.save(ctx, "working version, app healthy") },
	)
}

// astray: words that do not say it all, a push, and a change too far.
func (s *stage) astray(ctx context.Context) error {
	const docs, redis = "update the login docs", "move sessions to redis"
	s.at("10:32")
	return steps(
		func() error { return s.prompt(ctx, docs) },
		func() error { return put(s.tree(), "docs") },
		func() error { return s.do(ctx, "sed -i /COOKIE_SECRET/d .env") },
		func() error { s.at("10:33"); return s.shell(ctx, "c2", "git push origin auth-sessions") },
		func() error { s.at("10:34"); return s.rest(ctx, docs, "The login docs are up to date.") },
		func() error { s.at("10:41"); return s.prompt(ctx, redis) },
		func() error { return install(s.tree(), basePackages, sessionPackages, redisPackages) },
		func() error { return put(s.tree(), "redis") },
		func() error { return os.RemoveAll(filepath.Join(s.tree(), "public", "avatars")) },
		func() error {
			s.at("10:46")
			return s.rest(ctx, redis, "Sessions are in redis now. I removed the old avatars.")
		},
	)
}

// back: to the checkpoint that worked.
func (s *stage) back(ctx context.Context) error {
	s.at("10:52")
	good, err := s.number(ctx, "working version, app healthy")
	if err != nil {
		return err
	}
	return steps(
		func() error { return put(s.tree(), "hand") },
		func() error {
			return s.retake(ctx, "restore", fmt.Sprint(good), "--yes", "--accept", "mass-delete,changed")
		},
		func() error { return s.settled(ctx, func(retake.Timeline) bool { return true }) },
	)
}

// forks: two ways to go on, one of which comes home.
func (s *stage) forks(ctx context.Context) error {
	s.at("11:05")
	code := filepath.Dir(s.tree())
	sweeps, memory := filepath.Join(code, "sweep-sessions"), filepath.Join(code, "memory-store")
	return steps(
		func() error { return s.retake(ctx, "fork", "latest", sweeps) },
		func() error { return s.retake(ctx, "fork", "latest", memory) },
		func() error { s.at("11:19"); return put(memory, "memory") },
		func() error { return s.inFork(ctx, memory, "sessions in memory") },
		func() error { s.at("11:22"); return put(sweeps, "sweep") },
		func() error { return s.inFork(ctx, sweeps, "sweep old sessions") },
		func() error { s.at("11:24"); return s.retake(ctx, "adopt", "sweep-sessions", "--yes") },
		func() error { return s.retake(ctx, "verify") },
	)
}

// inFork saves in a fork, and asks the check there.
func (s *stage) inFork(ctx context.Context, dir, intent string) error {
	if _, err := s.say(ctx, dir, s.exe, "save", intent); err != nil {
		return err
	}
	_, err := s.command(ctx, dir, s.exe, "verify").CombinedOutput()
	if code := exitCode(err); code != 0 && code != 7 {
		return fmt.Errorf("verify in fork: %w", err)
	}
	return nil
}

// month: the last turn, which is good.
func (s *stage) month(ctx context.Context) error {
	const text = "remember me for 30 days"
	s.at("11:28")
	return steps(
		func() error { return s.prompt(ctx, text) },
		func() error { s.at("11:31"); return put(s.tree(), "month") },
		func() error { return s.rest(ctx, text, "Remember me keeps a session for 30 days.") },
	)
}
