package termtest

import (
	"fmt"

	"github.com/retake-dev/retake"
)

func entry(size int64) *retake.Entry { return &retake.Entry{Kind: retake.KindFile, Size: size} }

// Steps are paths that a plan touches.
func Steps(what retake.Difference, paths ...string) []retake.Step {
	var out []retake.Step
	for _, p := range paths {
		s := retake.Step{Path: p, What: what}
		if what != retake.Added {
			s.Now = entry(1200)
		}
		if what != retake.Deleted {
			s.Then = entry(3400)
		}
		out = append(out, s)
	}
	return out
}

// Plan is a plan of 1,181 paths: deletions in a large directory and small ones, a
// database, three obstacles, two effects.
func Plan() *retake.Plan {
	var packages []string
	for _, name := range []string{"ioredis", "connect-redis", "redis-parser", "lodash.defaults", "denque", "cluster-key-slot", "standard-as-callback", "redis-errors", "lodash.isarguments"} {
		packages = append(packages, NumberedPaths(124, "node_modules/"+name+"/f%03d.js")...)
	}
	packages = append(packages, "node_modules/.package-lock.json", "node_modules/.yarn-integrity")
	deletes := append(packages, NumberedPaths(8, "src/redis/r%d.ts")...)
	deletes = append(deletes, NumberedPaths(3, "test/redis/t%d.ts")...)
	deletes = append(deletes, "config/redis.json", "docker-compose.yml", ".nvmrc")
	bring := append(NumberedPaths(28, "public/avatars/%02d.png"), "docs/faq.md", "docs/img/login.png")
	change := append(NumberedPaths(8, "src/part%d.ts"), "src/app.ts", "src/auth.ts", "src/session.ts",
		".env", "package.json", "package-lock.json", "data/dev.db", "config/session.json", "docs/login.md", ".github/workflows/ci.yml", "web/login.html")
	target := retake.Checkpoint{
		ID: "cp_14", Number: 14, Time: At(10, 27), Trigger: retake.TriggerManual, Intent: "working version, app healthy",
		Changed: retake.Counts{Edited: 3}, Coverage: retake.Coverage{Grade: retake.Complete},
	}
	p := &retake.Plan{
		Digest: "3f9ac21e77", Course: retake.CourseRestore, Target: &target,
		Deletes: Steps(retake.Deleted, deletes...), Writes: append(Steps(retake.Added, bring...), Steps(retake.Edited, change...)...),
		Keeps: []retake.Keep{
			{Path: ".git/", Why: retake.KeepGit, Detail: "HEAD c81f02e, was 4d90ab1"},
			{Path: "logs/", Why: retake.KeepVolatile}, {Path: ".cache/", Why: retake.KeepVolatile},
		},
		Obstacles: []retake.Obstacle{
			{Class: retake.ObstacleMassDelete, Text: "1,132 deletions, the limit is 1,000"},
			{Class: retake.ObstacleDatabase, Text: "data/dev.db is open in node, pid 48213", Paths: []string{"data/dev.db"}},
			{Class: retake.ObstacleChanged, Text: "web/login.html: your edit of 10:51 is not saved yet", Paths: []string{"web/login.html"}},
		},
		Effects: []retake.Effect{
			{ID: "e1", Time: At(10, 36), Text: "git push origin auth-sessions, 3 commits"}, {ID: "e2", Time: At(10, 44), Text: "mail to qa@shopfront.test"},
		},
		Safety: retake.Safety{Number: 18},
	}
	return p
}

// NumberedPaths are n names of one form.
func NumberedPaths(n int, form string) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(form, i))
	}
	return out
}
