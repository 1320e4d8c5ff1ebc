package cli

import (
	"context"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/view"
)

// askObstacles asks about each obstacle and then about the whole plan. It returns the accepted
// classes.
func (j *restoreFlow) askObstacles(ctx context.Context, s retake.Service, p *retake.Plan) ([]string, error) {
	accepted := j.accept
	open := view.Unaccepted(p, accepted)
	l := j.stderrStyle()
	for i, o := range open {
		question := l.Yellow(fmt.Sprintf("%d of %d  %s:", i+1, len(open), termtext.Escape(o.Class))) + " " + termtext.Escape(o.Deed) + "?"
		if err := j.askPlan(ctx, s, p, question, i == 0); err != nil {
			return nil, err
		}
		accepted = append(accepted[:len(accepted):len(accepted)], o.Class)
	}
	if len(open) > 0 {
		fmt.Fprintln(j.Err)
	}
	return accepted, j.askPlan(ctx, s, p, termtext.Escape(view.OfPlan(p).Question), len(open) == 0)
}

// askPlan asks one question about a plan until it is answered; d and l show more and ask
// again.
func (j *restoreFlow) askPlan(ctx context.Context, s retake.Service, p *retake.Plan, question string, first bool) error {
	l := j.stderrStyle()
	keys := "[y/N]"
	if first {
		keys = "[" + l.JoinFacts("y/N", "d diff", "l list") + "]"
		if l.ShownWidth(question)+3+termtext.Width(keys) >= l.Width {
			keys = "[" + l.JoinFacts("y/N", "d", "l") + "]"
		}
	}
	for {
		answer, err := j.askLine(ctx, question+"  "+l.Dim(keys)+" ")
		switch {
		case err != nil:
			return err
		case answer == "l":
			err = j.writePlanLists(p)
		case answer == "d":
			_, err = fmt.Fprint(j.Out, term.DrawPlanDiff(ctx, j.planStyle(), s, p))
		case isYes(answer):
			return nil
		default:
			return errCancelled
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(j.Err)
	}
}
