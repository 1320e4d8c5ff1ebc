package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fixed) Observe(_ context.Context, s retake.Signal) (retake.Reaction, error) {
	return give[retake.Reaction](f, s)
}

func (f *fixed) Effects(_ context.Context, ws retake.WorkspaceID, since string) ([]retake.Effect, error) {
	return give[[]retake.Effect](f, ws, since)
}

func (f *fixed) Tasks(_ context.Context, ws retake.WorkspaceID) ([]retake.Task, error) {
	return give[[]retake.Task](f, ws)
}

func (f *fixed) SetTasks(_ context.Context, ws retake.WorkspaceID, tasks []retake.Task) (retake.Reaction, error) {
	return give[retake.Reaction](f, ws, tasks)
}

func (f *fixed) State(_ context.Context, ws retake.WorkspaceID, ref string) (retake.State, error) {
	return give[retake.State](f, ws, ref)
}

func (f *fixed) Conversation(_ context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, retake.Conversation, error) {
	c, err := give[retake.Conversation](f, ws, ref)
	return f.bytes(), c, err
}

func (f *fixed) Resume(_ context.Context, q retake.ResumeRequest) (retake.Resumption, error) {
	return give[retake.Resumption](f, q)
}

var (
	yes    = true
	signal = retake.Signal{
		ID: "sg_0197a1de-0000-7000-8000-000000000003", Kind: retake.SignalCall, Time: time.Unix(5, 7).UTC(), Agent: "codex", Version: "1",
		Session: "s", Turn: "t", Subagent: "u", Dir: "/w/é “x”", Prompt: "say\n<b>", Machine: true, Message: "m", Transcript: "/t", Running: 2,
		Tasks: []retake.Task{{ID: "1", Title: "é", Status: retake.TaskActive}}, Reason: "startup", Failed: "no",
		Call: &retake.Call{ID: "c", Tool: "Bash", Kind: retake.CallShell, Command: "rm -rf x", Paths: []string{"a"}, Server: "s", Input: json.RawMessage(`{"a":1}`), Output: "o", Failed: true, ReadOnly: &yes, Destructive: &yes, OpenWorld: &yes},
	}
	resumeRequest = retake.ResumeRequest{Workspace: wsID, Ref: "14", Dir: "/" + odd, Look: true}
	someTasks     = []retake.Task{{ID: "1", Title: "write it", Status: retake.TaskCompleted}}
)

// agentCalls are those of the agents' side.
var agentCalls = []asking{
	{"observe", []any{signal}, func(ctx context.Context, c *client.Client) (any, error) { return c.Observe(ctx, signal) }},
	{"effects", []any{wsID, odd}, func(ctx context.Context, c *client.Client) (any, error) { return c.Effects(ctx, wsID, odd) }},
	{"effects of all", []any{wsID, ""}, func(ctx context.Context, c *client.Client) (any, error) { return c.Effects(ctx, wsID, "") }},
	{"tasks", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Tasks(ctx, wsID) }},
	{"set tasks", []any{wsID, someTasks}, func(ctx context.Context, c *client.Client) (any, error) { return c.SetTasks(ctx, wsID, someTasks) }},
	{"resume", []any{resumeRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.Resume(ctx, resumeRequest) }},
}
