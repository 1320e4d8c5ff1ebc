package picture

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
)

// soon is how long a timeline waits to hear what changed since the newest moment.
const soon = 100 * time.Millisecond

// StatusSoon asks how things stand while the timeline is read. No answer in time is no
// answer, and never an error.
func StatusSoon(ctx context.Context, s retake.Service, ws retake.WorkspaceID) func() *retake.Status {
	ctx, stop := context.WithTimeout(ctx, soon)
	got := make(chan *retake.Status, 1)
	go func() {
		defer stop()
		st, err := s.Status(ctx, ws)
		if err != nil || ctx.Err() != nil {
			got <- nil
			return
		}
		got <- &st
	}()
	return func() *retake.Status { return <-got }
}

// Stand says where the files stand: at the newest moment, which is the first one only where
// none is left out. What was asked while a save went on, or before another moment came, is
// not known.
func (v *View) Stand(newest int64, st *retake.Status) {
	v.Newest = newest
	if newest == 0 && v.Tree && len(v.Checkpoints) > 0 {
		v.Newest = v.Checkpoints[0].Number
	}
	if st == nil || st.Latest == nil {
		return
	}
	v.Level = st.Protection
	if !st.Saving && st.Latest.Number == v.Newest {
		v.Now = &st.Now
	}
}

// Hints lead to the moment that asks to be looked at, and to one worth going back to.
func (v View) Hints() []string {
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
	pairs := []string{"look", fmt.Sprintf("retake show %d", at.Number)}
	if back.Number != 0 {
		pairs = append(pairs, "go back", fmt.Sprintf("retake restore %d", back.Number))
	}
	switch {
	case !v.Tree:
		return append(pairs, "all of it", "retake log")
	case v.verified():
		return append(pairs, "good ones", "retake log --good")
	}
	return append(pairs, "since then", "retake diff")
}

func failing(answers []retake.Answer) bool {
	for _, a := range answers {
		if a.Verdict == retake.Failed && !a.Claim {
			return true
		}
	}
	return false
}
