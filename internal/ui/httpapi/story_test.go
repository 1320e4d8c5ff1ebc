package httpapi_test

import (
	"context"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

func (f *fakeService) Story(_ context.Context, q retake.DiffQuery) (retake.Story, error) {
	return answerWith[retake.Story](f, q)
}

func (f *fakeService) Rows(_ context.Context, q retake.RowsQuery) (retake.RowsDiff, error) {
	return answerWith[retake.RowsDiff](f, q)
}

func (f *fakeService) Search(_ context.Context, q retake.SearchQuery) ([]retake.Hit, error) {
	return answerWith[[]retake.Hit](f, q)
}

func (f *fakeService) Blame(_ context.Context, q retake.BlameQuery) (retake.Blame, error) {
	return answerWith[retake.Blame](f, q)
}

func (f *fakeService) Chronicle(_ context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	return answerWith[[]retake.Mention](f, q)
}

func (f *fakeService) Attest(_ context.Context, a retake.Attestation) (retake.Verification, error) {
	return answerWith[retake.Verification](f, a)
}

func (f *fakeService) Verifications(_ context.Context, q retake.VerificationQuery) ([]retake.Verification, error) {
	return answerWith[[]retake.Verification](f, q)
}

func (f *fakeService) Standing(_ context.Context, ws retake.WorkspaceID) ([]retake.Standing, error) {
	return answerWith[[]retake.Standing](f, ws)
}

var (
	storyQuery     = retake.DiffQuery{Workspace: wsID, From: "11", To: "13", Paths: []string{"", oddName}}
	rowsQuery      = retake.RowsQuery{Workspace: wsID, From: "11", To: "13", Path: oddName, Table: "a; b & c", What: retake.Deleted, Skip: 3, Limit: 7}
	searchQuery    = retake.SearchQuery{Workspace: wsID, Text: "é “x” & y", Limit: 7}
	blameQuery     = retake.BlameQuery{Workspace: wsID, Ref: "14", Path: oddName}
	chronicleQuery = retake.ChronicleQuery{Workspace: wsID, Kind: retake.FactPackage, Name: "@a/b", Limit: 3}
	attestation    = retake.Attestation{
		Workspace: wsID, Ref: "14", Name: "test", Command: "npm test && \"x\"", Where: retake.InFork, By: "codex", Claim: true, Verdict: retake.CouldNotRun,
		Why: "no", Exit: 3, Started: time.Unix(5, 7).UTC(), Took: 9, Output: "the\nend",
	}
	answersQuery = retake.VerificationQuery{Workspace: wsID, Ref: "14", Name: "test", Command: "npm test", Limit: 2}
	filteredLog  = retake.LogQuery{Workspace: wsID, Limit: 2, Good: true, Path: oddName, Session: "5b1e"}
)

// storyCalls are those about what changed, and what was verified.
var storyCalls = []apiCall{
	{"story", []any{storyQuery}, func(ctx context.Context, c *client.Client) (any, error) { return c.Story(ctx, storyQuery) }},
	{"rows", []any{rowsQuery}, func(ctx context.Context, c *client.Client) (any, error) { return c.Rows(ctx, rowsQuery) }},
	{"search", []any{retake.SearchQuery{Workspace: wsID, Text: searchQuery.Text, Limit: 8}}, func(ctx context.Context, c *client.Client) (any, error) { return c.Search(ctx, searchQuery) }},
	{"blame", []any{blameQuery}, func(ctx context.Context, c *client.Client) (any, error) { return c.Blame(ctx, blameQuery) }},
	{"chronicle", []any{retake.ChronicleQuery{Workspace: wsID, Kind: retake.FactPackage, Name: "@a/b", Limit: 4}}, func(ctx context.Context, c *client.Client) (any, error) { return c.Chronicle(ctx, chronicleQuery) }},
	{"attest", []any{attestation}, func(ctx context.Context, c *client.Client) (any, error) { return c.Attest(ctx, attestation) }},
	{"verifications", []any{retake.VerificationQuery{Workspace: wsID, Ref: "14", Name: "test", Command: "npm test", Limit: 3}}, func(ctx context.Context, c *client.Client) (any, error) { return c.Verifications(ctx, answersQuery) }},
	{"standing", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Standing(ctx, wsID) }},
	{"log of some", []any{oneMore(filteredLog)}, func(ctx context.Context, c *client.Client) (any, error) { return c.Log(ctx, filteredLog) }},
}
