package httpapi_test

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

const (
	wsID = retake.WorkspaceID("ws_0197a1de-0000-7000-8000-000000000001")
	cpID = retake.CheckpointID("cp_0197a1de-0000-7000-8000-000000000002")
)

// apiCall is a call of one client method, and the arguments that the service must get.
type apiCall struct {
	name     string
	wantArgs []any
	call     func(context.Context, *client.Client) (any, error)
}

// allCalls has a call of every method.
var allCalls = slices.Concat(firstCalls, returnCalls, agentCalls, spaceCalls, purgeCalls, storyCalls, officeCalls)

// firstCalls are the methods of the first client.
var firstCalls = []apiCall{
	{"estimate", []any{"/" + oddName}, func(ctx context.Context, c *client.Client) (any, error) { return c.Estimate(ctx, "/"+oddName) }},
	{"init", []any{initRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.Init(ctx, initRequest) }},
	{"init with progress", []any{initRequest}, func(ctx context.Context, c *client.Client) (any, error) {
		q := initRequest
		return withProgress(func(tell func(retake.Progress)) (retake.SaveResult, error) {
			q.Progress = tell
			return c.Init(ctx, q)
		})
	}},
	{"locate", []any{"/" + oddName}, func(ctx context.Context, c *client.Client) (any, error) { return c.Locate(ctx, "/"+oddName) }},
	{"workspaces", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Workspaces(ctx) }},
	{"deinit", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Deinit(ctx, wsID) }},
	{"save", []any{saveRequest}, func(ctx context.Context, c *client.Client) (any, error) { return c.Save(ctx, saveRequest) }},
	{"save with progress", []any{saveRequest}, func(ctx context.Context, c *client.Client) (any, error) {
		q := saveRequest
		return withProgress(func(tell func(retake.Progress)) (retake.SaveResult, error) {
			q.Progress = tell
			return c.Save(ctx, q)
		})
	}},
	{"log", []any{oneMore(logQuery)}, func(ctx context.Context, c *client.Client) (any, error) { return c.Log(ctx, logQuery) }},
	{"log of all", []any{retake.LogQuery{Workspace: wsID}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Log(ctx, retake.LogQuery{Workspace: wsID})
	}},
	{"view the timeline", []any{timelineQuery}, func(ctx context.Context, c *client.Client) (any, error) { return c.ViewTimeline(ctx, timelineQuery) }},
	{"find", []any{wsID, oddName}, func(ctx context.Context, c *client.Client) (any, error) { return c.Find(ctx, wsID, oddName) }},
	{"diff", []any{diffQuery}, func(ctx context.Context, c *client.Client) (any, error) { return c.Diff(ctx, diffQuery) }},
	{"diff of all", []any{retake.DiffQuery{Workspace: wsID}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Diff(ctx, retake.DiffQuery{Workspace: wsID})
	}},
	{"list", []any{wsID, "14", oddName}, func(ctx context.Context, c *client.Client) (any, error) { return c.List(ctx, wsID, "14", oddName) }},
	{"file", []any{wsID, "14", oddName}, func(ctx context.Context, c *client.Client) (any, error) {
		return entryOf(c.Open(ctx, wsID, "14", oddName))
	}},
	{"object", []any{retake.ObjectID("k/.." + oddName)}, func(ctx context.Context, c *client.Client) (any, error) {
		r, err := c.Bytes(ctx, "k/.."+oddName)
		_, err = entryOf(r, retake.Entry{}, err)
		return filledValue[retake.Entry](), err
	}},
	{"status", []any{wsID}, func(ctx context.Context, c *client.Client) (any, error) { return c.Status(ctx, wsID) }},
	{"pin", []any{wsID, "14", oddName}, func(ctx context.Context, c *client.Client) (any, error) { return c.Pin(ctx, wsID, "14", oddName) }},
	{"unpin", []any{wsID, ".."}, func(ctx context.Context, c *client.Client) (any, error) {
		return filledValue[retake.Pin](), c.Unpin(ctx, wsID, "..")
	}},
	{"forget", []any{wsID, []string{"3", "5"}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Forget(ctx, wsID, []string{"3", "5"})
	}},
	{"scrub", []any{retake.ScrubQuery{Share: 0.25}}, func(ctx context.Context, c *client.Client) (any, error) {
		return c.Scrub(ctx, retake.ScrubQuery{Share: 0.25})
	}},
	{"scrub with progress", []any{retake.ScrubQuery{Share: 1}}, func(ctx context.Context, c *client.Client) (any, error) {
		return withProgress(func(tell func(retake.Progress)) (retake.ScrubReport, error) {
			return c.Scrub(ctx, retake.ScrubQuery{Share: 1, Progress: tell})
		})
	}},
	{"space", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Space(ctx) }},
	{"sweep", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Sweep(ctx) }},
	{"rebuild", nil, func(ctx context.Context, c *client.Client) (any, error) { return c.Rebuild(ctx) }},
	{"proof", []any{wsID, "14"}, func(ctx context.Context, c *client.Client) (any, error) { return c.Prove(ctx, wsID, "14") }},
}

var (
	initRequest   = retake.InitRequest{Dir: "/" + oddName, Name: oddName, Accept: []string{"home", "giant"}, Mark: retake.MarkCopy}
	saveRequest   = retake.SaveRequest{Workspace: wsID, ID: cpID, Intent: "why", Trigger: retake.TriggerManual, Pin: "good", Budget: 3 * time.Second, IfChanged: true}
	timelineQuery = retake.TimelineQuery{LogQuery: logQuery, Open: []string{"quiet-cp_1", "replaced-cp_2"}, FoldReplaced: true, Now: true}
	logQuery      = retake.LogQuery{Workspace: wsID, Since: time.Date(2026, 11, 3, 10, 27, 1, 5, time.UTC), Before: 9, Limit: 3}
	diffQuery     = retake.DiffQuery{Workspace: wsID, From: "start", To: "2", Paths: []string{"", oddName, "a,b"}}
)

// oneMore is what a page asks for: one more than it gives tells whether there is another.
func oneMore(q retake.LogQuery) retake.LogQuery {
	q.Limit++
	return q
}

// entryOf returns the entry, if the bytes are as expected.
func entryOf(r io.ReadCloser, e retake.Entry, err error) (retake.Entry, error) {
	if err != nil {
		return e, err
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err == nil && string(text) != "bytes of a file\n" {
		e.Name = "other bytes: " + string(text)
	}
	return e, err
}

// withProgress returns the wrong progress instead of the result if it differs from the service's.
func withProgress[T any](f func(func(retake.Progress)) (T, error)) (any, error) {
	var got []retake.Progress
	out, err := f(func(p retake.Progress) { got = append(got, p) })
	if err == nil && (len(got) != 1 || got[0] != filledValue[retake.Progress]()) {
		return got, nil
	}
	return out, err
}
