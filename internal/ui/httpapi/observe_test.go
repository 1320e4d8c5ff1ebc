package httpapi_test

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fakeService) Observe(_ context.Context, s retake.Signal) (retake.Reaction, error) {
	return answerWith[retake.Reaction](f, s)
}

func (f *fakeService) Effects(_ context.Context, ws retake.WorkspaceID, since string) ([]retake.Effect, error) {
	return answerWith[[]retake.Effect](f, ws, since)
}

func (f *fakeService) Approve(_ context.Context, q retake.ApproveRequest) (retake.Effect, error) {
	return answerWith[retake.Effect](f, q)
}

func (f *fakeService) Tasks(_ context.Context, ws retake.WorkspaceID) ([]retake.Task, error) {
	return answerWith[[]retake.Task](f, ws)
}

func (f *fakeService) SetTasks(_ context.Context, ws retake.WorkspaceID, tasks []retake.Task) (retake.Reaction, error) {
	return answerWith[retake.Reaction](f, ws, tasks)
}

func (f *fakeService) State(_ context.Context, ws retake.WorkspaceID, ref string) (retake.State, error) {
	return answerWith[retake.State](f, ws, ref)
}

func (f *fakeService) Conversation(_ context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, retake.Conversation, error) {
	c, err := answerWith[retake.Conversation](f, ws, ref)
	return f.openBody(), c, err
}

func (f *fakeService) Resume(_ context.Context, q retake.ResumeRequest) (retake.Resumption, error) {
	return answerWith[retake.Resumption](f, q)
}

var (
	yes    = true
	signal = retake.Signal{
		ID: "sg_0197a1de-0000-7000-8000-000000000003", Kind: retake.SignalCall, Time: time.Unix(5, 7).UTC(), Agent: "codex", Version: "1",
		Session: "s", Turn: "t", Subagent: "u", Dir: "/w/é “x”", Prompt: "say\n<b>", Machine: true, Message: "m", Transcript: "/t", Running: 2,
		Tasks: []retake.Task{{ID: "1", Title: "é", Status: retake.TaskActive}}, Reason: "startup", Failed: "no",
		Call: &retake.Call{ID: "c", Tool: "Bash", Kind: retake.CallShell, Command: "rm -rf x", Paths: []string{"a"}, Server: "s", Input: json.RawMessage(`{"a":1}`), Output: "o", Failed: true, ReadOnly: &yes, Destructive: &yes, OpenWorld: &yes},
	}
	resumeRequest = retake.ResumeRequest{Workspace: wsID, Ref: "14", Dir: "/" + oddName, Look: true}
	approval      = retake.ApproveRequest{Workspace: wsID, ID: "e7", Asker: 12}
	someTasks     = []retake.Task{{ID: "1", Title: "write it", Status: retake.TaskCompleted}}
)

// agentCalls are those of the agents' side.
var agentCalls = []apiCall{
	{"observe", []any{signal}, func(ctx context.Context, c *client.Client) (any, error) { return c.Observe(ctx, signal) }},
	{"effects", []any{wsID, oddName}, func(ctx context.Context, c *client.Client) (any, error) { return c.Effects(ctx, wsID, oddName) }},
	{"effects of all", []any{wsID, ""}, func(ctx context.Context, c *client.Client) (any, error) { return c.Effects(ctx, wsID, "") }},
	{"approve", []any{approval}, func(ctx context.Context, c *client.Client) (any, error) { return c.Approve(ctx, approval) }},
	{"tasks", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Tasks(ctx, wsID) }},
	{"set tasks", []any{wsID, someTasks}, func(ctx context.Context, c *client.Client) (any, error) { return c.SetTasks(ctx, wsID, someTasks) }},
	{"resume", []any{resumeRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.Resume(ctx, resumeRequest) }},
}
