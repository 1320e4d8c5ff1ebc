package tui_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/ui/tui"
	"github.com/retake-dev/retake/internal/view"
)

// stage is a service that plays one morning. What it is asked is written down; what nobody
// wrote an answer for ends the test.
type stage struct {
	retake.Service
	t *testing.T

	mu    sync.Mutex
	view  view.Input
	card  term.Card
	plan  retake.Plan
	texts map[retake.ObjectID]string
	diff  retake.Comparison
	talk  string
	hits  []retake.Hit
	res   retake.RestoreResult
	asked []string
	apply []retake.ApplyRequest
	plans []retake.PlanRequest
	forks []retake.ForkRequest
	fail  map[string]error
	hold  map[string]chan struct{} // an answer waits until it is closed
	came  chan struct{}            // closed and made again when something is asked
}

func newStage(t *testing.T) *stage {
	v := termtest.SampleTimeline()
	file := func(object string, size int64) *retake.Entry {
		return &retake.Entry{Kind: retake.KindFile, Object: retake.ObjectID(object), Size: size}
	}
	s := &stage{
		t: t, view: v, card: termtest.SampleCard(), plan: *termtest.Plan(), fail: map[string]error{}, hold: map[string]chan struct{}{}, came: make(chan struct{}),
		texts: map[retake.ObjectID]string{"a1": "import { verify } from \"./token\";\n\nexport function user() {}\n", "a2": "import { load } from \"./session\";\n\nexport function user() {\n\treturn load();\n}\n"},
		talk:  `{"type":"user","message":{"role":"user","content":"refactor auth to sessions"}}` + "\n",
	}
	twelve, thirteen := s.checkpoint(12), s.checkpoint(13)
	s.diff = retake.Comparison{From: &twelve, To: &thirteen, Changes: []retake.Change{
		{Path: "dist/a.js", What: retake.Deleted, Before: file("d1", 400)}, {Path: "dist/b.js", What: retake.Deleted, Before: file("d2", 500)},
		{Path: "src/session.ts", What: retake.Added, After: file("n1", 2100)}, {Path: "src/auth.ts", What: retake.Edited, Before: file("a1", 70), After: file("a2", 90)},
	}}
	s.hits = []retake.Hit{
		{Checkpoint: thirteen, Where: "path", Text: "src/session.ts"},
		{Checkpoint: s.checkpoint(11), Where: "intent", Text: "before “refactor auth to sessions”"},
	}
	s.res = retake.RestoreResult{
		ReadBack:   true,
		Checkpoint: retake.Checkpoint{ID: "cp_24", Number: 24, Content: "ct_14"}, Safety: retake.Checkpoint{ID: "cp_23", Number: 23},
		Target: retake.Checkpoint{ID: "cp_14", Number: 14, Content: "ct_14"}, Written: 49, Deleted: 1132,
		Holders: []retake.Holder{{PID: 48213, Command: "node", Path: "data/dev.db"}},
	}
	return s
}

func (s *stage) checkpoint(n int64) retake.Checkpoint {
	for _, c := range s.view.Checkpoints {
		if c.Number == n {
			return c
		}
	}
	s.t.Fatalf("no checkpoint %d", n)
	return retake.Checkpoint{}
}

func (s *stage) options() tui.Options {
	return tui.Options{
		Service: s, Workspace: s.view.Workspace, Clock: clock.NewManual(termtest.Now), Home: "/home/ann",
		ProposeForkDir: func() string { return "/home/ann/code/shopfront-fork" }, ResolveDir: func(typed string) string { return typed },
	}
}

func (s *stage) desk(width, height int) *tui.Desk {
	d := tui.NewDesk(s.t.Context(), s.options(), width, height)
	d.Settle()
	return d
}

// call writes down what is asked, waits where it shall, and answers the error it shall.
func (s *stage) call(ctx context.Context, name string) error {
	s.mu.Lock()
	s.asked = append(s.asked, name)
	close(s.came)
	s.came = make(chan struct{})
	hold, err := s.hold[name], s.fail[name]
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// wait waits until something was asked so often.
func (s *stage) wait(name string, times int) {
	s.t.Helper()
	for {
		s.mu.Lock()
		n, came := 0, s.came
		for _, a := range s.asked {
			if a == name {
				n++
			}
		}
		s.mu.Unlock()
		if n >= times {
			return
		}
		select {
		case <-came:
		case <-s.t.Context().Done():
			s.t.Fatalf("%s was not asked %d times", name, times)
		}
	}
}

// changed are the calls that change something.
func (s *stage) changed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, a := range s.asked {
		if a == "ApplyRestore" || a == "Fork" || a == "Resume" {
			out = append(out, a)
		}
	}
	return out
}

func (s *stage) Log(ctx context.Context, q retake.LogQuery) (retake.Timeline, error) {
	if err := s.call(ctx, "Log"); err != nil {
		return retake.Timeline{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.partOf(q), nil
}

func (s *stage) ViewTimeline(ctx context.Context, q retake.TimelineQuery) (retake.TimelineView, error) {
	if err := s.call(ctx, "ViewTimeline"); err != nil {
		return retake.TimelineView{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.view
	in.Timeline, in.Tree, in.FoldReplaced, in.Open = s.partOf(q.LogQuery), !q.IsFiltered(), q.FoldReplaced, q.Open
	in.Newest = s.view.Checkpoints[0].Number
	return view.Timeline(in), nil
}

// partOf is the part of the timeline that was asked for.
func (s *stage) partOf(q retake.LogQuery) retake.Timeline {
	t := s.view.Timeline
	t.Checkpoints, t.Findings = nil, map[retake.CheckpointID]retake.Finding{}
	for _, c := range s.view.Checkpoints {
		if q.Before > 0 && c.Number >= q.Before || q.Good && !s.view.Findings[c.ID].Good || q.Limit > 0 && len(t.Checkpoints) == q.Limit {
			continue
		}
		t.Checkpoints = append(t.Checkpoints, c)
		if f, ok := s.view.Findings[c.ID]; ok {
			t.Findings[c.ID] = f
		}
	}
	return t
}

func (s *stage) Find(_ context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ws == "ws_sqlite-store" && ref == "cp_sqlite" { // what was adopted
		return retake.Checkpoint{ID: "cp_sqlite", Number: 2}, nil
	}
	for _, c := range s.view.Checkpoints {
		if string(c.ID) == ref {
			return c, nil
		}
	}
	return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "there is no such checkpoint"}
}

func (s *stage) Forks(context.Context, retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []retake.WorkspaceState
	for _, f := range s.view.Forks {
		out = append(out, f.WorkspaceState)
	}
	return out, nil
}

func (s *stage) Status(ctx context.Context, _ retake.WorkspaceID) (retake.Status, error) {
	if err := s.call(ctx, "Status"); err != nil {
		return retake.Status{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := retake.Status{Protection: "same-user", Latest: &s.view.Checkpoints[0]}
	if s.view.Now != nil {
		st.Now = *s.view.Now
	}
	return st, nil
}

func (s *stage) Story(ctx context.Context, _ retake.DiffQuery) (retake.Story, error) {
	return s.card.Story, s.call(ctx, "Story")
}

func (s *stage) Diff(ctx context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	err := s.call(ctx, "Diff "+q.From+" "+q.To)
	d := s.diff
	if q.To == "" {
		d.To = nil
	}
	return d, err
}

func (s *stage) Bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(s.texts[id])), s.call(ctx, "Bytes")
}

func (s *stage) Open(ctx context.Context, _ retake.WorkspaceID, _, path string) (io.ReadCloser, retake.Entry, error) {
	return io.NopCloser(strings.NewReader(s.texts["a2"])), retake.Entry{Name: path, Kind: retake.KindFile}, s.call(ctx, "Open")
}

func (s *stage) Verifications(ctx context.Context, q retake.VerificationQuery) ([]retake.Verification, error) {
	if q.Ref == "" {
		return s.card.Others, s.call(ctx, "Verifications")
	}
	return s.card.Verifications, s.call(ctx, "Verifications")
}

func (s *stage) State(ctx context.Context, _ retake.WorkspaceID, _ string) (retake.State, error) {
	return *s.card.State, s.call(ctx, "State")
}

func (s *stage) Conversation(ctx context.Context, _ retake.WorkspaceID, _ string) (io.ReadCloser, retake.Conversation, error) {
	return io.NopCloser(strings.NewReader(s.talk)), retake.Conversation{Agent: "claude-code", Session: "5b1e77", Complete: true}, s.call(ctx, "Conversation")
}

func (s *stage) Search(ctx context.Context, _ retake.SearchQuery) ([]retake.Hit, error) {
	return s.hits, s.call(ctx, "Search")
}

func (s *stage) PlanRestore(ctx context.Context, req retake.PlanRequest) (retake.Plan, error) {
	err := s.call(ctx, "PlanRestore")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans = append(s.plans, req)
	p := s.plan
	p.Course, p.Workspace = req.Course, req.Workspace
	return p, err
}

func (s *stage) ApplyRestore(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	req.Progress(retake.Progress{Files: 31, Total: 49})
	s.mu.Lock()
	s.apply = append(s.apply, req)
	s.mu.Unlock()
	return s.res, s.call(ctx, "ApplyRestore")
}

func (s *stage) Fork(ctx context.Context, req retake.ForkRequest) (retake.ForkResult, error) {
	s.mu.Lock()
	s.forks = append(s.forks, req)
	s.mu.Unlock()
	return retake.ForkResult{
		Workspace:  retake.Workspace{ID: "ws_f", Name: "shopfront-fork", Root: req.Dir},
		Checkpoint: retake.Checkpoint{Number: 1, Files: 38796}, Origin: s.checkpoint(13), Cloned: 38796,
	}, s.call(ctx, "Fork")
}

func (s *stage) Resume(ctx context.Context, req retake.ResumeRequest) (retake.Resumption, error) {
	next := retake.Task{Title: "replace the token middleware", Status: retake.TaskActive}
	return retake.Resumption{
		Checkpoint: retake.Checkpoint{Number: 14}, Agent: "claude-code", Dir: "/home/ann/code/shopfront", Exact: true,
		Command: []string{"claude", "--resume", "9d4c7a10-2b1e-4f6a-9c55-0e7a1b2c3d4e"}, Tasks: []retake.Task{{Title: "map token readers"}, next}, Next: &next, Effects: s.plan.Effects,
	}, s.call(ctx, "Resume")
}

// add lets checkpoints come, as when an agent works on.
func (s *stage) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.view.Checkpoints, s.view.Findings = slices.Clone(s.view.Checkpoints), maps.Clone(s.view.Findings)
	for range n {
		last := s.view.Checkpoints[0]
		c := retake.Checkpoint{
			ID: termtest.ID(last.Number + 1), Workspace: last.Workspace, Number: last.Number + 1, Parent: last.ID, Time: last.Time.Add(1e9),
			Trigger: retake.TriggerManual, Intent: fmt.Sprintf("checkpoint %d", last.Number+1), Coverage: retake.Coverage{Grade: retake.Complete},
		}
		s.view.Checkpoints = slices.Insert(s.view.Checkpoints, 0, c)
		s.view.Total++
	}
}

// long is a stage with very many checkpoints.
func long(t *testing.T, n int) *stage {
	s := newStage(t)
	v := view.Input{Tree: true}
	v.Timeline = retake.Timeline{Workspace: s.view.Workspace, Findings: map[retake.CheckpointID]retake.Finding{}, Total: int64(n)}
	st := &termtest.TimelineBuilder{View: &v}
	for i := int64(n); i > 0; i-- {
		m := st.Checkpoint(i, termtest.At(9, 0), i-1, termtest.Manual(fmt.Sprintf("step %d of the way", i))).Gist("auth.ts", 3, termtest.Src("src/auth.ts", 4, 1))
		if i%100 == 0 {
			m.Good("test")
		}
	}
	s.view = v
	return s
}
