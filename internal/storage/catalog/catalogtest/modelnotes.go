package catalogtest

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Few names make many facts, heads and answers meet.
var (
	contents = []retake.ContentID{"c0ffee", "c0de", "c0d"}
	heads    = []string{"", "abc1", "abc2", "abd1"}
	names    = []string{"a", "A", "b%", "b_", ""}
	kinds    = []retake.FactKind{retake.FactPackage, retake.FactEnv}
	// pieces make texts that are hostile to patterns, to case and to UTF-8.
	pieces = []string{"a", "B", "b", "A", "%", "_", `\`, " ", "\n", "é", "É", "\x00", "\xff", "\xc3", "'", "ß", "🚀"}
)

func drawText(t *rapid.T, least, most int) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), least, most).Draw(t, "text"), "")
}

func (w *modelTest) putNotes(t *rapid.T) {
	n := catalog.Notes{Workspace: drawWorkspace(t), Checkpoint: checkpointID(1000 + rapid.IntRange(1, 12).Draw(t, "id"))}
	n.Gist = retake.Gist{
		V: rapid.IntRange(0, 3).Draw(t, "version"), Head: rapid.SampledFrom(heads).Draw(t, "head"),
		Lead: rapid.String().Draw(t, "lead"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "facts") {
		n.Facts = append(n.Facts, retake.Fact{
			Kind: rapid.SampledFrom(kinds).Draw(t, "kind"), Name: rapid.SampledFrom(names).Draw(t, "name"), After: rapid.String().Draw(t, "after"),
		})
	}
	for range rapid.IntRange(0, 3).Draw(t, "places") {
		n.Words = append(n.Words, catalog.Place{Where: rapid.SampledFrom([]string{"path", "fact"}).Draw(t, "where"), Text: drawText(t, 0, 8)})
	}
	wantSameError(t, w.c.PutNotes(w.ctx, n), nil)
	if cp, lives := w.m.live[n.Checkpoint]; lives && cp.Workspace == n.Workspace {
		w.m.notes[n.Checkpoint] = n
	}
}

func (w *modelTest) putVerification(t *rapid.T) {
	cp := drawCheckpoint(t)
	v := newVerification(cp, 1)
	v.ID = verificationID(rapid.IntRange(1, 6).Draw(t, "answer"))
	v.Name, v.Command = rapid.SampledFrom(names).Draw(t, "name"), rapid.SampledFrom(names).Draw(t, "command")
	v.Started, v.Output = drawTime(t), drawText(t, 0, 8)
	wantSameError(t, w.c.PutVerification(w.ctx, v), nil)
	if _, buried := w.m.buried[v.Checkpoint]; buried || reflect.DeepEqual(w.m.answers[v.ID], v) {
		return
	}
	w.m.answers[v.ID] = v
	w.m.topics = append(w.m.topics, "checkpoint.verified "+string(v.Checkpoint))
}

// compareNotes holds all that goes by gists and facts against the model.
func (w *modelTest) compareNotes(t *rapid.T, ws retake.WorkspaceID) {
	all := w.m.timeline(ws)
	v := rapid.IntRange(0, 4).Draw(t, "version")
	sha := rapid.SampledFrom([]string{"a", "abc", "abc2", "abd", "x"}).Draw(t, "sha")
	q := retake.ChronicleQuery{Workspace: ws, Name: rapid.SampledFrom(names).Draw(t, "name"), Limit: rapid.IntRange(0, 2).Draw(t, "limit")}
	q.Kind = rapid.SampledFrom([]retake.FactKind{"", kinds[0]}).Draw(t, "kind")
	var ids []retake.CheckpointID
	var bare []retake.Checkpoint
	var mentions []retake.Mention
	gists := map[retake.CheckpointID]retake.Gist{}
	for _, cp := range all {
		ids = append(ids, cp.ID)
		n, noted := w.m.notes[cp.ID]
		if noted {
			gists[cp.ID] = n.Gist
		}
		if !noted || n.Gist.V < v {
			bare = append(bare, cp)
		}
		facts := slices.DeleteFunc(slices.Clone(n.Facts), func(f retake.Fact) bool { return f.Name != q.Name || q.Kind != "" && f.Kind != q.Kind })
		if len(facts) > 0 && (q.Limit == 0 || len(mentions) < q.Limit) {
			mentions = append(mentions, retake.Mention{Checkpoint: cp, Facts: facts})
		}
	}
	got, err := w.c.Gists(w.ctx, ws, append(ids, checkpointID(5)))
	wantSameError(t, err, nil)
	wantEqual(t, "gists", got, gists)
	gotBare, err := w.c.Bare(w.ctx, ws, v, 0)
	wantSameError(t, err, nil)
	wantEqual(t, "without a gist", gotBare, bare)
	gotMentions, err := w.c.Mentions(w.ctx, q)
	wantSameError(t, err, nil)
	wantEqual(t, "mentions", gotMentions, mentions)
	w.first(t, "by head", all, func(a, b retake.Checkpoint) int { return cmp.Compare(a.Number, b.Number) },
		func(cp retake.Checkpoint) bool { return strings.HasPrefix(w.m.notes[cp.ID].Gist.Head, sha) },
		func() (retake.Checkpoint, error) { return w.c.ByHead(w.ctx, ws, sha) })
}

// foldedText makes texts alike that a search may not tell apart: in case, and in what
// not every database takes.
func foldedText(s string) string {
	return strings.ReplaceAll(string([]rune(strings.ToLower(s))), "\x00", "\uFFFD")
}

func (w *modelTest) compareSearch(t *rapid.T, ws retake.WorkspaceID) {
	for range 3 {
		q := retake.SearchQuery{Workspace: ws, Text: drawText(t, 1, 4), Limit: rapid.IntRange(0, 2).Draw(t, "limit")}
		words := strings.Fields(foldedText(q.Text))
		var want []catalog.Found
		for _, cp := range w.m.timeline(ws) {
			places := w.m.notes[cp.ID].Words
			holder := func(word string) int {
				return slices.IndexFunc(places, func(p catalog.Place) bool { return strings.Contains(foldedText(p.Text), word) })
			}
			lacks := slices.ContainsFunc(words, func(word string) bool { return holder(word) < 0 })
			if len(words) > 0 && !lacks && (q.Limit == 0 || len(want) < q.Limit) {
				want = append(want, catalog.Found{Checkpoint: cp, Place: places[holder(words[0])]})
			}
		}
		got, err := w.c.Search(w.ctx, q)
		wantSameError(t, err, nil)
		wantEqual(t, "search", got, want)
	}
}

func (w *modelTest) compareAnswers(t *rapid.T, ws retake.WorkspaceID) {
	q := catalog.VerificationQuery{
		Workspace: ws, Name: rapid.SampledFrom(names).Draw(t, "name"), Command: rapid.SampledFrom([]string{"", "a"}).Draw(t, "command"),
		Contents: rapid.SliceOfN(rapid.SampledFrom(contents), 0, 2).Draw(t, "contents"),
		Output:   rapid.Bool().Draw(t, "output"), Limit: rapid.IntRange(0, 3).Draw(t, "limit"),
	}
	var want []retake.Verification
	for _, v := range w.m.answers {
		_, lives := w.m.live[v.Checkpoint]
		fits := v.Workspace == ws && (q.Name == "" || q.Name == v.Name) && (q.Command == "" || q.Command == v.Command)
		if !lives || !fits || len(q.Contents) > 0 && !slices.Contains(q.Contents, v.Content) {
			continue
		}
		if !q.Output {
			v.Output = ""
		}
		want = append(want, v)
	}
	slices.SortFunc(want, func(a, b retake.Verification) int {
		return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.ID, a.ID))
	})
	if q.Limit > 0 {
		want = want[:min(q.Limit, len(want))]
	}
	got, err := w.c.Verifications(w.ctx, q)
	wantSameError(t, err, nil)
	wantEqual(t, "answers", got, want)

	content := rapid.SampledFrom(contents).Draw(t, "content")
	equal := slices.DeleteFunc(w.m.timeline(ws), func(cp retake.Checkpoint) bool { return cp.Content != content })
	gotEqual, err := w.c.WithContent(w.ctx, ws, content)
	wantSameError(t, err, nil)
	wantEqual(t, "equal", gotEqual, equal)
}
