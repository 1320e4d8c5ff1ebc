package servicetest

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// verifyings are what every assembly must remember of verifications.
var verifyings = map[string]func(*testing.T, *bench){
	"GoodIsFound":        goodIsFound,
	"GoodIsTold":         goodIsTold,
	"EqualInherits":      equalInherits,
	"CouldNotRunIsNone":  couldNotRunIsNone,
	"ChangedMeanwhile":   changedMeanwhile,
	"ClaimIsAClaim":      claimIsAClaim,
	"ElsewhereIsNotGood": elsewhereIsNotGood,
	"ScoreIsKept":        scoreIsKept,
	"LatestWins":         latestWins,
	"RebuildKeepsGood":   rebuildKeepsGood,
	"ForgetHandsOver":    forgetHandsOver,
	"V2OwnAnswerStays":   ownAnswerStays,
}

// attest records an answer about a checkpoint, as if it had been asked in a fork.
func (b *bench) attest(ref string, exit int, change func(*retake.Attestation)) retake.Verification {
	b.Helper()
	a := retake.Attestation{Workspace: b.ws.ID, Ref: ref, Command: "npm test", Where: retake.InFork, Exit: exit, Started: clock.Wall.Now(), Took: time.Second, Output: "the end"}
	if change != nil {
		change(&a)
	}
	v, err := b.s.Attest(b.ctx(), a)
	b.must(err)
	return v
}

func (b *bench) good() int64 {
	b.Helper()
	cp, err := b.s.Find(b.ctx(), b.ws.ID, "good")
	if retake.IsKind(err, retake.NotFound) {
		return 0
	}
	b.must(err)
	return cp.Number
}

func (b *bench) answers(number int64) []retake.Answer {
	b.Helper()
	tl := b.log()
	for _, cp := range tl.Checkpoints {
		if cp.Number == number {
			return tl.Findings[cp.ID].Answers
		}
	}
	b.Fatalf("there is no checkpoint %d", number)
	return nil
}

// three makes checkpoints 1 to 3, each with other content.
func (b *bench) three() {
	b.write("a.go", "1\n")
	b.init()
	b.write("a.go", "2\n")
	b.save("")
	b.write("a.go", "3\n")
	b.save("")
}

// What a runner counted stands with its answer; a claim has no score, and neither has what
// could not run.
func scoreIsKept(t *testing.T, b *bench) {
	b.three()
	const said = "Tests:       14 failed, 198 passed, 212 total\n"
	b.attest("3", 1, func(a *retake.Attestation) { a.Name, a.Output = "jest", said })
	b.attest("3", 127, func(a *retake.Attestation) { a.Name, a.Output = "missing", said })
	b.attest("3", 1, func(a *retake.Attestation) { a.Name, a.Output, a.Claim, a.By = "claim", said, true, "codex" })
	b.attest("3", 0, func(a *retake.Attestation) { a.Name = "plain" })
	all, err := b.s.Verifications(b.ctx(), retake.VerificationQuery{Workspace: b.ws.ID, Ref: "3"})
	b.must(err)
	got := map[string]string{}
	for _, v := range all {
		got[v.Name] = v.Score
	}
	if d := cmp.Diff(map[string]string{"jest": "14 of 212 failed", "missing": "", "claim": "", "plain": ""}, got); d != "" {
		t.Error(d)
	}
}

// good is the newest checkpoint that passed; one that fails after it is not.
func goodIsFound(t *testing.T, b *bench) {
	b.three()
	if n := b.good(); n != 0 {
		t.Errorf("good is %d before anything was asked", n)
	}
	v := b.attest("2", 0, nil)
	if v.Verdict != retake.Passed || v.Name != "test" || v.Number != 2 || v.By != "retake" {
		t.Errorf("recorded %+v", v)
	}
	b.attest("3", 1, nil)
	if n := b.good(); n != 2 {
		t.Errorf("good is %d, want 2", n)
	}
	if cp, err := b.s.Find(b.ctx(), b.ws.ID, "good:test"); err != nil || cp.Number != 2 {
		t.Errorf("good:test is %d, %v", cp.Number, err)
	}
	_, err := b.s.Find(b.ctx(), b.ws.ID, "good:lint")
	wantKind(t, err, retake.NotFound)
	if got := b.answers(3); len(got) != 1 || got[0].Verdict != retake.Failed || got[0].Was != retake.Passed {
		t.Errorf("checkpoint 3 says %+v", got)
	}
}

// The log and the status tell which one is good.
func goodIsTold(t *testing.T, b *bench) {
	b.three()
	b.attest("2", 0, nil)
	b.attest("3", 1, nil)
	tl, err := b.s.Log(b.ctx(), retake.LogQuery{Workspace: b.ws.ID, Good: true})
	b.must(err)
	if len(tl.Checkpoints) != 1 || tl.Checkpoints[0].Number != 2 || tl.Good == nil || tl.Good.Number != 2 {
		t.Errorf("the good ones are %+v", tl.Checkpoints)
	}
	st, err := b.s.Status(b.ctx(), b.ws.ID)
	b.must(err)
	if st.Good == nil || st.Good.Number != 2 || len(st.Answers) != 1 {
		t.Errorf("status says good is %+v, %+v", st.Good, st.Answers)
	}
}

// A checkpoint that was never asked shows the answer of an equal one, and says whose it is.
func equalInherits(t *testing.T, b *bench) {
	b.three()
	b.attest("1", 0, nil)
	b.write("a.go", "1\n")
	b.save("as it was")
	if n := b.good(); n != 4 {
		t.Errorf("good is %d, want 4", n)
	}
	if got := b.answers(4); len(got) != 1 || got[0].As != 1 || got[0].Verdict != retake.Passed {
		t.Errorf("checkpoint 4 says %+v", got)
	}
	list, err := b.s.Verifications(b.ctx(), retake.VerificationQuery{Workspace: b.ws.ID, Ref: "4"})
	b.must(err)
	if len(list) != 1 || list[0].Number != 1 || list[0].Output != "the end" {
		t.Errorf("about 4: %+v", list)
	}
}

func couldNotRunIsNone(t *testing.T, b *bench) {
	b.three()
	b.attest("2", 0, nil)
	for _, exit := range []int{126, 127} {
		if v := b.attest("2", exit, nil); v.Verdict != retake.CouldNotRun {
			t.Errorf("exit %d is %s", exit, v.Verdict)
		}
	}
	b.attest("2", 0, func(a *retake.Attestation) { a.Verdict, a.Why = retake.CouldNotRun, "took longer than 10 min" })
	if n := b.good(); n != 2 {
		t.Errorf("what could not run took the pass away: good is %d", n)
	}
	b.attest("3", 127, nil)
	if got := b.answers(3); len(got) != 1 || got[0].Verdict != retake.CouldNotRun {
		t.Errorf("checkpoint 3 says %+v", got)
	}
}

// An answer on live files that changed meanwhile is about neither; what programs leave
// behind is no change.
func changedMeanwhile(t *testing.T, b *bench) {
	b.three()
	live := func(a *retake.Attestation) { a.Where = retake.OnLive }
	b.write("node_modules/.cache/x", "by-product")
	b.write("__pycache__/a.pyc", "by-product")
	v := b.attest("3", 0, live)
	if v.Verdict != retake.Passed || len(v.Wrote) == 0 {
		t.Errorf("by-products make it %s, wrote %v", v.Verdict, v.Wrote)
	}
	b.write("a.go", "4\n")
	if v := b.attest("3", 0, live); v.Verdict != retake.RanOnOther || v.Why == "" {
		t.Errorf("on changed files it is %s %q", v.Verdict, v.Why)
	}
	if n := b.good(); n != 3 {
		t.Errorf("good is %d, want 3", n)
	}
}

// What an agent says is shown as what it is, and makes nothing good.
func claimIsAClaim(t *testing.T, b *bench) {
	b.three()
	b.attest("3", 0, func(a *retake.Attestation) { a.Claim, a.By, a.Name, a.Command = true, "claude-code", "test", "" })
	if got := b.answers(3); len(got) != 1 || !got[0].Claim || got[0].Verdict != retake.Passed {
		t.Errorf("checkpoint 3 says %+v", got)
	}
	if n := b.good(); n != 0 {
		t.Errorf("a claim made %d good", n)
	}
	b.attest("3", 1, nil)
	if got := b.answers(3); len(got) != 1 || got[0].Claim || got[0].Verdict != retake.Failed {
		t.Errorf("with an answer, checkpoint 3 says %+v", got)
	}
}

func elsewhereIsNotGood(t *testing.T, b *bench) {
	b.three()
	b.attest("2", 0, func(a *retake.Attestation) { a.Where = retake.Elsewhere })
	if n := b.good(); n != 0 {
		t.Errorf("what ran at another path made %d good", n)
	}
}

func latestWins(t *testing.T, b *bench) {
	b.three()
	b.attest("2", 0, nil)
	b.attest("2", 1, nil)
	if n := b.good(); n != 0 {
		t.Errorf("good is %d though it failed since", n)
	}
	b.attest("2", 0, nil)
	if n := b.good(); n != 2 {
		t.Errorf("good is %d though it passed since", n)
	}
}

// The store alone knows which checkpoint is good.
func rebuildKeepsGood(t *testing.T, b *bench) {
	b.three()
	b.attest("2", 0, nil)
	b.attest("3", 1, nil)
	before, err := b.s.Verifications(b.ctx(), retake.VerificationQuery{Workspace: b.ws.ID})
	b.must(err)
	_, err = b.s.Rebuild(b.ctx())
	b.must(err)
	after, err := b.s.Verifications(b.ctx(), retake.VerificationQuery{Workspace: b.ws.ID})
	b.must(err)
	same := func(x, y retake.Verification) bool {
		return x.ID == y.ID && x.Verdict == y.Verdict && x.Started.Equal(y.Started)
	}
	if !slices.EqualFunc(before, after, same) || b.good() != 2 {
		t.Errorf("good is %d; %d answers before, %d after", b.good(), len(before), len(after))
	}
}

// When the checkpoint that was asked is forgotten, equal ones keep its answer.
func forgetHandsOver(t *testing.T, b *bench) {
	b.three()
	b.attest("1", 0, nil)
	b.write("a.go", "1\n")
	b.save("as it was")
	_, err := b.s.Forget(b.ctx(), b.ws.ID, []string{"1"})
	b.must(err)
	if n := b.good(); n != 4 {
		t.Errorf("good is %d after the one that was asked is gone", n)
	}
	_, err = b.s.Rebuild(b.ctx())
	b.must(err)
	if n := b.good(); n != 4 {
		t.Errorf("rebuilt, good is %d", n)
	}
}

// A later run on equal files, at another checkpoint, rewrites no answer, and neither does its
// end: not while both are listed, and not when the later one is forgotten.
func ownAnswerStays(t *testing.T, b *bench) {
	b.three()
	b.write("a.go", "1\n")
	b.save("as it was")
	b.attest("1", 0, nil)
	b.attest("4", 1, nil)
	own := func(when string) {
		t.Helper()
		if got := b.answers(1); len(got) != 1 || got[0].Verdict != retake.Passed || got[0].As != 0 {
			t.Errorf("%s, checkpoint 1 says %+v", when, got)
		}
		if n := b.good(); n != 1 {
			t.Errorf("%s, good is %d, want 1", when, n)
		}
	}
	own("asked again at 4")
	if got := b.answers(4); len(got) != 1 || got[0].Verdict != retake.Failed || got[0].As != 0 {
		t.Errorf("checkpoint 4 says %+v", got)
	}
	b.write("a.go", "5\n")
	b.save("the newest stays")
	_, err := b.s.Forget(b.ctx(), b.ws.ID, []string{"4"})
	b.must(err)
	own("with 4 forgotten")
	_, err = b.s.Rebuild(b.ctx())
	b.must(err)
	own("rebuilt")
}
