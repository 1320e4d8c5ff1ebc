package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// The examples are values of the types that the API sends, so that they cannot differ from the
// schemas. All of them are about one workspace, in which an agent fixes a test.
const (
	exampleWorkspace  = retake.WorkspaceID("ws_01a1e799-44cb-701c-a4ec-51ecf2b26ee7")
	exampleFork       = retake.WorkspaceID("ws_01a1e799-8c2b-7181-b9f9-e6ce17b158af")
	exampleCheckpoint = retake.CheckpointID("cp_01a1e799-82ae-7b4d-8ee4-ebc2f6fc2fa3")
	exampleBefore     = retake.CheckpointID("cp_01a1e799-6f77-7b83-9170-641a8293ce4d")
	exampleSafety     = retake.CheckpointID("cp_01a1e799-a469-75fe-be6e-0915cd3922ca")
	exampleSession    = "1e3dcdc9-27cd-4f08-a0be-d6ac22bb8bd6"
	exampleDigest     = "53632fa3c6f7697df9afdcba23952028fbfde7de8b64229cc934a4f81aca387f"
	exampleText       = "export const attempts = 5"
	exampleArchive    = "https://github.com/retake-dev/retake/raw/main/api/shop.tar"
	exampleEvents     = "event: progress\ndata: {\"files\":512,\"total\":0,\"bytes\":1048576}\n\nevent: result\ndata: {}"
	exampleFollow     = "id: 41\nevent: checkpoint.created\ndata: {\"seq\":41,\"id\":\"evt_41\",\"type\":\"checkpoint.created\"}"
)

// exampleTime returns a time on the day of the examples.
func exampleTime(hour, minute int) time.Time {
	return time.Date(2026, 11, 3, hour, minute, 0, 0, time.UTC)
}

// addExamples adds an example to each body: to JSON the one of its schema. Every schema must have one.
func addExamples(o *huma.OpenAPI) error {
	all := map[string]any{}
	for _, some := range []map[string]any{
		historyExamples(), changeExamples(), agentExamples(), restoreExamples(), storageExamples(), requestExamples(), serverExamples(), pageExamples(),
	} {
		maps.Copy(all, some)
	}
	o.Components.Examples = map[string]*huma.Example{}
	for _, item := range o.Paths {
		for _, op := range operationsByMethod(item) {
			for _, content := range bodyContents(op) {
				if err := addExample(o, content, all); err != nil {
					return fmt.Errorf("%s: %w", op.OperationID, err)
				}
			}
		}
	}
	return nil
}

// bodyContents returns the request body and the successful response bodies of an operation.
func bodyContents(op *huma.Operation) []map[string]*huma.MediaType {
	var out []map[string]*huma.MediaType
	if op.RequestBody != nil {
		out = append(out, op.RequestBody.Content)
	}
	for _, r := range op.Responses {
		if r.Ref == "" {
			out = append(out, r.Content)
		}
	}
	return out
}

// addExample adds an example to one body.
func addExample(o *huma.OpenAPI, content map[string]*huma.MediaType, all map[string]any) error {
	if m := content[eventType]; m != nil {
		m.Example = exampleEvents
		if m.Schema.Description == eventStreamText {
			m.Example = exampleFollow
		}
	}
	if m := content[bytesType]; m != nil {
		m.Example = exampleText
	}
	if m := content[tarType]; m != nil { // its bytes are no text
		m.Examples = map[string]*huma.Example{"archive": {Summary: "What `tar -C shop -cf - src` writes.", ExternalValue: exampleArchive}}
	}
	m := content[jsonType]
	if m == nil {
		return nil
	}
	name := m.Schema.Ref[strings.LastIndex(m.Schema.Ref, "/")+1:]
	value, ok := all[name]
	if !ok {
		return fmt.Errorf("there is no example of %s", name)
	}
	o.Components.Examples[name] = &huma.Example{Value: value}
	m.Examples = map[string]*huma.Example{name: {Ref: "#/components/examples/" + name}}
	return nil
}

func workspaceExample() retake.Workspace {
	return retake.Workspace{ID: exampleWorkspace, Name: "shop", Root: "/home/me/shop", Dev: 65024, Ino: 11158705, Created: exampleTime(9, 0)}
}

func stateExample() retake.WorkspaceState {
	return retake.WorkspaceState{Workspace: workspaceExample(), Latest: ptr(checkpointExample()), Count: 14}
}

func forkExample() retake.Workspace {
	return retake.Workspace{
		ID: exampleFork, Name: "try", Root: "/home/me/try", Dev: 65024, Ino: 11158054, Created: exampleTime(10, 40),
		Origin: &retake.Origin{Workspace: exampleWorkspace, Checkpoint: exampleCheckpoint, Number: 14},
	}
}

// checkpointExample is number 14, after a turn.
func checkpointExample() retake.Checkpoint {
	cp := bareExample(exampleCheckpoint, 14, retake.TriggerTurn, "fix the failing login test")
	cp.Turn = &retake.Turn{Agent: "claude-code", Session: exampleSession, Prompt: cp.Intent, Calls: 4, Began: exampleTime(10, 25), Paths: []string{"src/login.ts"}}
	return cp
}

// timelineExample is the row of number 14.
func timelineExample(ws retake.Workspace, cp retake.Checkpoint, f retake.Finding) retake.TimelineView {
	return retake.TimelineView{
		Workspace: ws, Lanes: 1, Shown: 1, Total: 14, Newest: 14, Good: &cp, Tree: true, Checked: true, Rows: []retake.TimelineRow{{
			Kind: retake.RowCheckpoint, Key: string(cp.ID), Place: retake.RowPlace{Below: retake.Strokes{retake.StrokeLine}}, Number: 14, Base: 13, Time: cp.Time,
			Who: "claude", Title: "“" + cp.Intent + "”", Written: true, Newest: true, Good: true, Files: 1,
			Lead: "login.ts", Answers: f.Answers, Checkpoint: &cp,
		}},
	}
}

// beforeExample is number 13, the parent of 14.
func beforeExample() retake.Checkpoint {
	cp := bareExample(exampleBefore, 13, retake.TriggerManual, "before the upgrade")
	cp.Time, cp.Parent = exampleTime(10, 20), "cp_01a1e799-6c51-786c-8483-a7dfd0bf522a"
	return cp
}

func bareExample(id retake.CheckpointID, number int64, trigger retake.Trigger, intent string) retake.Checkpoint {
	return retake.Checkpoint{
		ID: id, Workspace: exampleWorkspace, Number: number, Parent: exampleBefore, Time: exampleTime(10, 27), Trigger: trigger, Intent: intent,
		Tree: "k2590de818e64c08d671c448dda1ffe65", Content: "5356b641b5ad2c51f9dac0b0b255cb7d0773647754823a89113c3031672ad5c2",
		Coverage: retake.Coverage{Grade: retake.Complete}, Files: 171, Dirs: 48, Bytes: 77033, NewBytes: 250, Changed: retake.Counts{Edited: 1},
	}
}

// safetyExample is number 17, from before a restore.
func safetyExample() retake.Checkpoint {
	cp := bareExample(exampleSafety, 17, retake.TriggerSafety, "")
	cp.Time, cp.Parent = exampleTime(11, 4), "cp_01a1e799-a38e-75c9-a136-47c8eb61ca43"
	return cp
}

func entryExample(size int64) *retake.Entry {
	return &retake.Entry{Name: "login.ts", Kind: retake.KindFile, Mode: 0o644, UID: 1000, GID: 1000, Size: size, ModTime: exampleTime(10, 26).UnixNano(), Object: "f7a27a463e63f9a420e41a9be8b479c2"}
}

func ptr[T any](v T) *T { return &v }

// historyExamples returns the examples of workspaces and checkpoints, by schema.
func historyExamples() map[string]any {
	cp, ws := checkpointExample(), workspaceExample()
	finding := retake.Finding{Answers: []retake.Answer{{Name: "test", Verdict: retake.Passed}}, Good: true, Changed: 1}
	return map[string]any{
		"About":         retake.About{Version: "1.0.0", API: retake.APIVersion, Stamp: exampleTime(8, 0).UnixNano(), PID: 2817, Started: exampleTime(9, 0), Home: "/home/me/.local/share/retake"},
		"Workspace":     ws,
		"WorkspaceList": wire.WorkspaceList{Workspaces: []retake.WorkspaceState{stateExample()}},
		"Checkpoint":    cp,
		"SaveResult":    retake.SaveResult{Workspace: ws, Checkpoint: cp, Created: true, Recorded: true, Warnings: []retake.Warning{}},
		"Timeline": retake.Timeline{
			Workspace: ws, Checkpoints: []retake.Checkpoint{cp}, Pins: []retake.Pin{pinExample()}, Total: 14,
			Findings: map[retake.CheckpointID]retake.Finding{cp.ID: finding}, Good: &cp,
		},
		"TimelineView":  timelineExample(ws, cp, finding),
		"Pin":           pinExample(),
		"TombstoneList": wire.TombstoneList{Tombstones: []retake.Tombstone{{Number: 12, ID: exampleBefore, Time: exampleTime(9, 30), At: exampleTime(11, 0)}}},
		"EntryList":     wire.EntryList{Entries: []retake.Entry{*entryExample(131)}},
		"Comparison": retake.Comparison{From: ptr(beforeExample()), To: &cp, Changes: []retake.Change{
			{Path: "src/login.ts", What: retake.Edited, Before: entryExample(101), After: entryExample(131)},
		}},
		"Status": retake.Status{
			Workspace: ws, Latest: &cp, Count: 14, Now: retake.Counts{Edited: 1}, Protection: "same-user", Store: spaceExample(),
			Tracking: retake.Tracking{Mode: retake.TrackingFanotify, Events: 172}, Good: &cp, Answers: finding.Answers,
		},
		"Estimate": retake.Estimate{Root: "/home/me/shop", Files: 171, Dirs: 48, Bytes: 77033, Free: 47e9, Floor: 10e9, Danger: []retake.Danger{}, Gaps: []retake.Gap{}, Heaviest: "node_modules", Share: 0.64},
	}
}

func pinExample() retake.Pin {
	return retake.Pin{Name: "before-upgrade", Checkpoint: exampleCheckpoint, Number: 14, Time: exampleTime(11, 0)}
}

func spaceExample() retake.StoreState {
	return retake.StoreState{Bytes: 635826, Free: 47e9, Floor: 10e9}
}

func eventExample() retake.Event {
	cp := checkpointExample()
	data := cp.EventData(retake.EventCreated)
	data.Namespace = "acme"
	text, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Errorf("encode an example: %w", err)) // our own types always encode
	}
	return retake.Event{Seq: 41, ID: "evt_41", Type: retake.EventCreated, Time: cp.Time, Data: text}
}
