package term

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// soon is how long a timeline waits to hear what changed since the newest checkpoint.
const soon = 300 * time.Millisecond

// Present is what is known of the files as they are now.
type Present struct {
	Status *retake.Status // nil: nothing
	Gist   *retake.Gist   // what changed since the newest checkpoint, when that is known too
	Late   bool           // there was no answer in time
}

// PresentSoon asks how things stand while the timeline is read. No answer in time is said to
// be late, and never an error.
func PresentSoon(ctx context.Context, s retake.Service, ws retake.WorkspaceID) func() Present {
	ctx, stop := context.WithTimeout(ctx, soon)
	got := make(chan Present, 1)
	go func() {
		defer stop()
		got <- present(ctx, s, ws)
	}()
	return func() Present { return <-got }
}

func present(ctx context.Context, s retake.Service, ws retake.WorkspaceID) Present {
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
		return Present{Late: true}
	case a := <-answers:
		if a.err != nil {
			return Present{Late: ctx.Err() != nil}
		}
		return Present{Status: &a.st, Gist: presentGist(ctx, s, &a.st)}
	}
}

// presentGist says what changed in the words of other rows, if there is time for that.
func presentGist(ctx context.Context, s retake.Service, st *retake.Status) *retake.Gist {
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

// Stand says where the files stand: at the newest checkpoint, which is the first one only where
// none is left out. What was asked while a save went on, or before another checkpoint came, is
// not known.
func (v *View) Stand(newest int64, p Present) {
	v.Newest = newest
	if newest == 0 && v.Tree && len(v.Checkpoints) > 0 {
		v.Newest = v.Checkpoints[0].Number
	}
	v.Late = p.Late
	st := p.Status
	if st == nil || st.Latest == nil {
		return
	}
	v.Level = st.Protection
	if st.Saving || st.Latest.Number != v.Newest {
		v.Late = true
		return
	}
	v.Now, v.NowGist = &st.Now, p.Gist
}

// Hints lead to the checkpoint that asks to be looked at, and to one worth going back to.
// Files that are gone and in no checkpoint as deleted come first: the last checkpoint has them.
func (v View) Hints() []string {
	if v.Now != nil && v.Now.Deleted > 0 {
		return []string{"bring back", fmt.Sprintf("retake restore %d", v.Newest) + deletedPath(v.NowGist), "details", "retake diff", "all options", "retake help restore"}
	}
	at, back := v.Checkpoints[0], retake.Checkpoint{}
	for _, c := range v.Checkpoints {
		if f := v.Findings[c.ID]; f.Gist != nil && len(f.Gist.Flags) > 0 || failing(f.Answers) {
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
	case v.verified():
		return append(pairs, "good only", "retake log --good")
	}
	return append(pairs, "since then", "retake diff")
}

// deletedPlace is a fact about deleted files with a path that a shell takes as it is.
var deletedPlace = regexp.MustCompile(`^deleted (?:[\d,]+ in )?([A-Za-z0-9_][A-Za-z0-9._/-]*?)/?$`)

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
		if m := deletedPlace.FindStringSubmatch(places[0]); m != nil {
			return " -- " + m[1]
		}
	}
	return " --plan"
}

func failing(answers []retake.Answer) bool {
	for _, a := range answers {
		if a.Verdict == retake.Failed && !a.Claim {
			return true
		}
	}
	return false
}
