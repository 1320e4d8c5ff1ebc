package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/retake-dev/retake"
)

type searchInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Text      string             `query:"text" doc:"The words to search for. A checkpoint must contain all of them."`
	Limit     int                `query:"limit" doc:"The largest number of results. 0 means 50."`
}

type hitList struct {
	Hits []retake.Hit `json:"hits" nullable:"false" doc:"The matches."`
}

type blameInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Ref       string             `query:"ref" doc:"The checkpoint, as a ref. Empty means the newest one."`
	Path      string             `query:"path" doc:"The path, relative to the workspace's root."`
}

type chronicleInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Kind      retake.FactKind    `query:"kind" doc:"The type of fact, such as package or setting. Empty means any."`
	Name      string             `query:"name" doc:"The fact's name, such as a package or a key."`
	Limit     int                `query:"limit" doc:"The largest number of results. 0 means all."`
}

type mentionList struct {
	Mentions []retake.Mention `json:"mentions" nullable:"false" doc:"The checkpoints."`
}

type attestInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      attestBody
}

type attestBody struct {
	Ref     string         `json:"ref,omitempty" doc:"The checkpoint that was checked, as a ref. Empty means the newest one."`
	Name    string         `json:"name,omitempty" doc:"The check's name. Empty means that it is derived from the command."`
	Command string         `json:"command,omitempty" doc:"The command that ran."`
	Where   retake.Where   `json:"where,omitempty" doc:"Where it ran: live (the workspace), fork (a temporary fork at the workspace's path) or elsewhere. Empty means live."`
	By      string         `json:"by,omitempty" doc:"The agent that reports the result, with claim. A server adds the API key's name."`
	Claim   bool           `json:"claim,omitempty" doc:"If true, an agent reports the result and Retake did not see the check run. A server sets it for every key that is not an operator key."`
	Bisect  bool           `json:"bisect,omitempty" doc:"If true, the command ran during a bisect and does not decide which checkpoint is good."`
	Verdict retake.Verdict `json:"verdict,omitempty" doc:"The result: passed, failed or could-not-run. Empty means that exit decides."`
	Why     string         `json:"why,omitempty" doc:"Why the command could not run."`
	Exit    int            `json:"exit,omitempty" doc:"The exit code."`
	Started time.Time      `json:"started,omitzero" doc:"The time at which the command started."`
	Took    time.Duration  `json:"took,omitempty" doc:"How long the command ran, in nanoseconds."`
	Output  string         `json:"output,omitempty" doc:"The end of the output."`
}

type verificationsInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Ref       string             `query:"ref" doc:"The checkpoint, as a ref: results for its files, with output. Empty means all results, without output."`
	Name      string             `query:"name" doc:"Only results of the check with this name. Empty means any."`
	Command   string             `query:"command" doc:"Only results of this command. Empty means any."`
	Limit     int                `query:"limit" doc:"The largest number of results. 0 means all."`
}

type verificationList struct {
	Verifications []retake.Verification `json:"verifications" nullable:"false" doc:"The results."`
}

type standingList struct {
	Standing []retake.Standing `json:"standing" nullable:"false" doc:"The checks."`
}

// registerStories registers the routes that explain changes, and those of checks.
func (a *api) registerStories() {
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/story", "story", "Explain what changed"), a.explainChanges)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/rows", "rows", "Compare database rows"), a.compareRows)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/search", "search", "Search checkpoints"), func(ctx context.Context, in *searchInput) (hitList, error) {
		hits, err := a.Search(ctx, retake.SearchQuery{Workspace: in.Workspace, Text: in.Text, Limit: in.Limit})
		return hitList{nonNil(hits)}, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/blame", "blame", "Blame a file"), func(ctx context.Context, in *blameInput) (retake.Blame, error) {
		b, err := a.Blame(ctx, retake.BlameQuery{Workspace: in.Workspace, Ref: in.Ref, Path: in.Path})
		b.Lines, b.Checkpoints = nonNil(b.Lines), nonNil(b.Checkpoints)
		return b, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/chronicle", "chronicle", "List the history of a fact"), func(ctx context.Context, in *chronicleInput) (mentionList, error) {
		list, err := a.Chronicle(ctx, retake.ChronicleQuery{Workspace: in.Workspace, Kind: in.Kind, Name: in.Name, Limit: in.Limit})
		for i := range list {
			list[i].Facts = nonNil(list[i].Facts)
		}
		return mentionList{nonNil(list)}, err
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/verifications", "attest", "Record a check result"), a.recordCheck)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/verifications", "verifications", "List check results"), func(ctx context.Context, in *verificationsInput) (verificationList, error) {
		list, err := a.Verifications(ctx, retake.VerificationQuery{Workspace: in.Workspace, Ref: in.Ref, Name: in.Name, Command: in.Command, Limit: in.Limit})
		return verificationList{nonNil(list)}, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/standing", "standing", "List configured checks"), func(ctx context.Context, in *workspacePath) (standingList, error) {
		list, err := a.Standing(ctx, in.Workspace)
		return standingList{nonNil(list)}, err
	})
}

type storyInput struct {
	DiffQuery
	Machine bool `query:"machine" doc:"If true, include what other programs changed on the machine: ports, packages, services."`
}

// explainChanges explains what changed between two checkpoints.
func (a *api) explainChanges(ctx context.Context, in *storyInput) (retake.Story, error) {
	st, err := a.Story(ctx, retake.DiffQuery{Workspace: in.Workspace, From: in.From, To: in.To, Paths: in.Paths, Machine: in.Machine})
	st.Groups, st.Facts, st.Unread, st.Flags = nonNil(st.Groups), nonNil(st.Facts), nonNil(st.Unread), nonNil(st.Flags)
	st.Gist.Points = nonNil(st.Gist.Points)
	for i := range st.Groups {
		st.Groups[i].Items = nonNil(st.Groups[i].Items)
	}
	return st, err
}

func (a *api) recordCheck(ctx context.Context, in *attestInput) (retake.Verification, error) {
	b := in.Body
	return a.Attest(ctx, retake.Attestation{
		Workspace: in.Workspace, Ref: b.Ref, Name: b.Name, Command: b.Command, Where: b.Where, By: b.By, Claim: b.Claim, Bisect: b.Bisect,
		Verdict: b.Verdict, Why: b.Why, Exit: b.Exit, Started: b.Started, Took: b.Took, Output: b.Output,
	})
}
