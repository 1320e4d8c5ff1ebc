package service

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// teller notes the stories of checkpoints after they are sealed, one after the other. All of
// it is context: whatever happens here, the checkpoints are as they are.
type teller struct {
	s     *Service
	mu    sync.Mutex
	queue []untold
	held  int // changes that captures handed over, in the queue
	busy  bool
	now   retake.CheckpointID // the one that is being told
	last  map[retake.WorkspaceID]lastTold
	fresh []untold // told just now, with all that is to know; the newest is the last
}

// forgetAll drops what is kept in memory of checkpoints that became others.
func (t *teller) forgetAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.fresh, t.held = nil, nil, 0
	for i := range t.queue {
		t.queue[i].sealed = nil
	}
}

// untold is a checkpoint whose story waits.
type untold struct {
	retake.Checkpoint
	sealed *sealed // what its capture knew; nil: the trees are compared
}

// soonAfter is how long a service that lives for one command may take for stories.
const soonAfter = 50 * time.Millisecond

// add asks for the story of a checkpoint. A service that lives on tells it now, in the
// background; another one when it closes, as far as the time goes.
func (t *teller) add(cp retake.Checkpoint) { t.put(untold{Checkpoint: cp}) }

func (t *teller) put(u untold) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enqueue(u)
}

// enqueue is under t.mu.
func (t *teller) enqueue(u untold) {
	if !t.waits(u.ID) && len(t.queue) < mostTold {
		t.queue = append(t.queue, t.bounded(u))
	}
	if len(t.queue) > 0 && !t.busy && t.s.p.Exclusive && t.s.life.Err() == nil {
		t.busy = true
		t.s.hears.Go(func() { t.work(t.s.life, true) })
	}
}

// want is add for who looks at rows: what is being told needs not be told again, and what
// was told since the row was read needs no tree.
func (t *teller) want(cp retake.Checkpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cp.ID != t.now {
		t.enqueue(t.freshWithin(cp))
	}
}

// mostTold bounds what waits: the rest is told when somebody looks at it.
const mostTold = 1024

func (t *teller) waits(id retake.CheckpointID) bool {
	for i := range t.queue {
		if t.queue[i].ID == id {
			return true
		}
	}
	return false
}

func (t *teller) next() (untold, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.now = ""
	if len(t.queue) == 0 {
		t.busy = false
		t.queue = nil
		return untold{}, false
	}
	u := t.queue[0]
	t.queue[0] = untold{}
	t.queue, t.now = t.queue[1:], u.ID
	t.held -= u.sealed.size()
	return u, true
}

func (t *teller) work(ctx context.Context, deep bool) {
	for {
		u, ok := t.next()
		if !ok {
			return
		}
		if ctx.Err() == nil {
			t.one(ctx, u, deep)
		}
	}
}

// one notes one story. A panic over what a workspace holds ends that story alone.
func (t *teller) one(ctx context.Context, u untold, deep bool) {
	note := func(how telling) { // what fails is told when somebody looks
		t.s.background(taskSummary, func() error { return t.s.noteOf(ctx, u, how) })
	}
	note(telling{deep: deep, early: u.sealed != nil})
	changed := false
	t.s.background(taskMachine, func() (err error) {
		changed, err = t.s.probe(ctx, u.Checkpoint)
		return err
	})
	if !changed {
		t.keepFresh(u)
		return
	}
	t.dropFresh(u.ID)
	note(telling{deep: deep}) // the machine is told late, and never delays the rest
}

// settled waits until nothing is being told, as long as ctx allows.
func (t *teller) settled(ctx context.Context) {
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		t.mu.Lock()
		busy := t.busy
		t.mu.Unlock()
		if !busy {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
	}
}

// rest tells what a short life leaves time for.
func (t *teller) rest() {
	if t.s.p.Exclusive {
		return
	}
	ctx, cancel := context.WithTimeout(t.s.life, soonAfter)
	defer cancel()
	t.work(ctx, false)
}

// note tells the story of a checkpoint and keeps what a row shows of it, and the words it is
// found by. A shallow one, whose files were not read for their meaning, is told again
// when somebody can.
func (s *Service) note(ctx context.Context, cp retake.Checkpoint, deep bool) error {
	return s.noteOf(ctx, untold{Checkpoint: cp}, telling{deep: deep})
}

func (s *Service) noteOf(ctx context.Context, u untold, how telling) error {
	cp := u.Checkpoint
	n := catalog.Notes{Workspace: cp.Workspace, Checkpoint: cp.ID}
	if cp.Parent == "" {
		n.Gist = retake.Gist{V: story.Version, Counts: retake.StoryCounts{Added: cp.Files}, Head: s.commit(ctx, cp), Points: []retake.Point{}}
		n.Words = words(cp, retake.Story{})
		return s.p.Catalog.PutNotes(ctx, n)
	}
	d, err := s.compared(ctx, u)
	if err != nil {
		return err
	}
	how.own, how.head = true, s.headOf(ctx, u, d)
	st, remember, err := s.tell(ctx, d, how)
	defer remember()
	if err != nil {
		return err
	}
	n.Gist, n.Facts, n.Words = st.Gist, st.Facts, words(cp, st)
	for _, c := range d.Changes {
		n.Words = addPath(n.Words, c)
	}
	if !how.deep {
		n.Gist.V = 0
	}
	return s.p.Catalog.PutNotes(ctx, n)
}

// Bounds of what a checkpoint is found by.
const (
	mostPaths = 2000
	mostFacts = 1000
)

// words are what a checkpoint is found by: what was said, and the facts.
func words(cp retake.Checkpoint, st retake.Story) []catalog.Place {
	var out []catalog.Place
	add := func(where, text string) {
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, catalog.Place{Where: where, Text: text})
		}
	}
	add("intent", cp.Intent)
	if t := cp.Turn; t != nil {
		add("prompt", t.Prompt)
		add("words", t.Words)
		add("command", t.Command)
	}
	for _, f := range st.Facts[:min(len(st.Facts), mostFacts)] {
		add("fact", strings.Join([]string{string(f.Kind), f.Group, f.Name, f.Before, f.After}, " "))
	}
	return out
}

// addPath adds a path that differs in more than its time.
func addPath(places []catalog.Place, c retake.Change) []catalog.Place {
	e := c.After
	if e == nil {
		e = c.Before
	}
	if c.What == retake.Timed || e == nil || e.Kind == retake.KindDir || len(places) >= mostPaths {
		return places
	}
	return append(places, catalog.Place{Where: "path", Text: c.Path})
}
