package httpapi

import (
	"cmp"
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type searchInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Text      string             `query:"text" doc:"The words to search for. A checkpoint must contain all of them."`
	Limit     int                `query:"limit" minimum:"0" doc:"The largest number of results. Absent or 0 means 50."`
	Cursor    string             `query:"cursor" doc:"The next_cursor of the page before."`
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
	PageParams
}

type attestInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.AttestBody
}

type verificationsInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Ref       string             `query:"ref" doc:"The checkpoint, as a ref: results for its files, with output. Empty means all results, without output."`
	Name      string             `query:"name" doc:"Only results of the check with this name. Empty means any."`
	Command   string             `query:"command" doc:"Only results of this command. Empty means any."`
	PageParams
}

// registerStories registers the routes that explain changes, and those of checks.
func (a *api) registerStories() {
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/story", "story", "Explain what changed"), a.explainChanges)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/rows", "rows", "Compare database rows"), a.compareRows)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/search", "search", "Search checkpoints"), func(ctx context.Context, in *searchInput) (wire.HitList, error) {
		hits, more, err := fetchPage(a, "search "+string(in.Workspace)+" "+in.Text, PageParams{cmp.Or(in.Limit, defaultLimit), in.Cursor}, func(n int) ([]retake.Hit, error) {
			return a.Search(ctx, retake.SearchQuery{Workspace: in.Workspace, Text: in.Text, Limit: n})
		}, func(h *retake.Hit) string { return string(h.Checkpoint.ID) + " " + h.Where })
		return wire.HitList{Hits: hits, More: more}, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/blame", "blame", "Blame a file"), func(ctx context.Context, in *blameInput) (retake.Blame, error) {
		b, err := a.Blame(ctx, retake.BlameQuery{Workspace: in.Workspace, Ref: in.Ref, Path: in.Path})
		b.Lines, b.Checkpoints = nonNil(b.Lines), nonNil(b.Checkpoints)
		return b, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/chronicle", "chronicle", "List the history of a fact"), func(ctx context.Context, in *chronicleInput) (wire.MentionList, error) {
		list, more, err := fetchPage(a, "chronicle "+string(in.Workspace)+" "+string(in.Kind)+" "+in.Name, in.PageParams, func(n int) ([]retake.Mention, error) {
			return a.Chronicle(ctx, retake.ChronicleQuery{Workspace: in.Workspace, Kind: in.Kind, Name: in.Name, Limit: n})
		}, func(m *retake.Mention) string { return string(m.Checkpoint.ID) })
		for i := range list {
			list[i].Facts = nonNil(list[i].Facts)
		}
		return wire.MentionList{Mentions: list, More: more}, err
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/verifications", "attest", "Record a check result"), a.recordCheck)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/verifications", "verifications", "List check results"), func(ctx context.Context, in *verificationsInput) (wire.VerificationList, error) {
		list, more, err := fetchPage(a, "verifications "+string(in.Workspace)+" "+in.Ref+" "+in.Name+" "+in.Command, in.PageParams, func(n int) ([]retake.Verification, error) {
			return a.Verifications(ctx, retake.VerificationQuery{Workspace: in.Workspace, Ref: in.Ref, Name: in.Name, Command: in.Command, Limit: n})
		}, func(v *retake.Verification) string { return string(v.ID) })
		return wire.VerificationList{Verifications: list, More: more}, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/standing", "standing", "List configured checks"), func(ctx context.Context, in *workspacePage) (wire.StandingList, error) {
		list, more, err := fetchPage(a, "standing "+string(in.Workspace), in.PageParams, func(int) ([]retake.Standing, error) { return a.Standing(ctx, in.Workspace) }, func(s *retake.Standing) string { return s.Name + "\n" + s.Command })
		return wire.StandingList{Standing: list, More: more}, err
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
