package term

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// presentTimeout is how long a timeline waits to hear what changed since the newest checkpoint.
const presentTimeout = 300 * time.Millisecond

// PresentState is what is known of the live files.
type PresentState struct {
	Status   *retake.Status // nil: nothing
	Gist     *retake.Gist   // what changed since the newest checkpoint, when that is known too
	TimedOut bool           // there was no answer in time
}

// StartReadPresent starts to read the state of the live files and returns a function that
// waits for it. If it takes too long the state is marked as timed out; that is never an error.
func StartReadPresent(ctx context.Context, s retake.Service, ws retake.WorkspaceID) func() PresentState {
	ctx, stop := context.WithTimeout(ctx, presentTimeout)
	got := make(chan PresentState, 1)
	go func() {
		defer stop()
		got <- readPresent(ctx, s, ws)
	}()
	return func() PresentState { return <-got }
}

func readPresent(ctx context.Context, s retake.Service, ws retake.WorkspaceID) PresentState {
	type answer struct {
		st  retake.Status
		err error
	}
	answers := make(chan answer, 1)
	go func() { // who is asked may wait for a lock, and does not hear that the time is over
		st, err := s.Status(ctx, ws)
		answers <- answer{st, err}
	}()
	select {
	case <-ctx.Done():
		return PresentState{TimedOut: true}
	case a := <-answers:
		if a.err != nil {
			return PresentState{TimedOut: ctx.Err() != nil}
		}
		return PresentState{Status: &a.st, Gist: readPresentGist(ctx, s, &a.st)}
	}
}

// readPresentGist says what changed in the words of other rows, if there is time for that.
func readPresentGist(ctx context.Context, s retake.Service, st *retake.Status) *retake.Gist {
	if st.Latest == nil || st.Saving || st.Now.Total() == 0 {
		return nil
	}
	gists := make(chan *retake.Gist, 1)
	go func() {
		story, err := s.Story(ctx, retake.DiffQuery{Workspace: st.Workspace.ID, From: string(st.Latest.ID)})
		if err != nil {
			gists <- nil
			return
		}
		gists <- &story.Gist
	}()
	select {
	case <-ctx.Done():
		return nil
	case g := <-gists:
		return g
	}
}

// SetPresent sets the newest checkpoint and the state of the live files. A state that was read
// during a save, or before another checkpoint came, is dropped.
func (v *TimelineView) SetPresent(newest int64, p PresentState) {
	v.Newest = newest
	if newest == 0 && v.Tree && len(v.Checkpoints) > 0 {
		v.Newest = v.Checkpoints[0].Number
	}
	v.PresentUnknown = p.TimedOut
	st := p.Status
	if st == nil || st.Latest == nil {
		return
	}
	v.Level = st.Protection
	if st.Saving || st.Latest.Number != v.Newest {
		v.PresentUnknown = true
		return
	}
	v.Now, v.NowGist = &st.Now, p.Gist
}

// Hints lead to the checkpoint that asks to be looked at, and to one worth going back to.
// Files that are gone and in no checkpoint as deleted come first: the last checkpoint has them.
func (v TimelineView) Hints() []string {
	if v.Now != nil && v.Now.Deleted > 0 {
		return []string{"bring back", fmt.Sprintf("retake restore %d", v.Newest) + deletedPath(v.NowGist), "details", "retake diff", "all options", "retake help restore"}
	}
	at, back := v.Checkpoints[0], retake.Checkpoint{}
	for _, c := range v.Checkpoints {
		if f := v.Findings[c.ID]; f.Gist != nil && len(f.Gist.Flags) > 0 || hasFailing(f.Answers) {
			at = c
			break
		}
	}
	for _, c := range v.Checkpoints {
		if c.Number != v.Newest {
			back = c
			break
		}
	}
	if v.Good != nil && v.Good.Number != v.Newest && v.Tree {
		back = *v.Good
	}
	pairs := []string{"details", fmt.Sprintf("retake show %d", at.Number)}
	if back.Number != 0 {
		pairs = append(pairs, "go back (asks first)", fmt.Sprintf("retake restore %d", back.Number))
	}
	switch {
	case !v.Tree:
		return append(pairs, "all of it", "retake log")
	case v.hasVerifications():
		return append(pairs, "good only", "retake log --good")
	}
	return append(pairs, "since then", "retake diff")
}

// deletedPathPattern is a fact about deleted files with a path that a shell takes as it is.
var deletedPathPattern = regexp.MustCompile(`^deleted (?:[\d,]+ in )?([A-Za-z0-9_][A-Za-z0-9._/-]*?)/?$`)

// deletedPath limits a restore to what was deleted, where that is one place.
func deletedPath(g *retake.Gist) string {
	var places []string
	if g != nil {
		for _, p := range g.Points {
			if strings.HasPrefix(p.Text, "deleted ") {
				places = append(places, p.Text)
			}
		}
	}
	if len(places) == 1 {
		if m := deletedPathPattern.FindStringSubmatch(places[0]); m != nil {
			return " -- " + m[1]
		}
	}
	return " --plan"
}

func hasFailing(answers []retake.Answer) bool {
	for _, a := range answers {
		if a.Verdict == retake.Failed && !a.Claim {
			return true
		}
	}
	return false
}
