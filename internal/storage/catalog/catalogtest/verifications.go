package catalogtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

func verificationID(n int) retake.VerificationID {
	return retake.VerificationID(fmt.Sprintf("vf_%08x-0000-7000-8000-%012x", n, n))
}

// newVerification is answer n about a checkpoint, started n minutes after it, with
// something in every field.
func newVerification(cp retake.Checkpoint, n int) retake.Verification {
	return retake.Verification{
		ID: verificationID(int(cp.Number)*100 + n), Workspace: cp.Workspace, Checkpoint: cp.ID, Number: cp.Number, Content: cp.Content,
		Name: "test", Command: "make test", By: "retake", Claim: true, Where: retake.InFork, Verdict: retake.Failed, Why: "it's \"100%\"\n",
		Exit: 2, Started: cp.Time.Add(time.Duration(n) * time.Minute), Took: 1234567, Output: "not ok\n", Wrote: []string{"coverage/"},
	}
}

func listAnswers(t *testing.T, c catalog.Catalog, q catalog.VerificationQuery) []retake.Verification {
	t.Helper()
	q.Workspace = workspaceID(1)
	all, err := c.Verifications(t.Context(), q)
	wantNoError(t, err)
	return all
}

func withoutOutput(all ...retake.Verification) []retake.Verification {
	out := []retake.Verification{}
	for _, v := range all {
		v.Output = ""
		out = append(out, v)
	}
	return out
}

func testPutVerification(t *testing.T, open Opener) {
	c := openFilled(t, open, 1)
	ctx, cp := t.Context(), checkpoint(1, 1)
	running := newVerification(cp, 1)
	running.Verdict, running.Output, running.Content, running.Name = retake.Running, "…", "other", "later"
	running.Started = running.Started.Add(time.Hour)
	done := newVerification(cp, 1)
	wantNoError(t, c.PutVerification(ctx, running))
	wantNoError(t, c.PutVerification(ctx, done))
	wantNoError(t, c.PutVerification(ctx, done))
	wantEqual(t, "answers", listAnswers(t, c, catalog.VerificationQuery{Output: true}), []retake.Verification{done})
	wantEqual(t, "answers without outputs", listAnswers(t, c, catalog.VerificationQuery{}), withoutOutput(done))
	wantEqual(t, "by the old name", listAnswers(t, c, catalog.VerificationQuery{Name: "later"}), nil)
	wantEqual(t, "by the old content", listAnswers(t, c, catalog.VerificationQuery{Contents: []retake.ContentID{"other"}}), nil)

	odd := newVerification(cp, 2)
	odd.Output = "\x00\xff\xfe " + strings.Repeat("é%", 1<<19)
	odd.Command = "printf '\x00%s\\n' \"$1\" -- 'é'"
	odd.Name = strings.Repeat("n", 10_000)
	wantNoError(t, c.PutVerification(ctx, odd))
	wantEqual(t, "odd answer", listAnswers(t, c, catalog.VerificationQuery{Output: true, Name: odd.Name, Command: odd.Command}), []retake.Verification{odd})
	silent := newVerification(cp, 3)
	silent.Output = ""
	wantNoError(t, c.PutVerification(ctx, silent))
	wantEqual(t, "silent answer", listAnswers(t, c, catalog.VerificationQuery{Output: true, Limit: 1}), []retake.Verification{silent})
}

// testListVerifications: the last that was started comes first, the higher id of two.
func testListVerifications(t *testing.T, open Opener) {
	c := openFilled(t, open, 3)
	ctx := t.Context()
	a, b := newVerification(checkpoint(1, 1), 9), newVerification(checkpoint(1, 2), 1)
	d, e := newVerification(checkpoint(1, 2), 5), newVerification(checkpoint(1, 3), 4)
	b.Name, b.Content = "lint", "c0de"
	d.Command, d.Content = "make lint", "c0de"
	for _, v := range []retake.Verification{d, a, e, b} {
		wantNoError(t, c.PutVerification(ctx, v))
	}
	elsewhere := newVerification(checkpoint(2, 1), 1)
	wantNoError(t, c.Append(ctx, checkpoint(2, 1)))
	wantNoError(t, c.PutVerification(ctx, elsewhere))
	for _, x := range []struct {
		q    catalog.VerificationQuery
		want []retake.Verification
	}{
		{catalog.VerificationQuery{}, withoutOutput(a, e, d, b)}, // e and d were started at once
		{catalog.VerificationQuery{Limit: 2}, withoutOutput(a, e)},
		{catalog.VerificationQuery{Name: "test"}, withoutOutput(a, e, d)},
		{catalog.VerificationQuery{Name: "test", Command: "make test", Limit: 9}, withoutOutput(a, e)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0de"}}, withoutOutput(d, b)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0de", "c0ffee", "c0de", "x"}, Limit: 3}, withoutOutput(a, e, d)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0de"}, Name: "lint"}, withoutOutput(b)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{}, Limit: -1}, withoutOutput(a, e, d, b)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0d_", "%"}}, nil},
		{catalog.VerificationQuery{Name: "TEST"}, nil}, {catalog.VerificationQuery{Command: "make%"}, nil},
	} {
		wantEqual(t, fmt.Sprintf("answers of %+v", x.q), listAnswers(t, c, x.q), x.want)
	}
}

// testVerificationFirst: an answer may come before its checkpoint, and shows when
// that lives.
func testVerificationFirst(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, one, two := t.Context(), checkpoint(1, 1), checkpoint(1, 2)
	wantNoError(t, c.PutVerification(ctx, newVerification(one, 1)))
	wantNoError(t, c.PutVerification(ctx, newVerification(two, 1)))
	wantEqual(t, "answers about nothing", listAnswers(t, c, catalog.VerificationQuery{}), nil)
	wantNoError(t, c.Append(ctx, one))
	wantEqual(t, "answers", listAnswers(t, c, catalog.VerificationQuery{}), withoutOutput(newVerification(one, 1)))
	wantNoError(t, c.Bury(ctx, two.Workspace, []retake.Tombstone{newTombstone(two)}))
	wantNoError(t, c.Append(ctx, two))
	wantEqual(t, "answers", listAnswers(t, c, catalog.VerificationQuery{Contents: []retake.ContentID{one.Content}}), withoutOutput(newVerification(one, 1)))
}

// testVerificationNotices: one for each answer that is another than before, and none while
// a command runs.
func testVerificationNotices(t *testing.T, open Opener) {
	c := openFilled(t, open, 2)
	ctx, one, two := t.Context(), checkpoint(1, 1), checkpoint(1, 2)
	held := pendingTopics(t, c)
	put := func(v retake.Verification, more ...string) {
		t.Helper()
		wantNoError(t, c.PutVerification(ctx, v))
		held = append(held, more...)
		wantEqual(t, "notices", pendingTopics(t, c), held)
	}
	v := newVerification(one, 1)
	v.Verdict = retake.Running
	put(v)
	v.Verdict = retake.Passed
	put(v, verifiedNotice(1001))
	put(v)
	v.Output += "ÿ"
	put(v, verifiedNotice(1001))
	put(v)
	put(newVerification(two, 1), verifiedNotice(1002))
	all, err := c.Pending(ctx, 0)
	wantNoError(t, err)
	last := all[len(all)-1]
	wantEqual(t, "last notice", last, catalog.Notice{
		ID: last.ID, Topic: "checkpoint.verified", Workspace: two.Workspace, Checkpoint: two.ID,
		Time: newVerification(two, 1).Started.Truncate(time.Microsecond),
	})
	wantNoError(t, c.Bury(ctx, one.Workspace, []retake.Tombstone{newTombstone(one)}))
	held = append(held, forgottenNotice(1001))
	put(v)
}

// testManyContents: thousands of contents are one question.
func testManyContents(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx := t.Context()
	var asked []retake.ContentID
	var want []retake.Verification
	for i := range 3000 {
		asked = append(asked, retake.ContentID(fmt.Sprintf("%08x", i)))
	}
	for n := 1; n <= 30; n++ {
		cp := checkpoint(1, n)
		cp.Content = asked[(n*1709)%len(asked)] // far from each other, in no order
		wantNoError(t, c.Append(ctx, cp))
		wantNoError(t, c.PutVerification(ctx, newVerification(cp, 1)))
		want = append(withoutOutput(newVerification(cp, 1)), want...)
	}
	wantEqual(t, "all", listAnswers(t, c, catalog.VerificationQuery{Contents: asked}), want)
	wantEqual(t, "asked twice", listAnswers(t, c, catalog.VerificationQuery{Contents: append(asked, asked...)}), want)
	wantEqual(t, "some", listAnswers(t, c, catalog.VerificationQuery{Contents: asked, Limit: 7}), want[:7])
}

func testWithContent(t *testing.T, open Opener) {
	c := openFilled(t, open, 4)
	ctx, ws := t.Context(), workspaceID(1)
	other := checkpoint(1, 5)
	other.Content = "c0ffe"
	wantNoError(t, c.Append(ctx, other))
	wantNoError(t, c.Append(ctx, checkpoint(2, 7)))
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(checkpoint(1, 3))}))
	for content, want := range map[retake.ContentID][]int64{"c0ffee": {4, 2, 1}, "c0ffe": {5}, "c0f%": nil, "": nil} {
		got, err := c.WithContent(ctx, ws, content)
		wantNoError(t, err)
		wantEqual(t, "content "+string(content), checkpointNumbers(got), want)
	}
}
