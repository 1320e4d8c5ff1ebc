package httpapi

import (
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/view"
)

// changeExamples returns the examples of changes and checks, by schema.
func changeExamples() map[string]any {
	cp := checkpointExample()
	counts := retake.StoryCounts{Edited: 1, Plus: 3, Minus: 1}
	gist := retake.Gist{V: 4, Lead: "login.ts", Points: []retake.Point{{Theme: retake.ThemeSource, Text: "src/login.ts", Plus: 3, Minus: 1}}, Counts: counts}
	facts := []retake.Fact{{Kind: retake.FactPackage, What: retake.Edited, Group: "npm", Name: "express", Before: "4.18.2", After: "4.19.0", Path: "package.json", Direct: true}}
	check := retake.Verification{
		ID: "vf_01a1e799-afb6-7cb5-b705-f8222226c301", Workspace: exampleWorkspace, Checkpoint: cp.ID, Number: cp.Number, Content: cp.Content,
		Name: "test", Command: "npm test", By: "retake", Where: retake.OnLive, Verdict: retake.Passed, Started: exampleTime(10, 28), Took: 964 * time.Millisecond,
	}
	return map[string]any{
		"Story": retake.Story{From: ptr(beforeExample()), To: &cp, Counts: counts, Facts: facts, Unread: []retake.Unread{}, Flags: []retake.Flag{}, Gist: gist, Groups: []retake.Group{{
			Theme: retake.ThemeSource, Files: 1, Bytes: 30, Plus: 3, Minus: 1,
			Items: []retake.Item{{Path: "src/login.ts", What: retake.Edited, Files: 1, Bytes: 30, Plus: 3, Minus: 1}},
		}}},
		"RowsDiff": retake.RowsDiff{From: ptr(beforeExample()), To: &cp, Same: 1, Tables: []retake.TableRows{
			{Name: "orders", What: retake.Edited, Columns: []retake.TableColumn{}, Added: 2, Equal: 240, Rows: []retake.RowChange{}},
		}},
		"HitList":          wire.HitList{Hits: []retake.Hit{{Checkpoint: cp, Finding: retake.Finding{Gist: &gist, Changed: 1}, Where: "prompt", Text: cp.Intent}}},
		"Blame":            retake.Blame{Checkpoint: cp, Path: "src/login.ts", Lines: []retake.BlameLine{{Number: 14, Text: "export function login() {"}}, Checkpoints: []retake.Checkpoint{cp}},
		"MentionList":      wire.MentionList{Mentions: []retake.Mention{{Checkpoint: cp, Facts: facts}}},
		"Verification":     check,
		"VerificationList": wire.VerificationList{Verifications: []retake.Verification{check}},
		"StandingList":     wire.StandingList{Standing: []retake.Standing{{Name: "test", Command: "npm test"}}},
	}
}

// agentExamples returns the examples of what agents report, by schema.
func agentExamples() map[string]any {
	cp := checkpointExample()
	tasks := []retake.Task{{ID: "1", Title: "fix the failing login test", Status: retake.TaskCompleted}, {ID: "2", Title: "update the docs", Status: retake.TaskPending}}
	effects := []retake.Effect{{
		ID: "e1", Time: exampleTime(10, 26), Text: "git push origin main", Kind: "push", Target: "origin main", Agent: "claude-code", Session: exampleSession, Outcome: retake.OutcomeDone,
	}}
	talk := retake.Conversation{
		Agent: "claude-code", Session: exampleSession, Path: "/home/me/.claude/projects/shop/" + exampleSession + ".jsonl",
		Bytes: 3630, Segments: []retake.Segment{{Object: "4684bc374cb028294d14531c9fbb3ff3", Bytes: 3630}}, Complete: true,
	}
	return map[string]any{
		"Signal":     retake.Signal{ID: "sg_01a1e799-8808-76cb-80c6-570c6775cc0a", Kind: retake.SignalPrompt, Time: exampleTime(10, 25), Agent: "claude-code", Session: exampleSession, Dir: "/home/me/shop", Prompt: cp.Intent},
		"Reaction":   retake.Reaction{Workspace: exampleWorkspace, Checkpoint: &cp},
		"Effect":     effects[0],
		"EffectList": wire.EffectList{Effects: effects},
		"TaskList":   wire.TaskList{Tasks: tasks},
		"State":      retake.State{Checkpoint: cp, Tasks: tasks, Calls: []retake.Call{{ID: "call_1", Tool: "Bash", Kind: retake.CallShell, Command: "npm test"}}, Conversation: &talk},
		"Spoken": retake.Spoken{Conversation: talk, Lines: []retake.SpokenLine{
			{Who: "you", Text: cp.Intent}, {Who: "agent", Tool: "Bash", Text: "npm test"}, {Who: "agent", Text: "The login test passes now."},
		}},
		"Resumption": retake.Resumption{
			Checkpoint: cp, Agent: "claude-code", Session: "39c8c8ad-90a1-4e80-abf7-0e216b018db7", Dir: "/home/me/shop",
			Command: []string{"claude", "--resume", "39c8c8ad-90a1-4e80-abf7-0e216b018db7"}, Exact: true, Tasks: tasks, Next: &tasks[1], Effects: effects,
			Note: "This conversation continues at checkpoint 14.",
		},
	}
}

// restoreExamples returns the examples of restores and forks, by schema.
func restoreExamples() map[string]any {
	target, now := checkpointExample(), bareExample("cp_01a1e799-a761-731e-ba03-3925c0aa7ea7", 18, retake.TriggerReturn, "")
	now.Time, now.Parent = exampleTime(11, 4), exampleSafety
	forked := bareExample("cp_01a1e799-8c50-7998-be9a-7ba7ac8ef9a7", 1, retake.TriggerFork, "")
	forked.Workspace, forked.Parent, forked.Time = exampleFork, target.ID, exampleTime(10, 40)
	now.Return = &retake.Return{Course: retake.CourseRestore, Target: target.ID, Before: exampleSafety, Written: 1}
	plan := fillPlan(retake.Plan{
		Digest: exampleDigest, Course: retake.CourseRestore, Workspace: exampleWorkspace, Target: &target, Files: 171, Bytes: 131,
		Writes:    []retake.Step{{Path: "src/login.ts", What: retake.Edited, Now: entryExample(101), Then: entryExample(131)}},
		Obstacles: []retake.Obstacle{{Class: retake.ObstacleChanged, Text: "src/login.ts has unsaved edits that would be overwritten", Paths: []string{"src/login.ts"}}},
		Safety:    retake.Safety{Number: 17},
	})
	return map[string]any{
		"Plan":          plan,
		"ViewedPlan":    retake.ViewedPlan{Plan: plan, View: view.OfPlan(&plan)},
		"RestoreResult": retake.RestoreResult{Checkpoint: now, Safety: safetyExample(), Target: target, Written: 1, Failed: []retake.Failure{}, Warnings: []retake.Warning{}, ReadBack: true},
		"ForkResult":    retake.ForkResult{Workspace: forkExample(), Checkpoint: forked, Origin: target, Cloned: 171, Warnings: []retake.Warning{}},
		"ForkList":      wire.ForkList{Forks: []retake.WorkspaceState{{Workspace: forkExample(), Latest: &forked, Count: 1}}},
	}
}

// storageExamples returns the examples of the store and its maintenance, by schema.
func storageExamples() map[string]any {
	days, brought := make([]int64, 30), make([]int64, 30)
	days[29], brought[29] = 14, 270042
	sweep := retake.SweepReport{Before: 635826, After: 494514, Peak: 20480, Took: 120 * time.Millisecond}
	purge := retake.PurgePlan{
		Workspaces:  []retake.PurgeScope{{Workspace: exampleWorkspace, Name: "shop", Checkpoints: 14}},
		Checkpoints: 14, Versions: 3, Bytes: 319, Gaps: []retake.Gap{{Path: ".env", Reason: retake.ReasonPurged}}, Live: []string{"/home/me/shop/.env"}, Beyond: []string{},
	}
	return map[string]any{
		"StoreState": spaceExample(),
		"SpacePlan": retake.SpacePlan{
			Store: spaceExample(), Budget: 20e9, Drops: []retake.Drop{}, Frees: 141312, Garbage: 141312,
			Workspaces: []retake.WorkspaceSpace{{Workspace: exampleWorkspace, Days: days, Brought: brought, Within: 30 * 24 * time.Hour, Kept: []retake.KeptFor{{Why: "newest", Count: 1, Always: true}}}},
		},
		"SweepReport":   sweep,
		"ThinReport":    retake.ThinReport{Forgotten: 3, Sweep: sweep},
		"ScrubReport":   retake.ScrubReport{Checkpoints: 23, Objects: 374, Bytes: 635826, Failed: []string{}},
		"RebuildReport": retake.RebuildReport{Workspaces: 3, Checkpoints: 23, Pins: 2},
		"Proof":         retake.Proof{Checkpoint: checkpointExample(), Ours: checkpointExample().Tree, Stock: checkpointExample().Tree, By: "kopia v0.23.1, its own uploader", Special: []string{}, Equal: true},
		"PurgePlan":     purge,
		"PurgeReport":   retake.PurgeReport{Plan: purge, Searched: 412, Bytes: 635826, Left: []string{}, Sweep: sweep},
		"Remote":        remoteExample(),
		"RemoteList":    wire.RemoteList{Remotes: []retake.Remote{remoteExample()}},
		"Receipt": retake.Receipt{
			Workspace: retake.Workspace{ID: exampleWorkspace, Name: "shop", Root: "/home/me/shop", Created: exampleTime(9, 0)}, URL: "s3://my-bucket/retake", Machine: "build-1", Newest: checkpointExample(),
			Checkpoints: 14, Files: 50, Bytes: 635826, Missing: []retake.NotArrived{{What: ".env", Why: "excluded on purpose", Want: true}},
		},
		"RemoteCheck": retake.RemoteCheck{At: exampleTime(10, 30), Checkpoints: 14, Objects: 374, Bytes: 635826, Failed: []string{}},
		"Backup": retake.Backup{
			Workspace: exampleWorkspace, URL: "git@example.com:me/backup.git", Branch: "retake/shop-f2b26ee7", Set: true, Created: exampleTime(9, 0), Left: []retake.LeftOut{},
			Pushed: &retake.BackupPoint{Number: 14, Checkpoint: exampleCheckpoint, Commit: "4f1c2d7e9b0a63c85d21f70e8b94a6c3d5e2f108", At: exampleTime(10, 28)},
		},
	}
}

func remoteExample() retake.Remote {
	return retake.Remote{
		Name: "my-bucket", URL: "s3://my-bucket/retake", Created: exampleTime(9, 0), Uploaded: ptr(exampleTime(10, 28)), Sent: 635826, Protection: retake.RemoteProtection{Refuses: true},
		Workspaces: []retake.RemoteWorkspace{{Workspace: exampleWorkspace, Name: "shop", Newest: 14, Uploaded: 14}},
	}
}
