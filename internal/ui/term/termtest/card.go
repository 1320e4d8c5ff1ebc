package termtest

import (
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// SampleStory is what really changed in checkpoint 13: a build deleted, packages, a key, a table,
// seven files of source, and a port that nobody listens on any more.
func SampleStory() retake.Story {
	from := retake.Checkpoint{Number: 12, Time: At(10, 14)}
	st := retake.Story{
		From: &from, Counts: retake.StoryCounts{Added: 784, Deleted: 412, Edited: 8, Plus: 104, Minus: 50},
		Groups: []retake.Group{
			{Theme: retake.ThemeDeleted, Files: 412, Items: []retake.Item{{Path: "dist/", What: retake.Deleted, Files: 412, Bytes: -6_100_000, Note: "build output"}}},
			{Theme: retake.ThemePackages, Files: 783, Items: []retake.Item{{Path: "node_modules/", What: retake.Added, Files: 783, Bytes: 9_400_000}}},
			{Theme: retake.ThemeSettings, Files: 1, Items: []retake.Item{{Path: ".env", What: retake.Edited, Files: 1, Plus: 1}}},
			{Theme: retake.ThemeDatabase, Files: 1, Items: []retake.Item{{Path: "data/dev.db", What: retake.Edited, Files: 1}}},
			{Theme: retake.ThemeSource, Files: 7, Items: []retake.Item{
				Edited("src/session.ts", 64, 0, retake.Added), Edited("src/auth.ts", 18, 31, retake.Edited), Edited("src/routes/login.ts", 9, 14, retake.Edited),
				Edited("src/app.ts", 6, 1, retake.Edited), Edited("test/auth.test.ts", 4, 4, retake.Edited), Edited("package.json", 3, 0, retake.Edited),
				{Path: "package-lock.json", What: retake.Edited, Files: 1, Plus: 214, Note: "lock file"},
			}},
		},
	}
	fact := func(f retake.Fact) { st.Facts = append(st.Facts, f) }
	for i, name := range []string{"express-session 1.18.1", "connect-sqlite3 0.9.15", "sqlite3 5.1.7", "a 1", "b 1", "c 1", "d 1", "e 1", "f 1", "g 1", "h 1", "i 1"} {
		n, v, _ := strings.Cut(name, " ")
		fact(retake.Fact{Kind: retake.FactPackage, What: retake.Added, Group: "npm", Name: n, After: v, Path: "package-lock.json", Direct: i < 3})
	}
	fact(retake.Fact{Kind: retake.FactEnv, What: retake.Added, Name: "SESSION_KEY", Path: ".env"})
	fact(retake.Fact{Kind: retake.FactSecret, What: retake.Added, Name: "generic api key", Path: ".env"})
	fact(retake.Fact{Kind: retake.FactTable, What: retake.Added, Group: "data/dev.db", Name: "sessions", After: "sid, data", Path: "data/dev.db"})
	fact(retake.Fact{Kind: retake.FactRows, What: retake.Added, Group: "data/dev.db", Name: "sessions", After: "0", Path: "data/dev.db"})
	fact(retake.Fact{Kind: retake.FactPort, What: retake.Deleted, Name: "tcp 3000", Before: "node", Path: "/proc/net/tcp"})
	return st
}

// Edited is a file of a story with its lines.
func Edited(path string, plus, minus int64, what retake.Difference) retake.Item {
	return retake.Item{Path: path, What: what, Files: 1, Plus: plus, Minus: minus}
}

// Run is one run of a verification on the live files.
func Run(number int64, name string, v retake.Verdict) retake.Verification {
	return retake.Verification{Number: number, Content: retake.ContentID("ct_" + term.CheckpointNumber(number)), Name: name, Command: "npm " + name, By: "retake", Where: retake.OnLive, Verdict: v, Started: At(10, 18), Took: 6 * time.Second}
}

// SampleCard is the card of checkpoint 13.
func SampleCard() term.Card {
	c := term.Card{Story: SampleStory()}
	c.Checkpoint = retake.Checkpoint{
		ID: "cp_13", Workspace: "ws_shop", Number: 13, Parent: "cp_12", Time: At(10, 18), Trigger: retake.TriggerTask, Intent: "task 2 of 5 completed: install the session store",
		Content: "ct_13", Coverage: retake.Coverage{Grade: retake.Complete}, Files: 38796, Bytes: 402_000_000, NewBytes: 3_100_000,
		Turn: &retake.Turn{
			Agent: "claude-code", Version: "2.1.240", Session: "5b1e77", ID: "t1", Prompt: "refactor auth to sessions\nand keep the tests green", Calls: 9,
			Tasks: &retake.TaskCount{Done: 2, Total: 5, Next: "replace the token middleware"}, Words: "Store installed and wired in. The routes still read the old token, that is task 3.",
		},
	}
	failed := Run(13, "test", retake.Failed)
	failed.Why, failed.Exit, failed.Took = "14 of 212 failed", 1, 38*time.Second
	failed.Output = strings.Repeat("  ✔ passes\n", 30) + "FAIL  test/auth.test.ts\n  ✘ keeps a user signed in\x1b[2J across requests\n\texpected status 200, got 401\nTests  14 failed, 198 passed, 212 total\n"
	c.Verifications = []retake.Verification{failed, Run(13, "lint", retake.Passed)}
	c.Others = []retake.Verification{Run(22, "test", retake.Passed), Run(14, "test", retake.Passed), failed, Run(11, "test", retake.Passed), Run(10, "test", retake.Failed), Run(14, "lint", retake.Passed)}
	c.State = &retake.State{
		Calls: []retake.Call{{Tool: "Bash", Command: "rm -rf dist node_modules"}, {Tool: "Bash", Command: "npm install express-session connect-sqlite3"}, {Tool: "Bash", Command: "npm test", Failed: true}},
		Tasks: []retake.Task{{Title: "map token readers", Status: retake.TaskCompleted}, {Title: "install the session store", Status: retake.TaskCompleted}, {Title: "replace the token middleware", Status: retake.TaskActive}, {Title: "migrate", Status: retake.TaskPending}, {Title: "docs", Status: retake.TaskPending}},
	}
	return c
}
