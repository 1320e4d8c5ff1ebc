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

// answer is answer n about a checkpoint, started n minutes after it, with
// something in every field.
func answer(cp retake.Checkpoint, n int) retake.Verification {
	return retake.Verification{
		ID: verificationID(int(cp.Number)*100 + n), Workspace: cp.Workspace, Checkpoint: cp.ID, Number: cp.Number, Content: cp.Content,
		Name: "test", Command: "make test", By: "retake", Claim: true, Where: retake.InFork, Verdict: retake.Failed, Why: "it's \"100%\"\n",
		Exit: 2, Started: cp.Time.Add(time.Duration(n) * time.Minute), Took: 1234567, Output: "not ok\n", Wrote: []string{"coverage/"},
	}
}

func answers(t *testing.T, c catalog.Catalog, q catalog.VerificationQuery) []retake.Verification {
	t.Helper()
	q.Workspace = workspaceID(1)
	all, err := c.Verifications(t.Context(), q)
	ok(t, err)
	return all
}

func bareAnswers(all ...retake.Verification) []retake.Verification {
	out := []retake.Verification{}
	for _, v := range all {
		v.Output = ""
		out = append(out, v)
	}
	return out
}

func putVerification(t *testing.T, open Opener) {
	c := filled(t, open, 1)
	ctx, cp := t.Context(), checkpoint(1, 1)
	running := answer(cp, 1)
	running.Verdict, running.Output, running.Content, running.Name = retake.Running, "…", "other", "later"
	running.Started = running.Started.Add(time.Hour)
	done := answer(cp, 1)
	ok(t, c.PutVerification(ctx, running))
	ok(t, c.PutVerification(ctx, done))
	ok(t, c.PutVerification(ctx, done))
	same(t, "answers", answers(t, c, catalog.VerificationQuery{Output: true}), []retake.Verification{done})
	same(t, "answers without outputs", answers(t, c, catalog.VerificationQuery{}), bareAnswers(done))
	same(t, "by the old name", answers(t, c, catalog.VerificationQuery{Name: "later"}), nil)
	same(t, "by the old content", answers(t, c, catalog.VerificationQuery{Contents: []retake.ContentID{"other"}}), nil)

	odd := answer(cp, 2)
	odd.Output = "\x00\xff\xfe " + strings.Repeat("é%", 1<<19)
	odd.Command = "printf '\x00%s\\n' \"$1\" -- 'é'"
	odd.Name = strings.Repeat("n", 10_000)
	ok(t, c.PutVerification(ctx, odd))
	same(t, "odd answer", answers(t, c, catalog.VerificationQuery{Output: true, Name: odd.Name, Command: odd.Command}), []retake.Verification{odd})
	silent := answer(cp, 3)
	silent.Output = ""
	ok(t, c.PutVerification(ctx, silent))
	same(t, "silent answer", answers(t, c, catalog.VerificationQuery{Output: true, Limit: 1}), []retake.Verification{silent})
}

// listVerifications: the last that was started comes first, the higher id of two.
func listVerifications(t *testing.T, open Opener) {
	c := filled(t, open, 3)
	ctx := t.Context()
	a, b := answer(checkpoint(1, 1), 9), answer(checkpoint(1, 2), 1)
	d, e := answer(checkpoint(1, 2), 5), answer(checkpoint(1, 3), 4)
	b.Name, b.Content = "lint", "c0de"
	d.Command, d.Content = "make lint", "c0de"
	for _, v := range []retake.Verification{d, a, e, b} {
		ok(t, c.PutVerification(ctx, v))
	}
	elsewhere := answer(checkpoint(2, 1), 1)
	ok(t, c.Append(ctx, checkpoint(2, 1)))
	ok(t, c.PutVerification(ctx, elsewhere))
	for _, x := range []struct {
		q    catalog.VerificationQuery
		want []retake.Verification
	}{
		{catalog.VerificationQuery{}, bareAnswers(a, e, d, b)}, // e and d were started at once
		{catalog.VerificationQuery{Limit: 2}, bareAnswers(a, e)},
		{catalog.VerificationQuery{Name: "test"}, bareAnswers(a, e, d)},
		{catalog.VerificationQuery{Name: "test", Command: "make test", Limit: 9}, bareAnswers(a, e)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0de"}}, bareAnswers(d, b)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0de", "c0ffee", "c0de", "x"}, Limit: 3}, bareAnswers(a, e, d)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0de"}, Name: "lint"}, bareAnswers(b)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{}, Limit: -1}, bareAnswers(a, e, d, b)},
		{catalog.VerificationQuery{Contents: []retake.ContentID{"c0d_", "%"}}, nil},
		{catalog.VerificationQuery{Name: "TEST"}, nil}, {catalog.VerificationQuery{Command: "make%"}, nil},
	} {
		same(t, fmt.Sprintf("answers of %+v", x.q), answers(t, c, x.q), x.want)
	}
}

// verificationFirst: an answer may come before its checkpoint, and shows when
// that lives.
func verificationFirst(t *testing.T, open Opener) {
	c := open(t, "a")
	ctx, one, two := t.Context(), checkpoint(1, 1), checkpoint(1, 2)
	ok(t, c.PutVerification(ctx, answer(one, 1)))
	ok(t, c.PutVerification(ctx, answer(two, 1)))
	same(t, "answers about nothing", answers(t, c, catalog.VerificationQuery{}), nil)
	ok(t, c.Append(ctx, one))
	same(t, "answers", answers(t, c, catalog.VerificationQuery{}), bareAnswers(answer(one, 1)))
	ok(t, c.Bury(ctx, two.Workspace, []retake.Tombstone{stone(two)}))
	ok(t, c.Append(ctx, two))
	same(t, "answers", answers(t, c, catalog.VerificationQuery{Contents: []retake.ContentID{one.Content}}), bareAnswers(answer(one, 1)))
}

// verificationNotices: one for each answer that is another than before, and none while
// a command runs.
func verificationNotices(t *testing.T, open Opener) {
	c := filled(t, open, 2)
	ctx, one, two := t.Context(), checkpoint(1, 1), checkpoint(1, 2)
	held := topics(t, c)
	put := func(v retake.Verification, more ...string) {
		t.Helper()
		ok(t, c.PutVerification(ctx, v))
		held = append(held, more...)
		same(t, "notices", topics(t, c), held)
	}
	v := answer(one, 1)
	v.Verdict = retake.Running
	put(v)
	v.Verdict = retake.Passed
	put(v, verifiedNotice(1001))
	put(v)
	v.Output += "ÿ"
	put(v, verifiedNotice(1001))
	put(v)
	put(answer(two, 1), verifiedNotice(1002))
	all, err := c.Pending(ctx, 0)
	ok(t, err)
	last := all[len(all)-1]
	same(t, "last notice", last, catalog.Notice{
		ID: last.ID, Topic: "checkpoint.verified", Workspace: two.Workspace, Checkpoint: two.ID,
		Time: answer(two, 1).Started.Truncate(time.Microsecond),
	})
	ok(t, c.Bury(ctx, one.Workspace, []retake.Tombstone{stone(one)}))
	held = append(held, forgottenNotice(1001))
	put(v)
}

// manyContents: thousands of contents are one question.
func manyContents(t *testing.T, open Opener) {
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
		ok(t, c.Append(ctx, cp))
		ok(t, c.PutVerification(ctx, answer(cp, 1)))
		want = append(bareAnswers(answer(cp, 1)), want...)
	}
	same(t, "all", answers(t, c, catalog.VerificationQuery{Contents: asked}), want)
	same(t, "asked twice", answers(t, c, catalog.VerificationQuery{Contents: append(asked, asked...)}), want)
	same(t, "some", answers(t, c, catalog.VerificationQuery{Contents: asked, Limit: 7}), want[:7])
}

func withContent(t *testing.T, open Opener) {
	c := filled(t, open, 4)
	ctx, ws := t.Context(), workspaceID(1)
	other := checkpoint(1, 5)
	other.Content = "c0ffe"
	ok(t, c.Append(ctx, other))
	ok(t, c.Append(ctx, checkpoint(2, 7)))
	ok(t, c.Bury(ctx, ws, []retake.Tombstone{stone(checkpoint(1, 3))}))
	for content, want := range map[retake.ContentID][]int64{"c0ffee": {4, 2, 1}, "c0ffe": {5}, "c0f%": nil, "": nil} {
		got, err := c.WithContent(ctx, ws, content)
		ok(t, err)
		same(t, "content "+string(content), numbers(got), want)
	}
}
