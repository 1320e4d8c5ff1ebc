package insight

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// summarizer writes the summaries of checkpoints after they are sealed, one at a time.
// Summaries are context only: whatever fails here, the checkpoints are not affected.
type summarizer struct {
	svc           *Insight
	mu            sync.Mutex
	queue         []pendingSummary
	heldChanges   int                 // number of changes kept in the queue
	idle          chan struct{}       // closed when the queue is empty; nil: nothing runs
	current       retake.CheckpointID // the checkpoint that is being summarized
	lastSummaries map[retake.WorkspaceID]lastSummary
	recent        []pendingSummary // summarized just now, with what their captures knew; newest last
}

// dropMemory drops what is kept in memory, after a purge changed the checkpoints.
func (t *summarizer) dropMemory() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastSummaries, t.recent, t.heldChanges = nil, nil, 0
	for i := range t.queue {
		t.queue[i].captured = nil
	}
}

// pendingSummary is a checkpoint that waits for its summary.
type pendingSummary struct {
	retake.Checkpoint
	captured *captureInfo // what its capture knew; nil: the trees are compared
}

// closeTimeLimit is how long a service that lives for one command may spend on summaries.
const closeTimeLimit = 50 * time.Millisecond

// request asks for the summary of a checkpoint. An exclusive service writes it in the
// background; another one when it closes, as far as time permits.
func (t *summarizer) request(cp retake.Checkpoint) { t.enqueue(pendingSummary{Checkpoint: cp}) }

func (t *summarizer) enqueue(u pendingSummary) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.enqueueLocked(u)
}

// enqueueLocked adds a checkpoint to the queue and starts the worker if needed. The caller
// holds mu.
func (t *summarizer) enqueueLocked(u pendingSummary) {
	if !t.hasQueued(u.ID) && len(t.queue) < maxQueuedSummaries {
		t.queue = append(t.queue, t.limitHeldLocked(u))
	}
	if len(t.queue) > 0 && t.idle == nil && t.svc.workspaces.Exclusive && t.svc.workspaces.Lifetime.Err() == nil {
		t.idle = make(chan struct{})
		t.svc.workspaces.Work.Go(func() { t.runQueue(t.svc.workspaces.Lifetime, true) })
	}
}

// requestMissing is request for rows that have no summary: it ignores the checkpoint that
// is being summarized, and reuses what a recent capture knew.
func (t *summarizer) requestMissing(cp retake.Checkpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if cp.ID != t.current {
		t.enqueueLocked(t.findRecentLocked(cp))
	}
}

// maxQueuedSummaries bounds the queue. The rest is summarized when its row is read.
const maxQueuedSummaries = 1024

func (t *summarizer) hasQueued(id retake.CheckpointID) bool {
	for i := range t.queue {
		if t.queue[i].ID == id {
			return true
		}
	}
	return false
}

// dequeue takes the next checkpoint from the queue. On an empty queue it marks the worker
// as ended.
func (t *summarizer) dequeue() (pendingSummary, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.current = ""
	if len(t.queue) == 0 {
		if t.queue = nil; t.idle != nil {
			close(t.idle)
			t.idle = nil
		}
		return pendingSummary{}, false
	}
	u := t.queue[0]
	t.queue[0] = pendingSummary{}
	t.queue, t.current = t.queue[1:], u.ID
	t.heldChanges -= u.captured.changeCount()
	return u, true
}

// runQueue summarizes until the queue is empty. After ctx ended it only empties the queue.
func (t *summarizer) runQueue(ctx context.Context, deep bool) {
	for {
		u, ok := t.dequeue()
		if !ok {
			return
		}
		if ctx.Err() == nil {
			t.summarize(ctx, u, deep)
		}
	}
}

// summarize writes one summary, and another one if the host changed meanwhile. A panic over
// the contents of a workspace ends this summary alone.
func (t *summarizer) summarize(ctx context.Context, u pendingSummary, deep bool) {
	note := func(how storyOptions) { // what fails is summarized again when its row is read
		t.svc.workspaces.RunTask(workspace.TaskSummary, func() error { return t.svc.storeSummary(ctx, u, how) })
	}
	note(storyOptions{readContents: deep, justSealed: u.captured != nil})
	changed := false
	t.svc.workspaces.RunTask(workspace.TaskMachine, func() (err error) {
		changed, err = t.svc.probeHost(ctx, u.Checkpoint)
		return err
	})
	if !changed {
		t.addRecent(u)
		return
	}
	t.dropRecent(u.ID)
	note(storyOptions{readContents: deep}) // host facts come late and never delay the rest
}

// waitIdle waits until nothing is being summarized, or until ctx ends.
func (t *summarizer) waitIdle(ctx context.Context) {
	t.mu.Lock()
	idle := t.idle
	t.mu.Unlock()
	if idle == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-idle:
	}
}

// runOnClose summarizes what a service that lives for one command has time for.
func (t *summarizer) runOnClose() {
	if t.svc.workspaces.Exclusive {
		return
	}
	ctx, cancel := context.WithTimeout(t.svc.workspaces.Lifetime, closeTimeLimit)
	defer cancel()
	t.runQueue(ctx, false)
}

// summarizeCheckpoint stores the summary of a checkpoint: what a row shows of it, and the
// terms it is found by. Without readContents it is a shallow one, which is written again
// later.
func (s *Insight) summarizeCheckpoint(ctx context.Context, cp retake.Checkpoint, deep bool) error {
	return s.storeSummary(ctx, pendingSummary{Checkpoint: cp}, storyOptions{readContents: deep})
}

// storeSummary builds the summary of a checkpoint and stores it in the catalog. The first
// checkpoint has no changes to describe, only counts.
func (s *Insight) storeSummary(ctx context.Context, u pendingSummary, how storyOptions) error {
	cp := u.Checkpoint
	n := catalog.Notes{Workspace: cp.Workspace, Checkpoint: cp.ID}
	if cp.Parent == "" {
		n.Gist = retake.Gist{V: story.Version, Counts: retake.StoryCounts{Added: cp.Files}, Head: s.history.CheckedOutCommit(ctx, cp), Points: []retake.Point{}}
		n.Words = searchTerms(cp, retake.Story{})
		return s.workspaces.Catalog.PutNotes(ctx, n)
	}
	d, err := s.compareWithParent(ctx, u)
	if err != nil {
		return err
	}
	how.ownCheckpoint, how.head = true, s.resolveHead(ctx, u, d)
	st, remember, err := s.buildStory(ctx, d, how)
	defer remember()
	if err != nil {
		return err
	}
	n.Gist, n.Facts, n.Words = st.Gist, st.Facts, searchTerms(cp, st)
	for _, c := range d.Changes {
		n.Words = addSearchPath(n.Words, c)
	}
	if !how.readContents {
		n.Gist.V = 0
	}
	return s.workspaces.Catalog.PutNotes(ctx, n)
}

// Bounds of the search terms of one checkpoint.
const (
	maxSearchPaths = 2000
	maxSearchFacts = 1000
)

// searchTerms returns the terms by which a checkpoint is found: its intent, its turn and
// its facts.
func searchTerms(cp retake.Checkpoint, st retake.Story) []catalog.Place {
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
	for _, f := range st.Facts[:min(len(st.Facts), maxSearchFacts)] {
		add("fact", strings.Join([]string{string(f.Kind), f.Group, f.Name, f.Before, f.After}, " "))
	}
	return out
}

// addSearchPath adds the path of a change unless only its time differs.
func addSearchPath(places []catalog.Place, c retake.Change) []catalog.Place {
	e := c.After
	if e == nil {
		e = c.Before
	}
	if c.What == retake.Timed || e == nil || e.Kind == retake.KindDir || len(places) >= maxSearchPaths {
		return places
	}
	return append(places, catalog.Place{Where: "path", Text: c.Path})
}
