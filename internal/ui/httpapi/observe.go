package httpapi

import (
	"context"
	"io"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/transcript"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type signalInput struct{ Body retake.Signal }

type sinceQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Since     string             `query:"since" doc:"Only external actions after this checkpoint, as a ref. Absent means all."`
	PageParams
}

type approveInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Effect    string             `path:"effect" maxLength:"64" doc:"The external action's ID, such as e7."`
	Body      *wire.ApproveBody
}

type tasksInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	IfMatch
	Body wire.TaskList
}

type resumeInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      *wire.ResumeBody
}

// registerAgents registers the routes for agents: signals, tasks and conversations.
func (a *api) registerAgents() {
	handleJSON(a, newOperation(http.MethodPost, "/v1/signals", "observe", "Report an agent event"), a.reportSignal)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/effects", "effects", "List external actions"), func(ctx context.Context, in *sinceQuery) (wire.EffectList, error) {
		all, more, err := fetchPage(a, "effects "+string(in.Workspace)+" "+in.Since, in.PageParams, func(int) ([]retake.Effect, error) { return a.Effects(ctx, in.Workspace, in.Since) }, func(e *retake.Effect) string { return string(e.ID) })
		return wire.EffectList{Effects: all, More: more}, err
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/effects/{effect}/approve", "approve", "Approve a stopped call"), func(ctx context.Context, in *approveInput) (retake.Effect, error) {
		req := retake.ApproveRequest{Workspace: in.Workspace, ID: in.Effect}
		if in.Body != nil {
			req.Asker = in.Body.Asker
		}
		return a.Approve(ctx, req)
	})
	handleTagged(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/tasks", "tasks", "Get the to-do list"), tasksVersion, func(ctx context.Context, in *workspacePath) (wire.TaskList, error) {
		all, err := a.Tasks(ctx, in.Workspace)
		return wire.TaskList{Tasks: nonNil(all)}, err
	})
	handleIfMatched(a, newOperation(http.MethodPut, "/v1/workspaces/{ws}/tasks", "set-tasks", "Replace the to-do list"), func(ctx context.Context, in *tasksInput) (retake.Reaction, error) {
		return a.SetTasks(ctx, in.Workspace, in.Body.Tasks)
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/state", "state", "Get the agent's state at a checkpoint"), a.agentState)
	handleBytes(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/conversation", "conversation", "Download a conversation"), bytesType, func(ctx context.Context, in *refQuery) (io.ReadCloser, error) {
		src, _, err := a.Conversation(ctx, in.Workspace, in.Ref)
		return src, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/spoken", "spoken", "Read a conversation"), a.readConversation)
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/resume", "resume", "Resume a conversation"), a.resumeConversation)
}

func tasksVersion(l *wire.TaskList) string { return retake.TasksVersion(l.Tasks) }

// reportSignal handles a signal of an agent's hook. The service finishes it even if the hook
// does not wait.
func (a *api) reportSignal(ctx context.Context, in *signalInput) (retake.Reaction, error) {
	return a.Observe(ctx, in.Body)
}

func (a *api) agentState(ctx context.Context, in *refQuery) (retake.State, error) {
	s, err := a.State(ctx, in.Workspace, in.Ref)
	s.Tasks, s.Calls = nonNil(s.Tasks), nonNil(s.Calls)
	if s.Conversation != nil {
		s.Conversation.Segments = nonNil(s.Conversation.Segments)
	}
	return s, err
}

// readConversation returns the readable lines of a conversation, with likely secrets masked.
func (a *api) readConversation(ctx context.Context, in *refQuery) (retake.Spoken, error) {
	src, c, err := a.Conversation(ctx, in.Workspace, in.Ref)
	if err != nil {
		return retake.Spoken{}, err
	}
	defer src.Close() //nolint:errcheck // only read
	c.Segments = nonNil(c.Segments)
	lines, err := transcript.ReadMasked(c.Agent, src)
	return retake.Spoken{Conversation: c, Lines: nonNil(lines)}, err
}

func (a *api) resumeConversation(ctx context.Context, in *resumeInput) (retake.Resumption, error) {
	var b wire.ResumeBody
	if in.Body != nil {
		b = *in.Body
	}
	r, err := a.Resume(ctx, retake.ResumeRequest{Workspace: in.Workspace, Ref: b.Ref, Dir: textOrRaw(b.Dir, b.DirRaw), Look: b.Look})
	r.Command, r.Tasks, r.Effects = nonNil(r.Command), nonNil(r.Tasks), nonNil(r.Effects)
	return r, err
}
