package catalogtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// model says in plain maps what a catalog must hold.
type model struct {
	live    map[retake.CheckpointID]retake.Checkpoint
	buried  map[retake.CheckpointID]burial
	pins    map[retake.WorkspaceID][]retake.Pin
	notes   map[retake.CheckpointID]catalog.Notes
	answers map[retake.VerificationID]retake.Verification
	topics  []string
}

type burial struct {
	ws    retake.WorkspaceID
	stone retake.Tombstone
}

func newModel() *model {
	return &model{
		live: map[retake.CheckpointID]retake.Checkpoint{}, buried: map[retake.CheckpointID]burial{},
		pins: map[retake.WorkspaceID][]retake.Pin{}, notes: map[retake.CheckpointID]catalog.Notes{},
		answers: map[retake.VerificationID]retake.Verification{},
	}
}

func (m *model) clone() *model {
	return &model{
		live: maps.Clone(m.live), buried: maps.Clone(m.buried), pins: maps.Clone(m.pins), notes: maps.Clone(m.notes),
		answers: maps.Clone(m.answers), topics: slices.Clone(m.topics),
	}
}

// numberHolder is the id that has or had a number.
func (m *model) numberHolder(ws retake.WorkspaceID, number int64) retake.CheckpointID {
	for id, cp := range m.live {
		if cp.Workspace == ws && cp.Number == number {
			return id
		}
	}
	for id, g := range m.buried {
		if g.ws == ws && g.stone.Number == number {
			return id
		}
	}
	return ""
}

func (m *model) append(cp retake.Checkpoint) error {
	_, lives := m.live[cp.ID]
	_, buried := m.buried[cp.ID]
	if lives || buried {
		return nil
	}
	if m.numberHolder(cp.Workspace, cp.Number) != "" {
		return catalog.ErrExists
	}
	m.live[cp.ID] = cp
	m.topics = append(m.topics, "checkpoint.created "+string(cp.ID))
	return nil
}

func (m *model) bury(ws retake.WorkspaceID, stones []retake.Tombstone) error {
	next := m.clone()
	for _, s := range stones {
		if _, done := next.buried[s.ID]; done {
			continue
		}
		cp, lives := next.live[s.ID]
		holder := next.numberHolder(ws, s.Number)
		if holder != "" && holder != s.ID || lives && (cp.Workspace != ws || cp.Number != s.Number) {
			return catalog.ErrExists
		}
		delete(next.live, s.ID)
		delete(next.notes, s.ID)
		maps.DeleteFunc(next.answers, func(_ retake.VerificationID, v retake.Verification) bool { return v.Checkpoint == s.ID })
		next.buried[s.ID] = burial{ws, s}
		next.topics = append(next.topics, "checkpoint.forgotten "+string(s.ID))
	}
	*m = *next
	return nil
}

// added is what the live checkpoints of each workspace and key added, without lines of zero.
func (m *model) added() []catalog.Added {
	type pair struct {
		ws  retake.WorkspaceID
		key retake.KeyID
	}
	sums := map[pair]int64{}
	for _, cp := range m.live {
		sums[pair{cp.Workspace, cp.Key}] += cp.NewBytes
	}
	all := []catalog.Added{}
	for p, n := range sums {
		if n != 0 {
			all = append(all, catalog.Added{Workspace: p.ws, Key: p.key, Bytes: n})
		}
	}
	slices.SortFunc(all, func(a, b catalog.Added) int {
		return cmp.Or(cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Key, b.Key))
	})
	return all
}

// timeline is what lives in a workspace, the highest number first.
func (m *model) timeline(ws retake.WorkspaceID) []retake.Checkpoint {
	var all []retake.Checkpoint
	for _, cp := range m.live {
		if cp.Workspace == ws {
			all = append(all, cp)
		}
	}
	slices.SortFunc(all, func(a, b retake.Checkpoint) int { return cmp.Compare(b.Number, a.Number) })
	return all
}

func (m *model) tombstones(ws retake.WorkspaceID) []retake.Tombstone {
	var all []retake.Tombstone
	for _, g := range m.buried {
		if g.ws == ws {
			all = append(all, g.stone)
		}
	}
	slices.SortFunc(all, func(a, b retake.Tombstone) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// testLikeModel runs made-up lives of a catalog. Few ids and few numbers make many
// of them meet.
func testLikeModel(t *testing.T, open Opener) {
	c := open(t, "a")
	rapid.Check(t, func(rt *rapid.T) {
		if err := c.Reset(t.Context()); err != nil {
			rt.Fatal(err)
		}
		w := &modelTest{ctx: t.Context(), c: c, m: newModel()}
		rt.Repeat(map[string]func(*rapid.T){
			"append":           w.append,
			"bury":             w.bury,
			"bury living":      w.buryLiving,
			"pin":              w.pin,
			"take notices":     w.take,
			"put notes":        w.putNotes,
			"put verification": w.putVerification,
			"":                 w.counts,
		})
		for _, ws := range workspaces {
			w.compare(rt, ws)
			w.compareNotes(rt, ws)
			w.compareSearch(rt, ws)
			w.compareAnswers(rt, ws)
		}
	})
}

var workspaces = []retake.WorkspaceID{workspaceID(1), workspaceID(2)}

// modelTest holds a catalog beside its model.
type modelTest struct {
	ctx context.Context //nolint:containedctx // one test long
	c   catalog.Catalog
	m   *model
}

func drawWorkspace(t *rapid.T) retake.WorkspaceID {
	return rapid.SampledFrom(workspaces).Draw(t, "workspace")
}

func drawCheckpoint(t *rapid.T) retake.Checkpoint {
	cp := richCheckpoint(1, rapid.IntRange(1, 12).Draw(t, "id"))
	cp.Workspace = drawWorkspace(t)
	cp.Number = rapid.Int64Range(1, 10).Draw(t, "number")
	cp.Key, cp.NewBytes = retake.KeyID(fmt.Sprint("key_", cp.Number%3)), cp.Number%4 // some add nothing
	cp.Time = drawTime(t)
	cp.Intent = rapid.String().Draw(t, "intent")
	cp.Coverage.Grade = rapid.SampledFrom([]retake.Grade{retake.Complete, retake.Partial}).Draw(t, "grade")
	cp.Content = rapid.SampledFrom(contents).Draw(t, "content")
	if s := rapid.SampledFrom([]string{"", "s", "s1", "s12"}).Draw(t, "session"); s != "" {
		cp.Turn = &retake.Turn{Session: s}
	}
	return cp
}

func drawTime(t *rapid.T) time.Time {
	return noon.Add(time.Duration(rapid.IntRange(0, 8).Draw(t, "minute")) * time.Minute)
}

func wantSameError(t *rapid.T, got, want error) {
	t.Helper()
	if (got == nil) != (want == nil) || want != nil && !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

func (w *modelTest) append(t *rapid.T) {
	cp := drawCheckpoint(t)
	wantSameError(t, w.c.Append(w.ctx, cp), w.m.append(cp))
}

func (w *modelTest) bury(t *rapid.T) {
	ws := drawWorkspace(t)
	var stones []retake.Tombstone
	for range rapid.IntRange(1, 2).Draw(t, "stones") {
		stones = append(stones, newTombstone(drawCheckpoint(t)))
	}
	wantSameError(t, w.c.Bury(w.ctx, ws, stones), w.m.bury(ws, stones))
}

func (w *modelTest) buryLiving(t *rapid.T) {
	ws := drawWorkspace(t)
	all := w.m.timeline(ws)
	if len(all) == 0 {
		t.Skip("nothing lives")
	}
	stones := []retake.Tombstone{newTombstone(rapid.SampledFrom(all).Draw(t, "living"))}
	wantSameError(t, w.c.Bury(w.ctx, ws, stones), w.m.bury(ws, stones))
}

func (w *modelTest) pin(t *rapid.T) {
	ws := drawWorkspace(t)
	names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"a", "b", "c'"}), rapid.ID[string]).Draw(t, "names")
	pins := []retake.Pin{}
	for _, name := range names {
		pins = append(pins, retake.Pin{Name: name, Checkpoint: checkpointID(1), Number: 1, Time: drawTime(t)})
	}
	wantSameError(t, w.c.SetPins(w.ctx, ws, pins), nil)
	slices.SortFunc(pins, func(a, b retake.Pin) int { return cmp.Compare(a.Name, b.Name) })
	w.m.pins[ws] = pins
}

func (w *modelTest) take(t *rapid.T) {
	n := rapid.IntRange(1, 3).Draw(t, "notices")
	oldest, err := w.c.Pending(w.ctx, n)
	wantSameError(t, err, nil)
	var ids []int64
	var topics []string
	for _, o := range oldest {
		ids = append(ids, o.ID)
		topics = append(topics, o.Topic+" "+string(o.Checkpoint))
	}
	n = min(n, len(w.m.topics))
	wantEqual(t, "oldest notices", topics, w.m.topics[:n])
	wantSameError(t, w.c.Take(w.ctx, ids), nil)
	w.m.topics = w.m.topics[n:]
}

func (w *modelTest) counts(t *rapid.T) {
	for _, ws := range workspaces {
		all, stones := w.m.timeline(ws), w.m.tombstones(ws)
		want := []int64{int64(len(all)), 0}
		if len(all) > 0 {
			want[1] = all[0].Number
		}
		if len(stones) > 0 {
			want[1] = max(want[1], stones[len(stones)-1].Number)
		}
		live, last, err := w.c.Counts(w.ctx, ws)
		wantSameError(t, err, nil)
		wantEqual(t, "counts", []int64{live, last}, want)
	}
	got, err := w.c.Added(w.ctx)
	wantSameError(t, err, nil)
	wantEqual(t, "added", got, w.m.added())
}

// compare holds every answer about a workspace against the model.
func (w *modelTest) compare(t *rapid.T, ws retake.WorkspaceID) {
	all := w.m.timeline(ws)
	got, err := w.c.Page(w.ctx, retake.LogQuery{Workspace: ws})
	wantSameError(t, err, nil)
	wantEqual(t, "timeline", got, all)
	stones, err := w.c.Tombstones(w.ctx, ws)
	wantSameError(t, err, nil)
	wantEqual(t, "tombstones", stones, w.m.tombstones(ws))
	pins, err := w.c.Pins(w.ctx, ws)
	wantSameError(t, err, nil)
	wantEqual(t, "pins", pins, w.m.pins[ws])

	q := retake.LogQuery{Workspace: ws, Since: drawTime(t), Before: rapid.Int64Range(1, 11).Draw(t, "before"), Limit: rapid.IntRange(1, 4).Draw(t, "limit")}
	q.Session = rapid.SampledFrom([]string{"", "s1"}).Draw(t, "session")
	want := slices.DeleteFunc(slices.Clone(all), func(cp retake.Checkpoint) bool {
		other := q.Session != "" && (cp.Turn == nil || !cp.Turn.Of(q.Session))
		return cp.Time.Before(q.Since) || cp.Number >= q.Before || other
	})
	got, err = w.c.Page(w.ctx, q)
	wantSameError(t, err, nil)
	wantEqual(t, "page", got, want[:min(q.Limit, len(want))])

	at := drawTime(t)
	w.first(t, "before", all, func(a, b retake.Checkpoint) int {
		return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.Number, a.Number))
	}, func(cp retake.Checkpoint) bool { return !cp.Time.After(at) }, func() (retake.Checkpoint, error) { return w.c.Before(w.ctx, ws, at) })
	w.first(t, "start", all, func(a, b retake.Checkpoint) int { return cmp.Compare(a.Number, b.Number) },
		func(cp retake.Checkpoint) bool { return cp.Coverage.Grade == retake.Complete },
		func() (retake.Checkpoint, error) { return w.c.Start(w.ctx, ws) })
	for back, cp := range all {
		got, err := w.c.Latest(w.ctx, ws, int64(back))
		wantSameError(t, err, nil)
		wantEqual(t, "latest", got, cp)
	}
}

// first asks for the first that fits in an order, or for ErrNotFound.
func (w *modelTest) first(t *rapid.T, what string, all []retake.Checkpoint, order func(a, b retake.Checkpoint) int, fits func(retake.Checkpoint) bool, ask func() (retake.Checkpoint, error)) {
	t.Helper()
	all = slices.SortedFunc(slices.Values(all), order)
	i := slices.IndexFunc(all, fits)
	got, err := ask()
	if i < 0 {
		wantSameError(t, err, catalog.ErrNotFound)
		return
	}
	wantSameError(t, err, nil)
	wantEqual(t, what, got, all[i])
}
