package catalogtest

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// notesFor is what is known of a checkpoint, with something in every field.
func notesFor(cp retake.Checkpoint) catalog.Notes {
	return catalog.Notes{
		Workspace: cp.Workspace, Checkpoint: cp.ID,
		Gist: retake.Gist{
			V: 2, Lead: "npm +12", Counts: retake.StoryCounts{Added: 1, Deleted: 2, Plus: 3, Minus: 4}, Unread: 5, Moving: true,
			Points: []retake.Point{{Theme: retake.ThemePackages, Text: "npm +12 packages", Plus: 6, Minus: 7}},
			Flags:  []retake.Flag{{Kind: "mismatch", Why: "says docs, changed settings"}},
			Head:   "abc1234def",
		},
		Facts: []retake.Fact{{
			Kind: retake.FactPackage, What: retake.Added, Group: "npm", Name: "lodash", Before: "1", After: "2",
			Path: "package-lock.json", Direct: true,
		}},
		Words: []catalog.Place{{Where: "intent", Text: "Fix the Login"}, {Where: "path", Text: "src/auth.ts"}},
	}
}

// known is all that can be found out about the first checkpoints of workspace 1.
type known struct {
	Gists    map[retake.CheckpointID]retake.Gist
	Found    []catalog.Found
	Mentions []retake.Mention
	Answers  []retake.Verification
}

func readKnown(t *testing.T, c catalog.Catalog) known {
	t.Helper()
	ctx, ws := t.Context(), workspaceID(1)
	var k known
	var err error
	k.Gists, err = c.Gists(ctx, ws, []retake.CheckpointID{checkpointID(1001), checkpointID(1002), checkpointID(1003), checkpointID(7)})
	wantNoError(t, err)
	k.Found, err = c.Search(ctx, retake.SearchQuery{Workspace: ws, Text: "login"})
	wantNoError(t, err)
	k.Mentions, err = c.Mentions(ctx, retake.ChronicleQuery{Workspace: ws, Name: "lodash"})
	wantNoError(t, err)
	k.Answers, err = c.Verifications(ctx, catalog.VerificationQuery{Workspace: ws, Output: true})
	wantNoError(t, err)
	return k
}

// expectKnown is what know must answer when only these have notes and answers.
func expectKnown(all ...retake.Checkpoint) known {
	k := known{Gists: map[retake.CheckpointID]retake.Gist{}}
	for _, cp := range all {
		n := notesFor(cp)
		k.Gists[cp.ID] = n.Gist
		k.Found = append(k.Found, catalog.Found{Checkpoint: cp, Place: n.Words[0]})
		k.Mentions = append(k.Mentions, retake.Mention{Checkpoint: cp, Facts: n.Facts})
		k.Answers = append(k.Answers, newVerification(cp, 1))
	}
	return k
}

func testPutNotes(t *testing.T, open Opener) {
	c := openFilled(t, open, 3)
	ctx, ws := t.Context(), workspaceID(1)
	held := pendingTopics(t, c)
	cp := checkpoint(1, 2)
	old := notesFor(cp)
	old.Gist.Lead, old.Words[0].Text, old.Facts[0].Name = "old", "logout", "left-pad"
	old.Facts = append(old.Facts, old.Facts[0])
	wantNoError(t, c.PutNotes(ctx, old))
	wantNoError(t, c.PutNotes(ctx, notesFor(cp)))
	wantNoError(t, c.PutNotes(ctx, notesFor(cp)))
	wantNoError(t, c.PutVerification(ctx, newVerification(cp, 1)))
	wantEqual(t, "known", readKnown(t, c), expectKnown(cp))
	left, err := c.Mentions(ctx, retake.ChronicleQuery{Workspace: ws, Name: "left-pad"})
	wantNoError(t, err)
	wantEqual(t, "facts that were replaced", left, nil)
	words, err := c.Search(ctx, retake.SearchQuery{Workspace: ws, Text: "logout"})
	wantNoError(t, err)
	wantEqual(t, "words that were replaced", words, nil)

	elsewhere, err := c.Gists(ctx, workspaceID(2), []retake.CheckpointID{cp.ID})
	wantNoError(t, err)
	wantEqual(t, "gists of another workspace", elsewhere, nil)
	none, err := c.Gists(ctx, ws, nil)
	wantNoError(t, err)
	wantEqual(t, "gists of nothing", none, nil)
	wantEqual(t, "notices", pendingTopics(t, c), append(held, verifiedNotice(1002)))
	got, err := c.Checkpoint(ctx, cp.ID)
	wantNoError(t, err)
	wantEqual(t, "checkpoint", got, cp)

	wantNoError(t, c.PutNotes(ctx, catalog.Notes{Workspace: ws, Checkpoint: cp.ID}))
	bare := expectKnown(cp)
	bare.Gists[cp.ID], bare.Found, bare.Mentions = retake.Gist{}, nil, nil
	wantEqual(t, "empty notes", readKnown(t, c), bare)
}

// testNotesOfNobody: notes are kept for what lives, where it lives.
func testNotesOfNobody(t *testing.T, open Opener) {
	c := openFilled(t, open, 1)
	ctx := t.Context()
	dead, unborn, misled := checkpoint(1, 2), checkpoint(1, 3), checkpoint(1, 1)
	misled.Workspace = workspaceID(2)
	wantNoError(t, c.Append(ctx, dead))
	wantNoError(t, c.Bury(ctx, dead.Workspace, []retake.Tombstone{newTombstone(dead)}))
	for _, cp := range []retake.Checkpoint{dead, unborn, misled} {
		wantNoError(t, c.PutNotes(ctx, notesFor(cp)))
	}
	wantNoError(t, c.Append(ctx, unborn))
	wantEqual(t, "known", readKnown(t, c), known{})
	all, err := c.Search(ctx, retake.SearchQuery{Workspace: misled.Workspace, Text: "login"})
	wantNoError(t, err)
	wantEqual(t, "found elsewhere", all, nil)
}

func testBuryDropsNotes(t *testing.T, open Opener) {
	c := openFilled(t, open, 2)
	ctx, ws := t.Context(), workspaceID(1)
	one, two := checkpoint(1, 1), checkpoint(1, 2)
	for _, cp := range []retake.Checkpoint{one, two} {
		wantNoError(t, c.PutNotes(ctx, notesFor(cp)))
		wantNoError(t, c.PutVerification(ctx, newVerification(cp, 1)))
	}
	wantEqual(t, "known", readKnown(t, c), expectKnown(two, one))
	wrong := newTombstone(two)
	wrong.Number = 77
	wantError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(one), wrong}), catalog.ErrExists)
	wantEqual(t, "known after no burial", readKnown(t, c), expectKnown(two, one))

	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(one)}))
	wantEqual(t, "known", readKnown(t, c), expectKnown(two))
	wantNoError(t, c.PutNotes(ctx, notesFor(one)))
	wantNoError(t, c.PutVerification(ctx, newVerification(one, 1)))
	wantNoError(t, c.Append(ctx, one))
	wantEqual(t, "known of the dead", readKnown(t, c), expectKnown(two))
	_, err := c.ByHead(ctx, ws, "abc")
	wantNoError(t, err)
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(two)}))
	_, err = c.ByHead(ctx, ws, "abc")
	wantError(t, err, catalog.ErrNotFound)
	wantEqual(t, "known", readKnown(t, c), known{})
}

func testBare(t *testing.T, open Opener) {
	c := openFilled(t, open, 5)
	ctx, ws := t.Context(), workspaceID(1)
	for n, v := range map[int]int{1: 1, 2: 2, 4: 3} {
		wantNoError(t, c.PutNotes(ctx, catalog.Notes{Workspace: ws, Checkpoint: checkpoint(1, n).ID, Gist: retake.Gist{V: v}}))
	}
	wantNoError(t, c.Append(ctx, checkpoint(2, 9)))
	for _, x := range []struct {
		v, limit int
		want     []int64
	}{
		{0, 0, []int64{5, 3}}, {1, 0, []int64{5, 3}}, {2, 0, []int64{5, 3, 1}}, {3, 3, []int64{5, 3, 2}}, {4, -1, []int64{5, 4, 3, 2, 1}},
	} {
		got, err := c.Bare(ctx, ws, x.v, x.limit)
		wantNoError(t, err)
		wantEqual(t, "without a gist", checkpointNumbers(got), x.want)
	}
	wantNoError(t, c.Bury(ctx, ws, []retake.Tombstone{newTombstone(checkpoint(1, 5))}))
	got, err := c.Bare(ctx, ws, 1, 0)
	wantNoError(t, err)
	wantEqual(t, "without a gist", got, []retake.Checkpoint{checkpoint(1, 3)})
}

func testByHead(t *testing.T, open Opener) {
	c := openFilled(t, open, 6)
	ctx, ws := t.Context(), workspaceID(1)
	long := strings.Repeat("f", 64)
	for n, head := range map[int]string{1: "", 2: "abd0", 3: "abc1", 4: "abc0", 5: long, 6: strings.Repeat("a%", 5000)} {
		wantNoError(t, c.PutNotes(ctx, catalog.Notes{Workspace: ws, Checkpoint: checkpoint(1, n).ID, Gist: retake.Gist{Head: head}}))
	}
	for sha, want := range map[string]int64{"abc": 3, "abc0": 4, "ab": 2, "abd0": 2, long: 5, "f": 5} {
		got, err := c.ByHead(ctx, ws, sha)
		wantNoError(t, err)
		wantEqual(t, "head "+sha, got, checkpoint(1, int(want)))
	}
	for _, sha := range []string{"", "abc00", "ab_0", "%", "ABC", "abc\xff", "abc\x00", long + "f", "c", "\U0010FFFF"} {
		_, err := c.ByHead(ctx, ws, sha)
		wantError(t, err, catalog.ErrNotFound)
	}
	_, err := c.ByHead(ctx, workspaceID(2), "abc")
	wantError(t, err, catalog.ErrNotFound)
}

func testMentions(t *testing.T, open Opener) {
	c := openFilled(t, open, 4)
	ctx, ws := t.Context(), workspaceID(1)
	long := strings.Repeat("deep.", 2000)
	fact := func(kind retake.FactKind, name, after string) retake.Fact {
		return retake.Fact{Kind: kind, What: retake.Edited, Name: name, After: after, Path: "a'b"}
	}
	pack, env := fact(retake.FactPackage, "x", "1"), fact(retake.FactEnv, "x", "")
	facts := map[int][]retake.Fact{
		1: {pack, fact(retake.FactSetting, long+"a", "1")},
		2: {env, fact(retake.FactPackage, "X", "1"), pack, fact(retake.FactPackage, "x%", "")},
		4: {fact(retake.FactSetting, long+"b", "\x00"), env, fact(retake.FactEnv, "n\x00l é", "")},
	}
	for n, all := range facts {
		wantNoError(t, c.PutNotes(ctx, catalog.Notes{Workspace: ws, Checkpoint: checkpoint(1, n).ID, Facts: all}))
	}
	at := func(n int, all ...retake.Fact) retake.Mention {
		return retake.Mention{Checkpoint: checkpoint(1, n), Facts: all}
	}
	for _, x := range []struct {
		kind  retake.FactKind
		name  string
		limit int
		want  []retake.Mention
	}{
		{"", "x", 0, []retake.Mention{at(4, env), at(2, env, pack), at(1, pack)}},
		{"", "x", 2, []retake.Mention{at(4, env), at(2, env, pack)}},
		{retake.FactPackage, "x", -1, []retake.Mention{at(2, pack), at(1, pack)}},
		{retake.FactPackage, "X", 1, []retake.Mention{at(2, facts[2][1])}},
		{"", long + "b", 0, []retake.Mention{at(4, facts[4][0])}},
		{retake.FactEnv, "n\x00l é", 0, []retake.Mention{at(4, facts[4][2])}},
		{"", "x%", 0, []retake.Mention{at(2, facts[2][3])}},
		{retake.FactCron, "x", 0, nil}, {"", "", 0, nil}, {"", "%", 0, nil}, {"", long, 0, nil}, {"a\x00\xff", "x", 0, nil},
	} {
		got, err := c.Mentions(ctx, retake.ChronicleQuery{Workspace: ws, Kind: x.kind, Name: x.name, Limit: x.limit})
		wantNoError(t, err)
		wantEqual(t, "mentions", got, x.want)
	}
}
