package catalogtest

import (
	"context"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func testAppendOne(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	cp := richCheckpoint(1, 7)
	wantNoError(t, c.Append(ctx, cp))
	got, err := c.Checkpoint(ctx, cp.ID)
	wantNoError(t, err)
	wantEqual(t, "by id", got, cp)
	got, err = c.ByNumber(ctx, cp.Workspace, 7)
	wantNoError(t, err)
	wantEqual(t, "by number", got, cp)

	_, err = c.Checkpoint(ctx, checkpointID(5))
	wantError(t, err, catalog.ErrNotFound)
	_, err = c.ByNumber(ctx, cp.Workspace, 6)
	wantError(t, err, catalog.ErrNotFound)
	_, err = c.ByNumber(ctx, workspaceID(2), 7)
	wantError(t, err, catalog.ErrNotFound)
}

func testAppendAgain(t *testing.T, open Opener) {
	c := openFilled(t, open, 1)
	again := richCheckpoint(1, 1)
	again.Number = 5
	wantNoError(t, c.Append(t.Context(), again, catalog.Mark{Key: "k", Value: "again"}))
	mark, err := c.Mark(t.Context(), "k")
	wantNoError(t, err)
	wantEqual(t, "mark", mark, "again")
	got, err := c.Checkpoint(t.Context(), again.ID)
	wantNoError(t, err)
	wantEqual(t, "checkpoint", got, checkpoint(1, 1))
	wantEqual(t, "notices", pendingTopics(t, c), []string{createdNotice(1001)})
}

func testAppendTaken(t *testing.T, open Opener) {
	c := openFilled(t, open, 1)
	other := checkpoint(1, 2)
	other.Number = 1
	wantError(t, c.Append(t.Context(), other, catalog.Mark{Key: "k", Value: "taken"}), catalog.ErrExists)
	mark, err := c.Mark(t.Context(), "k")
	wantNoError(t, err)
	wantEqual(t, "mark of an append that failed", mark, "")
	wantEqual(t, "notices", pendingTopics(t, c), []string{createdNotice(1001)})
	_, err = c.Checkpoint(t.Context(), other.ID)
	wantError(t, err, catalog.ErrNotFound)

	other.Workspace = workspaceID(2)
	wantNoError(t, c.Append(t.Context(), other))
}

func testAppendCanceled(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, c.Append(ctx, checkpoint(1, 1)), context.Canceled)
	wantEqual(t, "notices", pendingTopics(t, c), nil)
	_, err := c.Checkpoint(t.Context(), checkpoint(1, 1).ID)
	wantError(t, err, catalog.ErrNotFound)
	wantNoError(t, c.Append(t.Context(), checkpoint(1, 1)))
}

// testWithoutWorkspace: rows may come in any order when a catalog is made again.
func testWithoutWorkspace(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, ws := t.Context(), workspaceID(1)
	_, err := c.Latest(ctx, ws, 0)
	wantError(t, err, catalog.ErrNotFound)
	_, err = c.Start(ctx, ws)
	wantError(t, err, catalog.ErrNotFound)
	_, err = c.Before(ctx, ws, noon)
	wantError(t, err, catalog.ErrNotFound)
	live, last, err := c.Counts(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "counts", []int64{live, last}, []int64{0, 0})
	all, err := c.Page(ctx, retake.LogQuery{Workspace: ws})
	wantNoError(t, err)
	wantEqual(t, "page", all, nil)
	stones, err := c.Tombstones(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "tombstones", stones, nil)

	wantNoError(t, c.Append(ctx, checkpoint(1, 3)))
	live, last, err = c.Counts(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "counts", []int64{live, last}, []int64{1, 3})
}

func testByPrefix(t *testing.T, open Opener) {
	c := open(t, "a")
	ids := map[int]retake.CheckpointID{1: "cp_0aa", 2: "cp_0ab", 3: "cp_0b%", 4: "cp_0ba", 5: "cp_0bz", 6: "cpx0b_"}
	for n, id := range ids {
		cp := checkpoint(1, n)
		cp.ID = id
		wantNoError(t, c.Append(t.Context(), cp))
	}
	elsewhere := checkpoint(2, 1)
	elsewhere.ID = "cp_0ac"
	wantNoError(t, c.Append(t.Context(), elsewhere))

	for prefix, want := range map[string][]int64{
		"cp_0aa": {1}, "cp_0a": {1, 2}, "cp_0b": {3, 4}, "cp_0b%": {3}, "cp_0bz": {5}, "cp_0c": {}, "cp_0aaa": {},
		"": {1, 2}, "cp%": {}, "cp_0b_": {}, "CP_0AA": {}, "cp_0a\xff": {}, "cp_\x00": {}, "cp_0aa' OR '1'='1": {}, "\U0010FFFF": {},
	} {
		all, err := c.ByPrefix(t.Context(), workspaceID(1), prefix)
		wantNoError(t, err)
		wantEqual(t, "prefix "+prefix, checkpointNumbers(all), want)
	}
}

func testBefore(t *testing.T, open Opener) {
	c := openFilled(t, open, 3)
	at := func(n int) time.Time { return checkpoint(1, n).Time }
	twin := checkpoint(1, 4) // as old as 2
	twin.Time = at(2)
	wantNoError(t, c.Append(t.Context(), twin))
	old := checkpoint(1, 5) // before 1970
	old.Time = time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC)
	wantNoError(t, c.Append(t.Context(), old))

	for _, x := range []struct {
		at   time.Time
		want int64
	}{
		{at(3), 3}, {at(3).Add(time.Hour), 3}, {at(3).Add(-time.Microsecond), 4}, {at(2), 4},
		{at(2).Add(-time.Microsecond), 1}, {at(1).In(time.FixedZone("", -7200)), 1}, {at(1).Add(-time.Minute), 5},
	} {
		got, err := c.Before(t.Context(), workspaceID(1), x.at)
		wantNoError(t, err)
		wantEqual(t, "before "+x.at.String(), got.Number, x.want)
	}
	_, err := c.Before(t.Context(), workspaceID(1), old.Time.Add(-time.Microsecond))
	wantError(t, err, catalog.ErrNotFound)
}

// testLatest goes by number: clocks may go back.
func testLatest(t *testing.T, open Opener) {
	c := openFilled(t, open, 3)
	early := checkpoint(1, 4)
	early.Time = noon.Add(-time.Hour)
	wantNoError(t, c.Append(t.Context(), early))
	wantNoError(t, c.Append(t.Context(), checkpoint(2, 9)))
	wantNoError(t, c.Bury(t.Context(), workspaceID(1), []retake.Tombstone{newTombstone(checkpoint(1, 2))}))
	for back, want := range []int64{4, 3, 1} {
		got, err := c.Latest(t.Context(), workspaceID(1), int64(back))
		wantNoError(t, err)
		wantEqual(t, "latest", got.Number, want)
	}
	for _, back := range []int64{3, 1 << 62, -1} {
		_, err := c.Latest(t.Context(), workspaceID(1), back)
		wantError(t, err, catalog.ErrNotFound)
	}
}

func testStart(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, ws := t.Context(), workspaceID(1)
	partial := checkpoint(1, 1)
	partial.Coverage = retake.Cover([]retake.Gap{{Path: "x", Reason: retake.ReasonBudget}})
	wantNoError(t, c.Append(ctx, partial))
	_, err := c.Start(ctx, ws)
	wantError(t, err, catalog.ErrNotFound)
	wantNoError(t, c.Append(ctx, checkpoint(1, 3)))
	wantNoError(t, c.Append(ctx, checkpoint(1, 2)))
	got, err := c.Start(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "start", got, checkpoint(1, 2))
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(checkpoint(1, 2))}))
	got, err = c.Start(ctx, ws)
	wantNoError(t, err)
	wantEqual(t, "start after burying", got, checkpoint(1, 3))
}

func testPage(t *testing.T, open Opener) {
	c := openFilled(t, open, 5)
	wantNoError(t, c.Append(t.Context(), checkpoint(2, 9)))
	wantNoError(t, c.Bury(t.Context(), workspaceID(1), []retake.Tombstone{newTombstone(checkpoint(1, 4))}))
	for _, x := range []struct {
		before int64
		limit  int
		want   []int64
	}{
		{0, 0, []int64{5, 3, 2, 1}}, {0, 2, []int64{5, 3}}, {3, 2, []int64{2, 1}}, {5, 1, []int64{3}},
		{100, -1, []int64{5, 3, 2, 1}}, {1, 0, nil}, {-1, 0, nil},
	} {
		got, err := c.Page(t.Context(), retake.LogQuery{Workspace: workspaceID(1), Before: x.before, Limit: x.limit})
		wantNoError(t, err)
		wantEqual(t, "page", checkpointNumbers(got), x.want)
	}
}

func testPageSince(t *testing.T, open Opener) {
	c := openFilled(t, open, 5)
	since := checkpoint(1, 3).Time
	late := checkpoint(1, 1000)
	late.Number, late.Time = 6, noon // a clock that went back
	wantNoError(t, c.Append(t.Context(), late))
	for _, x := range []struct {
		since  time.Time
		before int64
		limit  int
		want   []int64
	}{
		{since, 0, 0, []int64{5, 4, 3}}, {since.Add(time.Microsecond), 0, 0, []int64{5, 4}}, {since, 0, 2, []int64{5, 4}},
		{since, 5, 1, []int64{4}}, {since, 3, 0, nil}, {noon.Add(time.Hour), 0, 0, nil}, {noon, 0, 3, []int64{6, 5, 4}},
	} {
		q := retake.LogQuery{Workspace: workspaceID(1), Since: x.since, Before: x.before, Limit: x.limit}
		got, err := c.Page(t.Context(), q)
		wantNoError(t, err)
		wantEqual(t, "page", checkpointNumbers(got), x.want)
	}
}

// testPageSession: a session is named by the beginning of its id, as it is written, or by the
// name of its agent.
func testPageSession(t *testing.T, open Opener) {
	c := open(t, "a")
	ids := []string{"0f3a", "0f3b", "0F3A", "", "0f3a-2", "a\"<é\x00>", "0f3%", "0f3a"}
	for i, id := range ids {
		cp := checkpoint(1, i+1)
		cp.Intent = `{"session":"0f3a"}` // words are no session
		cp.Turn = &retake.Turn{Agent: "codex", Session: id, ID: "0f3a", Prompt: `"session":"0f3a"`}
		wantNoError(t, c.Append(t.Context(), cp))
	}
	nobodys, others := checkpoint(1, 9), checkpoint(1, 10)
	nobodys.Effects = []retake.Effect{{ID: "e1", Session: "0f3a"}}
	others.Turn, others.Effects = &retake.Turn{Agent: "claude-code", Session: "b"}, nobodys.Effects
	wantNoError(t, c.Append(t.Context(), nobodys))
	wantNoError(t, c.Append(t.Context(), others))
	elsewhere := checkpoint(2, 1)
	elsewhere.Turn = &retake.Turn{Session: "0f3a"}
	wantNoError(t, c.Append(t.Context(), elsewhere))
	wantNoError(t, c.Bury(t.Context(), workspaceID(1), []retake.Tombstone{newTombstone(checkpoint(1, 8))}))
	since := checkpoint(1, 2).Time
	for _, x := range []struct {
		q    retake.LogQuery
		want []int64
	}{
		{retake.LogQuery{Session: "0f3a"}, []int64{5, 1}}, {retake.LogQuery{Session: "0f3"}, []int64{7, 5, 2, 1}},
		{retake.LogQuery{Session: "0f3", Limit: 2}, []int64{7, 5}}, {retake.LogQuery{Session: "0f3", Limit: 2, Before: 7}, []int64{5, 2}},
		{retake.LogQuery{Session: "0f", Since: since, Limit: 9}, []int64{7, 5, 2}}, {retake.LogQuery{Session: "0f", Since: since, Limit: 1, Before: 5}, []int64{2}},
		{retake.LogQuery{Session: "codex"}, []int64{7, 6, 5, 4, 3, 2, 1}}, {retake.LogQuery{Session: "codex", Limit: 2, Before: 4}, []int64{3, 2}},
		{retake.LogQuery{Session: "code"}, nil}, {retake.LogQuery{Session: "claude"}, []int64{10}}, {retake.LogQuery{Session: "claude-code"}, []int64{10}}, {retake.LogQuery{Session: "Codex"}, nil},
		{retake.LogQuery{Session: "0f3%"}, []int64{7}}, {retake.LogQuery{Session: "0f3_"}, nil}, {retake.LogQuery{Session: "0f3a-22"}, nil},
		{retake.LogQuery{Session: "a\"<é\x00"}, []int64{6}}, {retake.LogQuery{Session: "a\"<\xc3"}, nil}, {retake.LogQuery{Session: `a"`, Limit: 1}, []int64{6}},
	} {
		x.q.Workspace = workspaceID(1)
		got, err := c.Page(t.Context(), x.q)
		wantNoError(t, err)
		wantEqual(t, "session "+x.q.Session, checkpointNumbers(got), x.want)
	}
}
