package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/retake-dev/retake"
)

type searchInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Text      string             `query:"text" doc:"Words; a checkpoint must hold all of them."`
	Limit     int                `query:"limit" doc:"At most so many. 0: 50."`
}

type hitList struct {
	Hits []retake.Hit `json:"hits" nullable:"false"`
}

type blameInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Ref       string             `query:"ref" doc:"A ref. Empty: the newest checkpoint."`
	Path      string             `query:"path" doc:"Below the root of the workspace."`
}

type chronicleInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Kind      retake.FactKind    `query:"kind" doc:"The kind of the fact. Empty: any."`
	Name      string             `query:"name" doc:"Its name, such as that of a package."`
	Limit     int                `query:"limit" doc:"At most so many. 0: all."`
}

type mentionList struct {
	Mentions []retake.Mention `json:"mentions" nullable:"false"`
}

type attestInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      attestBody
}

type attestBody struct {
	Ref     string         `json:"ref,omitempty" doc:"The checkpoint it is about. Empty: the newest."`
	Name    string         `json:"name,omitempty" doc:"Empty: made of the command."`
	Command string         `json:"command,omitempty" doc:"What was run."`
	Where   retake.Where   `json:"where,omitempty" doc:"On which files: live, fork or elsewhere. Empty: live."`
	By      string         `json:"by,omitempty" doc:"The agent that says so, with claim. On a server the key's name is added to it, or is used alone."`
	Claim   bool           `json:"claim,omitempty" doc:"An agent says so; nobody saw it. On a server every key but an operator's reports claims, whatever this says."`
	Bisect  bool           `json:"bisect,omitempty" doc:"The command was run to find a border. It does not decide which checkpoint is good."`
	Verdict retake.Verdict `json:"verdict,omitempty" doc:"Empty: told by exit."`
	Why     string         `json:"why,omitempty" doc:"Why it could not run."`
	Exit    int            `json:"exit,omitempty"`
	Started time.Time      `json:"started,omitzero"`
	Took    time.Duration  `json:"took,omitempty" doc:"Nanoseconds."`
	Output  string         `json:"output,omitempty" doc:"The end of what it printed."`
}

type verificationsInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Ref       string             `query:"ref" doc:"A ref: answers about its content, outputs included. Empty: all, without outputs."`
	Name      string             `query:"name" doc:"Of the verification. Empty: any."`
	Command   string             `query:"command" doc:"What was run. Empty: any."`
	Limit     int                `query:"limit" doc:"At most so many. 0: all."`
}

type verificationList struct {
	Verifications []retake.Verification `json:"verifications" nullable:"false"`
}

type standingList struct {
	Standing []retake.Standing `json:"standing" nullable:"false"`
}

func (a *api) telling() {
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/story", "story", "What really changed between two checkpoints, and what it means"), a.story)
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/rows", "rows", "What differs between the rows of a database at two checkpoints"), a.rows)
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/search", "search", "Find checkpoints by words"), func(ctx context.Context, in *searchInput) (hitList, error) {
		hits, err := a.Search(ctx, retake.SearchQuery{Workspace: in.Workspace, Text: in.Text, Limit: in.Limit})
		return hitList{filled(hits)}, err
	})
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/blame", "blame", "Which checkpoint wrote each line of a file"), func(ctx context.Context, in *blameInput) (retake.Blame, error) {
		b, err := a.Blame(ctx, retake.BlameQuery{Workspace: in.Workspace, Ref: in.Ref, Path: in.Path})
		b.Lines, b.Checkpoints = filled(b.Lines), filled(b.Checkpoints)
		return b, err
	})
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/chronicle", "chronicle", "The checkpoints in which a fact changed"), func(ctx context.Context, in *chronicleInput) (mentionList, error) {
		list, err := a.Chronicle(ctx, retake.ChronicleQuery{Workspace: in.Workspace, Kind: in.Kind, Name: in.Name, Limit: in.Limit})
		for i := range list {
			list[i].Facts = filled(list[i].Facts)
		}
		return mentionList{filled(list)}, err
	})
	answer(a, op(http.MethodPost, "/v1/workspaces/{ws}/verifications", "attest", "Record what a command answered"), a.attest)
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/verifications", "verifications", "Answers of commands, newest first"), func(ctx context.Context, in *verificationsInput) (verificationList, error) {
		list, err := a.Verifications(ctx, retake.VerificationQuery{Workspace: in.Workspace, Ref: in.Ref, Name: in.Name, Command: in.Command, Limit: in.Limit})
		return verificationList{filled(list)}, err
	})
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/standing", "standing", "The verifications that are wanted of every checkpoint"), func(ctx context.Context, in *inWorkspace) (standingList, error) {
		list, err := a.Standing(ctx, in.Workspace)
		return standingList{filled(list)}, err
	})
}

type storyInput struct {
	DiffQuery
	Machine bool `query:"machine" doc:"Include what other programs changed on the machine: ports, packages, services."`
}

func (a *api) story(ctx context.Context, in *storyInput) (retake.Story, error) {
	st, err := a.Story(ctx, retake.DiffQuery{Workspace: in.Workspace, From: in.From, To: in.To, Paths: in.Paths, Machine: in.Machine})
	st.Groups, st.Facts, st.Unread, st.Flags = filled(st.Groups), filled(st.Facts), filled(st.Unread), filled(st.Flags)
	st.Gist.Points = filled(st.Gist.Points)
	for i := range st.Groups {
		st.Groups[i].Items = filled(st.Groups[i].Items)
	}
	return st, err
}

func (a *api) attest(ctx context.Context, in *attestInput) (retake.Verification, error) {
	b := in.Body
	return a.Attest(ctx, retake.Attestation{
		Workspace: in.Workspace, Ref: b.Ref, Name: b.Name, Command: b.Command, Where: b.Where, By: b.By, Claim: b.Claim, Bisect: b.Bisect,
		Verdict: b.Verdict, Why: b.Why, Exit: b.Exit, Started: b.Started, Took: b.Took, Output: b.Output,
	})
}
