package verify_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/verify"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// checkpoint is a checkpoint of that number and content.
func checkpoint(number int64, content string) retake.Checkpoint {
	return retake.Checkpoint{
		ID: retake.CheckpointID(string(rune('a' + number))), Number: number, Content: retake.ContentID(content),
		Coverage: retake.Coverage{Grade: retake.Complete},
	}
}

// said is an answer about a checkpoint, so many minutes after noon.
func said(cp retake.Checkpoint, minute int, verdict retake.Verdict, change ...func(*retake.Verification)) retake.Verification {
	v := retake.Verification{
		Checkpoint: cp.ID, Number: cp.Number, Content: cp.Content, Name: "test", Command: "npm test", By: "retake", Where: retake.OnLive,
		Verdict: verdict, Started: noon.Add(time.Duration(minute) * time.Minute),
	}
	for _, c := range change {
		c(&v)
	}
	return v
}

func claimed(v *retake.Verification)   { v.Claim, v.By = true, "claude-code" }
func elsewhere(v *retake.Verification) { v.Where = retake.Elsewhere }
func inFork(v *retake.Verification)    { v.Where = retake.InFork }
func withName(name, command string) func(*retake.Verification) {
	return func(v *retake.Verification) { v.Name, v.Command = name, command }
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	m10, m11, m12, m14 := checkpoint(10, "A"), checkpoint(11, "B"), checkpoint(12, "C"), checkpoint(14, "B")
	test := func(a retake.Answer) []retake.Answer {
		a.Name = "test"
		return []retake.Answer{a}
	}
	for name, c := range map[string]struct {
		cp     retake.Checkpoint
		before *retake.Checkpoint
		all    []retake.Verification
		want   []retake.Answer
	}{
		"none":                          {m14, &m12, nil, []retake.Answer{}},
		"of others":                     {m14, &m12, []retake.Verification{said(m10, 1, retake.Passed)}, []retake.Answer{}},
		"its own":                       {m14, nil, []retake.Verification{said(m14, 1, retake.Passed)}, test(retake.Answer{Verdict: retake.Passed})},
		"by equal content":              {m14, nil, []retake.Verification{said(m11, 1, retake.Passed)}, test(retake.Answer{Verdict: retake.Passed, As: 11})},
		"the newest":                    {m14, nil, []retake.Verification{said(m14, 1, retake.Failed), said(m14, 3, retake.Passed), said(m14, 2, retake.Failed)}, test(retake.Answer{Verdict: retake.Passed})},
		"V2 asked itself, others later": {m14, nil, []retake.Verification{said(m14, 1, retake.Passed), said(m11, 2, retake.Failed)}, test(retake.Answer{Verdict: retake.Passed})},
		"V2 at another path, others":    {m14, nil, []retake.Verification{said(m14, 1, retake.Passed, elsewhere), said(m11, 2, retake.Failed)}, test(retake.Answer{Verdict: retake.Passed})},
		"V2 another failed before it":   {m14, &m11, []retake.Verification{said(m11, 1, retake.Failed), said(m14, 2, retake.Passed)}, test(retake.Answer{Verdict: retake.Passed, Was: retake.Failed})},
		"the same, asked here before":   {m14, nil, []retake.Verification{said(m14, 1, retake.Passed), said(m11, 2, retake.Passed)}, test(retake.Answer{Verdict: retake.Passed})},
		"the same, only claimed here":   {m14, nil, []retake.Verification{said(m14, 1, retake.Passed, claimed), said(m11, 2, retake.Passed)}, test(retake.Answer{Verdict: retake.Passed, As: 11})},
		"a claim alone":                 {m14, nil, []retake.Verification{said(m14, 1, retake.Passed, claimed)}, test(retake.Answer{Verdict: retake.Passed, Claim: true})},
		"a claim after a run":           {m14, nil, []retake.Verification{said(m14, 1, retake.Failed), said(m14, 2, retake.Passed, claimed)}, test(retake.Answer{Verdict: retake.Failed})},
		"could not run, after a pass":   {m14, nil, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.CouldNotRun)}, test(retake.Answer{Verdict: retake.Passed})},
		"files changed, after a fail":   {m14, nil, []retake.Verification{said(m11, 1, retake.Failed), said(m14, 2, retake.RanOnOther)}, test(retake.Answer{Verdict: retake.Failed, As: 11})},
		"could not run, nothing else":   {m14, nil, []retake.Verification{said(m14, 1, retake.CouldNotRun)}, test(retake.Answer{Verdict: retake.CouldNotRun})},
		"could not run, and a claim":    {m14, nil, []retake.Verification{said(m14, 1, retake.Passed, claimed), said(m14, 2, retake.CouldNotRun)}, test(retake.Answer{Verdict: retake.Passed, Claim: true})},
		"at another path":               {m14, nil, []retake.Verification{said(m14, 1, retake.Passed, elsewhere)}, test(retake.Answer{Verdict: retake.Passed})},
		"at another path, after a run":  {m14, nil, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.Failed, elsewhere)}, test(retake.Answer{Verdict: retake.Passed})},
		"at another path, and a claim":  {m14, nil, []retake.Verification{said(m14, 1, retake.Failed, elsewhere), said(m14, 2, retake.Passed, claimed)}, test(retake.Answer{Verdict: retake.Failed})},
		"it failed before":              {m14, &m12, []retake.Verification{said(m12, 1, retake.Failed), said(m14, 2, retake.Passed)}, test(retake.Answer{Verdict: retake.Passed, Was: retake.Failed})},
		"it passed before":              {m14, &m12, []retake.Verification{said(m12, 1, retake.Passed), said(m14, 2, retake.Passed)}, test(retake.Answer{Verdict: retake.Passed})},
		"a claim before is not seen":    {m14, &m12, []retake.Verification{said(m12, 1, retake.Passed, claimed), said(m14, 2, retake.Failed)}, test(retake.Answer{Verdict: retake.Failed})},
		"nothing was seen before":       {m14, &m12, []retake.Verification{said(m12, 1, retake.CouldNotRun), said(m14, 2, retake.Failed)}, test(retake.Answer{Verdict: retake.Failed})},
		"by name": {m14, &m12, []retake.Verification{said(m14, 1, retake.Passed, withName("lint", "npm run lint")), said(m14, 2, retake.Failed), said(m11, 3, retake.Passed, withName("build", "make"))},
			[]retake.Answer{{Name: "build", Verdict: retake.Passed, As: 11}, {Name: "lint", Verdict: retake.Passed}, {Name: "test", Verdict: retake.Failed}}},
	} {
		if diff := cmp.Diff(c.want, verify.Answers(c.cp, c.before, c.all)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestGood(t *testing.T) {
	t.Parallel()
	m11, m14 := checkpoint(11, "B"), checkpoint(14, "B")
	partial := checkpoint(14, "B")
	partial.Coverage.Grade = retake.Partial
	test, lint := retake.Standing{Name: "test", Command: "npm test"}, retake.Standing{Name: "lint", Command: "npm run lint"}
	asLint := withName("lint", "npm run lint")
	for name, c := range map[string]struct {
		cp       retake.Checkpoint
		all      []retake.Verification
		standing []retake.Standing
		want     bool
	}{
		"nothing is known":                 {m14, nil, nil, false},
		"it passed":                        {m14, []retake.Verification{said(m14, 1, retake.Passed)}, nil, true},
		"it passed in a fork":              {m14, []retake.Verification{said(m14, 1, retake.Passed, inFork)}, nil, true},
		"by equal content":                 {m14, []retake.Verification{said(m11, 1, retake.Passed)}, nil, true},
		"of other content":                 {m14, []retake.Verification{said(checkpoint(13, "X"), 1, retake.Passed)}, nil, false},
		"partial":                          {partial, []retake.Verification{said(m14, 1, retake.Passed)}, nil, false},
		"a claim":                          {m14, []retake.Verification{said(m14, 1, retake.Passed, claimed)}, nil, false},
		"at another path":                  {m14, []retake.Verification{said(m14, 1, retake.Passed, elsewhere)}, nil, false},
		"could not run":                    {m14, []retake.Verification{said(m14, 1, retake.CouldNotRun)}, nil, false},
		"it passed, then failed":           {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.Failed)}, nil, false},
		"V2 it passed, failed at another":  {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m11, 2, retake.Failed)}, nil, true},
		"V2 never asked, failed last":      {m14, []retake.Verification{said(m11, 1, retake.Passed), said(m11, 2, retake.Failed)}, nil, false},
		"V2 failed here, passed at others": {m14, []retake.Verification{said(m14, 1, retake.Failed), said(m11, 2, retake.Passed)}, nil, false},
		"it failed, then passed":           {m14, []retake.Verification{said(m14, 1, retake.Failed), said(m14, 2, retake.Passed)}, nil, true},
		"another one failed":               {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.Failed, asLint)}, nil, false},
		"it failed at another path":        {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.Failed, elsewhere)}, nil, true},
		"standing, passed":                 {m14, []retake.Verification{said(m14, 1, retake.Passed)}, []retake.Standing{test}, true},
		"standing, one is missing":         {m14, []retake.Verification{said(m14, 1, retake.Passed)}, []retake.Standing{test, lint}, false},
		"standing, both":                   {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m11, 2, retake.Passed, asLint)}, []retake.Standing{test, lint}, true},
		"standing, another failed":         {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.Failed, asLint)}, []retake.Standing{test}, true},
		"standing, another command":        {m14, []retake.Verification{said(m14, 1, retake.Passed, withName("test", "true"))}, []retake.Standing{test}, false},
		"standing, another command failed": {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.Failed, withName("test", "false"))}, []retake.Standing{test}, true},
		"standing, it failed last":         {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.Failed)}, []retake.Standing{test}, false},
		"standing, could not run last":     {m14, []retake.Verification{said(m14, 1, retake.Passed), said(m14, 2, retake.CouldNotRun)}, []retake.Standing{test}, true},
	} {
		if got := verify.IsGood(c.cp, c.all, c.standing); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Whatever the order in which answers are listed, they say the same.
func TestOrderOfAnswersDoesNotMatter(t *testing.T) {
	t.Parallel()
	checkpoints := []retake.Checkpoint{checkpoint(10, "A"), checkpoint(11, "B"), checkpoint(12, "C"), checkpoint(14, "B")}
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) retake.Verification {
			v := said(rapid.SampledFrom(checkpoints).Draw(t, "at"), rapid.IntRange(0, 5).Draw(t, "minute"),
				rapid.SampledFrom([]retake.Verdict{retake.Passed, retake.Failed, retake.CouldNotRun, retake.RanOnOther}).Draw(t, "verdict"))
			v.ID = retake.VerificationID(rapid.StringMatching(`vf_[a-z]{8}`).Draw(t, "id"))
			v.Claim = rapid.Bool().Draw(t, "claim")
			v.Where = rapid.SampledFrom([]retake.Where{retake.OnLive, retake.InFork, retake.Elsewhere}).Draw(t, "where")
			return v
		}), 0, 12).Draw(t, "all")
		other := rapid.Permutation(all).Draw(t, "other")
		cp, before := checkpoints[3], &checkpoints[2]
		if diff := cmp.Diff(verify.Answers(cp, before, all), verify.Answers(cp, before, other)); diff != "" {
			t.Fatal(diff)
		}
		if verify.IsGood(cp, all, nil) != verify.IsGood(cp, other, nil) {
			t.Fatal("good depends on the order")
		}
		if verify.IsGood(cp, all, nil) {
			for _, a := range verify.Answers(cp, before, all) {
				if a.Verdict != retake.Passed || a.Claim {
					t.Fatalf("good, and %+v", a)
				}
			}
		}
	})
}
