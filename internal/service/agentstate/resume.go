package agentstate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/agents/transcript"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Resume forks the conversation as it was at a checkpoint. It writes new files next to
// those of the agent and never changes an existing one.
func (s *Agents) Resume(ctx context.Context, req retake.ResumeRequest) (retake.Resumption, error) {
	ws, err := s.workspaces.LoadWorkspace(ctx, req.Workspace)
	if err != nil {
		return retake.Resumption{}, workspace.WrapError("no such workspace", workspace.Unchanged, err)
	}
	if !req.Look {
		s.waitForAgents(ctx, ws)
	}
	cp, err := s.FindAgentCheckpoint(ctx, ws, req.Ref)
	if err != nil {
		return retake.Resumption{}, err
	}
	state, err := s.LoadAgentState(ctx, cp)
	if err != nil {
		return retake.Resumption{}, workspace.WrapError("the agent's conversation can't be read", workspace.Unchanged, err)
	}
	out := retake.Resumption{Checkpoint: cp, Dir: req.Dir, Tasks: state.Tasks, Command: []string{}}
	if out.Dir == "" {
		out.Dir = filepath.Join(ws.Root, filepath.FromSlash(cp.Turn.Dir))
	}
	if out.Effects, err = s.DoneEffectsBetween(ctx, ws.ID, cp.Number, 0); err != nil {
		return out, workspace.WrapError("the effects cannot be listed", workspace.Unchanged, err)
	}
	if i := slices.IndexFunc(state.Tasks, retake.Task.Open); i >= 0 {
		out.Next = &state.Tasks[i]
	}
	out.Agent, out.Session = cp.Turn.Agent, cp.Turn.Session
	err = s.forkConversation(ctx, ws, req, state, &out)
	return out, workspace.WrapError("the conversation can't be continued", workspace.Unchanged, err)
}

// FindAgentCheckpoint returns the named checkpoint, or the newest earlier one of an agent
// whose work is in the files: not undone, and not left behind by a restore.
func (s *Agents) FindAgentCheckpoint(ctx context.Context, ws retake.Workspace, ref string) (retake.Checkpoint, error) {
	if ref == "" {
		ref = "latest"
	}
	cp, err := s.history.Find(ctx, ws.ID, ref)
	if err != nil {
		return cp, err
	}
	named := cp.Number
	for range maxHops {
		found, to, err := s.findAgentCheckpointBefore(ctx, ws.ID, cp.Number)
		switch {
		case err != nil:
			return cp, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
		case found != nil:
			return *found, nil
		case to == nil:
			return cp, &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("no agent worked here up to checkpoint %d", named), Safe: workspace.Unchanged, Hint: "install hooks: retake agents install"}
		}
		cp = *to
	}
	return cp, &retake.Error{Kind: retake.Limit, What: "the chain of restores is too long", Safe: workspace.Unchanged}
}

const maxHops = 100

// findAgentCheckpointBefore walks back from a number to a checkpoint of an agent (found),
// or to a restore whose target the search continues from (to).
func (s *Agents) findAgentCheckpointBefore(ctx context.Context, ws retake.WorkspaceID, from int64) (found, to *retake.Checkpoint, err error) {
	w := s.history.NewTimelineWalk(nil)
	gone := false // the turn of the previously visited checkpoint was undone
	err = s.history.WalkTimeline(ctx, ws, from, func(c, _ retake.Checkpoint) (bool, error) {
		w.Visit(c)
		gone = w.Undone[c.ID] || gone && w.Newer != nil && history.IsSameTurn(c, *w.Newer)
		switch {
		case gone:
		case c.Return != nil && c.Return.Course == retake.CourseRestore && len(c.Return.Paths) == 0:
			there, err := s.workspaces.LoadCheckpoint(ctx, c.Return.Target)
			if err == nil { // if it was forgotten, continue before the restore
				to = &there
			}
		case isAgentWork(c):
			found = &c
		}
		return found == nil && to == nil, nil
	})
	return found, to, err
}

// isAgentWork reports whether a checkpoint is the result of an agent's work.
func isAgentWork(cp retake.Checkpoint) bool {
	return cp.Turn != nil && cp.Turn.Session != "" && cp.Turn.Agent != manualAgent && cp.Trigger != retake.TriggerPrompt
}

// forkConversation forks a conversation and sets the command that continues it.
func (s *Agents) forkConversation(ctx context.Context, ws retake.Workspace, req retake.ResumeRequest, state retake.State, out *retake.Resumption) error {
	c := state.Conversation
	if c == nil {
		c = &retake.Conversation{Agent: out.Agent, Session: out.Session}
	}
	data, err := s.readConversation(ctx, *c)
	if err != nil {
		return err
	}
	fork := transcript.ForkRequest{
		Agent: out.Agent, Session: out.Session, Turn: agentTurnID(state.Checkpoint.Turn.ID), Path: c.Path, Data: data,
		Dir: out.Dir, Now: state.Checkpoint.Time,
	}
	b, err := findFreeBranch(fork, state.Checkpoint.ID)
	if err != nil {
		out.Why = err.Error()
		return nil
	}
	out.Session, out.Command, out.Exact, out.Why = b.Session, append([]string{}, b.Command...), b.Exact, b.Why
	switch {
	case b.Exact:
		s.setResumeNote(ws.ID, out)
	case len(b.Command) > 0:
		out.Note = fullConversationNote(*out)
	}
	if !b.Exact && out.Why == "" && state.Conversation == nil {
		out.Why = "its conversation is not kept"
	}
	if req.Look {
		return nil
	}
	for _, f := range b.Files {
		if isWithin(ws.Root, f.Path) || isWithin(s.workspaces.DataDir, f.Path) {
			out.Command, out.Exact, out.Why = []string{}, false, "its transcript is not where this agent keeps them"
			return nil
		}
		if err := createFile(f.Path, f.Data); err != nil && !errors.Is(err, fs.ErrExist) { // if it exists it has the same content
			return fmt.Errorf("write conversation: %w", err)
		}
	}
	if out.Note != "" { // else it cannot be continued
		s.announceSession(req, *out)
	}
	return nil
}

// setResumeNote writes the note for the forked conversation. It includes rewinds since the
// checkpoint that the conversation does not know of.
func (s *Agents) setResumeNote(ws retake.WorkspaceID, out *retake.Resumption) {
	out.Note = resumeNote(*out)
	for _, w := range s.StateOf(ws).rewindsUnknownTo(out.Checkpoint.Number) {
		out.Note += "\n" + w.Text
		out.Taken = w.Taken
	}
}

// maxBranches bounds the forks of a conversation at one checkpoint.
const maxBranches = 1000

// findFreeBranch returns the first fork of a conversation whose files do not exist or are
// unchanged, so that a repeated request makes no second one.
func findFreeBranch(r transcript.ForkRequest, from retake.CheckpointID) (transcript.Branch, error) {
	for n := range maxBranches {
		r.NewSession = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, fmt.Appendf(nil, "%s %s %s %d", from, r.Session, r.Dir, n), 4).String()
		b, err := transcript.Fork(r)
		if err != nil || !slices.ContainsFunc(b.Files, isPathTaken) {
			return b, err
		}
	}
	return transcript.Branch{}, errors.New("it was gone on with too often from here")
}

// isPathTaken reports whether a different file is at the path of a new one.
func isPathTaken(f transcript.File) bool {
	i, err := os.Lstat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil || !i.Mode().IsRegular() || i.Size() != int64(len(f.Data)) {
		return true
	}
	b, err := os.ReadFile(f.Path)
	return err != nil || !bytes.Equal(b, f.Data)
}

// agentTurnID returns the ID that the agent gave a turn, or "" if the ID is ours.
func agentTurnID(id string) string {
	if strings.HasPrefix(id, retake.SignalPrefix) {
		return ""
	}
	return id
}

// isWithin reports whether a path is a directory or below it.
func isWithin(dir, path string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// createFile creates a file that must not exist, and its parent directories.
func createFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already: %w", path, err)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// announceSession leaves the note for the first prompt of the forked session, in the
// workspace of the directory that it will run in.
func (s *Agents) announceSession(req retake.ResumeRequest, r retake.Resumption) {
	ws := req.Workspace
	if req.Dir != "" {
		if other, err := workspace.Find(context.Background(), s.workspaces, req.Dir); err == nil {
			ws = other.ID
		}
	}
	now := s.workspaces.Clock.Now()
	s.StateOf(ws).updateState(func(st *session.State) {
		x := st.Find(r.Agent + " " + r.Session)
		if x == nil {
			x = st.Add(session.Session{Agent: r.Agent, ID: r.Session, Phase: session.Away, Since: now, Last: now, Tasks: r.Tasks})
		}
		x.Note = r.Note
	})
}
