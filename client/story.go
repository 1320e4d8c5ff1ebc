package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// Story explains what changed between two checkpoints.
func (c *Client) Story(ctx context.Context, q retake.DiffQuery) (retake.Story, error) {
	v := url.Values{"from": {q.From}, "to": {q.To}, "path": q.Paths}
	if q.Machine {
		v.Set("machine", "true")
	}
	return callJSON[retake.Story](ctx, c.conn, newGet(v, "workspaces", string(q.Workspace), "story"))
}

// Rows compares the rows of a database at two checkpoints.
func (c *Client) Rows(ctx context.Context, q retake.RowsQuery) (retake.RowsDiff, error) {
	v := withLimit(url.Values{"from": {q.From}, "to": {q.To}, "path": {q.Path}, "table": {q.Table}, "what": {string(q.What)}}, q.Limit)
	if q.Skip != 0 {
		v.Set("skip", strconv.Itoa(q.Skip))
	}
	return callJSON[retake.RowsDiff](ctx, c.conn, newGet(v, "workspaces", string(q.Workspace), "rows"))
}

// Search finds checkpoints by words.
func (c *Client) Search(ctx context.Context, q retake.SearchQuery) ([]retake.Hit, error) {
	out, err := callJSON[wire.HitList](ctx, c.conn, newGet(withLimit(url.Values{"text": {q.Text}}, q.Limit), "workspaces", string(q.Workspace), "search"))
	return out.Hits, err
}

// Blame returns the checkpoint that wrote each line of a file.
func (c *Client) Blame(ctx context.Context, q retake.BlameQuery) (retake.Blame, error) {
	v := url.Values{"ref": {q.Ref}, "path": {q.Path}}
	return callJSON[retake.Blame](ctx, c.conn, newGet(v, "workspaces", string(q.Workspace), "blame"))
}

// Chronicle lists the checkpoints in which a fact changed.
func (c *Client) Chronicle(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	v := withLimit(url.Values{"kind": {string(q.Kind)}, "name": {q.Name}}, q.Limit)
	out, err := callJSON[wire.MentionList](ctx, c.conn, newGet(v, "workspaces", string(q.Workspace), "chronicle"))
	return out.Mentions, err
}

func withLimit(v url.Values, limit int) url.Values {
	if limit != 0 {
		v.Set("limit", strconv.Itoa(limit))
	}
	return v
}

// Attest records the result of a check.
func (c *Client) Attest(ctx context.Context, a retake.Attestation) (retake.Verification, error) {
	body := wire.AttestBody{Ref: a.Ref, Name: a.Name, Command: a.Command, Where: a.Where, By: a.By, Claim: a.Claim, Bisect: a.Bisect, Verdict: a.Verdict, Why: a.Why, Exit: a.Exit, Started: a.Started, Took: a.Took, Output: a.Output}
	return callJSON[retake.Verification](ctx, c.conn, newRequest(http.MethodPost, body, "workspaces", string(a.Workspace), "verifications"))
}

// Verifications lists check results, newest first.
func (c *Client) Verifications(ctx context.Context, q retake.VerificationQuery) ([]retake.Verification, error) {
	v := withLimit(url.Values{"ref": {q.Ref}, "name": {q.Name}, "command": {q.Command}}, q.Limit)
	out, err := callJSON[wire.VerificationList](ctx, c.conn, newGet(v, "workspaces", string(q.Workspace), "verifications"))
	return out.Verifications, err
}

// Standing lists the checks that are configured for every checkpoint.
func (c *Client) Standing(ctx context.Context, ws retake.WorkspaceID) ([]retake.Standing, error) {
	out, err := callJSON[wire.StandingList](ctx, c.conn, newGet(nil, "workspaces", string(ws), "standing"))
	return out.Standing, err
}
