package httpapi

import (
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// requestExamples returns the examples of request bodies, by schema.
func requestExamples() map[string]any {
	return map[string]any{
		"InitBody":            wire.InitBody{Dir: "/home/me/shop"},
		"SaveBody":            wire.SaveBody{Intent: "before the upgrade"},
		"PlanBody":            wire.PlanBody{Course: retake.CourseRestore, Ref: "14", Paths: []string{"src"}},
		"RestoreBody":         wire.RestoreBody{Course: retake.CourseRestore, Ref: "14", Paths: []string{"src"}, Digest: "5363-2fa3", Accept: []string{retake.ObstacleChanged}},
		"ApplyBody":           wire.ApplyBody{Ref: "14", Accept: []string{retake.ObstacleChanged}},
		"ForkBody":            wire.ForkBody{Ref: "14", Dir: "/home/me/try"},
		"ApproveBody":         wire.ApproveBody{Asker: 4711},
		"ResumeBody":          wire.ResumeBody{Ref: "14"},
		"AttestBody":          wire.AttestBody{Name: "test", Command: "npm test", Started: exampleTime(10, 28), Took: 964 * time.Millisecond},
		"PinBody":             wire.PinBody{Ref: "14"},
		"ForgetBody":          wire.ForgetBody{Refs: []string{"12"}},
		"PurgeBody":           wire.PurgeBody{Paths: []string{".env"}},
		"BackupBody":          wire.BackupBody{URL: "git@example.com:me/backup.git"},
		"AttachBody":          wire.AttachBody{URL: "/mnt/backup", Key: "VBBE-3G4Z-…"},
		"RemoteBody":          wire.RemoteBody{Name: "disk", URL: "/mnt/backup"},
		"SyncBody":            wire.SyncBody{Name: "my-bucket"},
		"RemoteCheckBody":     wire.RemoteCheckBody{Name: "my-bucket", Share: 0.05},
		"ScrubBody":           wire.ScrubBody{Share: 0.1},
		"LimitsBody":          wire.LimitsBody{Workspaces: ptr(int64(500))},
		"KeyBody":             wire.KeyBody{Kind: retake.KeyAgent, Name: "ci"},
		"NamespaceBody":       wire.NamespaceBody{ID: "acme", Limits: &wire.LimitsBody{Workspaces: ptr(int64(500))}},
		"NamespaceKeyBody":    wire.NamespaceKeyBody{Kind: retake.KeyAgent, Name: "ci"},
		"HookBody":            wire.HookBody{URL: "https://example.com/hook", Types: []retake.EventType{retake.EventCreated}},
		"ChangeHookBody":      wire.ChangeHookBody{URL: "https://example.com/hook"},
		"ScheduleBody":        wire.ScheduleBody{Work: retake.WorkSave, Workspace: exampleWorkspace, Cron: "0 * * * *"},
		"DeletionBody":        wire.DeletionBody{Workspace: exampleWorkspace, Refs: []string{"12"}, Why: "contains a password"},
		"HoldBody":            wire.HoldBody{Ref: "14", Name: "case-7"},
		"SnapshotBody":        wire.SnapshotBody{Label: "before the upgrade"},
		"RestoreSnapshotBody": wire.RestoreSnapshotBody{Paths: []string{"src"}},
	}
}

func namespaceExample() retake.Namespace {
	return fillNamespace(retake.Namespace{ID: "acme", Created: exampleTime(8, 0), Default: exampleWorkspace, Limits: retake.DefaultLimits()})
}

func keyExample() retake.Key {
	return retake.Key{ID: "key_01a1e799-6c51-786c-8483-a7dfd0bf522a", Kind: retake.KeyAgent, Name: "ci", Tail: "w4h9", Workspaces: []string{}, Created: exampleTime(8, 30)}
}

func webhookExample() retake.Webhook {
	return fillWebhook(retake.Webhook{ID: "wh_01a1e799-8736-7c66-8754-2e8ad995775f", URL: "https://example.com/hook", Types: []retake.EventType{retake.EventCreated}, Scheme: retake.SchemeShared, Created: exampleTime(8, 30)})
}

func deliveryExample() retake.Delivery {
	return retake.Delivery{
		ID: "msg_41", Webhook: webhookExample().ID, Event: 41, Type: retake.EventCreated, State: retake.DeliveryDelivered, Created: exampleTime(10, 27),
		Tries: []retake.Try{{At: exampleTime(10, 27), Status: 204, Took: 80 * time.Millisecond}},
	}
}

func scheduleExample() retake.Schedule {
	return retake.Schedule{
		ID: "sch_01a1e799-8861-79ad-ba0f-3de80b4a4bc4", Work: retake.WorkSave, Workspace: exampleWorkspace, Cron: "0 * * * *", Created: exampleTime(8, 30), Next: exampleTime(11, 0),
		Last: &retake.Run{At: exampleTime(10, 0), Took: 30 * time.Millisecond, What: "checkpoint 13"},
	}
}

func deletionExample() retake.Deletion {
	return retake.Deletion{
		ID: "del_01a1e799-88a0-757f-9e5e-7779983c49ea", Workspace: exampleWorkspace, Checkpoints: []retake.CheckpointID{exampleBefore},
		Why: "contains a password", State: retake.DeletionWaiting, Asked: exampleTime(11, 0), Due: exampleTime(11, 0).AddDate(0, 0, 7),
	}
}

func operationExample() wire.Operation {
	return wire.Operation{
		ID: "op_01a1e799-90b2-7c1e-8d3f-2b6a1f0c9e55", Kind: "restore", Status: wire.OperationRunning,
		Progress: wire.Progress{Files: 120, Total: 171, Bytes: 481337}, Created: exampleTime(11, 0),
	}
}

// serverExamples returns the examples of what only a server has, by schema.
func serverExamples() map[string]any {
	cp := checkpointExample()
	return map[string]any{
		"Namespace": namespaceExample(),
		"Usage": retake.Usage{Namespace: "acme", Workspaces: 3, Checkpoints: 23, Bytes: 635826, Limits: retake.DefaultLimits(),
			Largest: []retake.WorkspaceUsage{{Workspace: exampleWorkspace, Name: "shop", Bytes: 1290413}},
			Keys:    []retake.KeyUsage{{Key: keyExample().ID, Name: keyExample().Name, Role: keyExample().Kind, Bytes: 1290413}}, NearlyFull: []retake.Fullness{}},
		"Key":          keyExample(),
		"NewNamespace": retake.NewNamespace{Namespace: namespaceExample(), Keys: []retake.NewKey{{Key: keyExample(), Secret: "rtk_agent_…w4h9"}}},
		"FileWritten":  retake.FileWritten{Size: 1204, Mode: 0o644, Created: true},
		"NewKey":       retake.NewKey{Key: keyExample(), Secret: "rtk_agent_…w4h9"},
		"Webhook":      webhookExample(),
		"NewWebhook":   retake.NewWebhook{Webhook: webhookExample(), Secret: "whsec_…"},
		"Delivery":     deliveryExample(),
		"Schedule":     scheduleExample(),
		"Cadence":      retake.Cadence{Cron: "0 * * * *", Words: "every hour", Next: []time.Time{exampleTime(11, 0), exampleTime(12, 0), exampleTime(13, 0)}},
		"AuditProof":   retake.AuditProof{Entries: 87, Anchors: 2, Outside: 1, Head: exampleDigest, Public: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="},
		"Deletion":     deletionExample(),
		"Operation":    operationExample(),
		"Snapshot":     snapshotOf(&cp),
		"Restored":     restored{Restored: 1, ID: cp.ID, Safety: exampleSafety, Now: "cp_01a1e799-a761-731e-ba03-3925c0aa7ea7"},
	}
}

// pageExamples returns the examples of lists, by schema.
func pageExamples() map[string]any {
	cp := checkpointExample()
	entry := retake.AuditEntry{
		Seq: 87, Time: exampleTime(11, 0), Actor: retake.Actor{Kind: retake.KeyOperator, Key: keyExample().ID, Name: "me"}, Verb: "hold", Subject: string(cp.ID),
		Prev: exampleDigest, Hash: "7662fced98af12387fbe4321f816f653fb8f7bfcc0dc8bcd4ac1e7ef50ebc78c",
	}
	return map[string]any{
		"PageAuditEntry": page[retake.AuditEntry]{Data: []retake.AuditEntry{entry}},
		"PageDeletion":   page[retake.Deletion]{Data: []retake.Deletion{deletionExample()}},
		"PageDelivery":   page[retake.Delivery]{Data: []retake.Delivery{deliveryExample()}},
		"PageEvent":      page[retake.Event]{Data: []retake.Event{eventExample()}},
		"PageOperation":  page[wire.Operation]{Data: []wire.Operation{operationExample()}},
		"PageNamespace":  page[retake.Namespace]{Data: []retake.Namespace{namespaceExample()}},
		"PageKey":        page[retake.Key]{Data: []retake.Key{keyExample()}},
		"PageSchedule":   page[retake.Schedule]{Data: []retake.Schedule{scheduleExample()}},
		"PageSnapshot":   page[snapshot]{Data: []snapshot{snapshotOf(&cp)}},
		"PageWebhook":    page[retake.Webhook]{Data: []retake.Webhook{webhookExample()}},
	}
}
