package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/view"
)

// planPage is the page of a plan: first the plan, then questions, then progress and the
// result. Only the answer to the last question applies the plan.
type planPage struct {
	textPage
	req       retake.PlanRequest
	plan      *retake.Plan
	titles    term.TargetTitles
	outdated  *retake.Error // why an earlier plan was not applied
	form      planForm
	diffText  string // the diff, when it was asked for
	lastDrawn drawnPlan

	unaccepted []retake.PlanAsk // that ask, in order
	accepted   []string

	running *runningRestore
	result  *restoreOutcome
}

// planForm is what is shown of a plan.
type planForm int

const (
	formFolded planForm = iota
	formList
	formDiff
)

// drawnPlan is the plan and size for which the text was last drawn, which is not repeated
// because a plan may have very many paths.
type drawnPlan struct {
	plan        *retake.Plan
	form        planForm
	width, room int
}

func openPlan(m *model, req retake.PlanRequest) tea.Cmd {
	req.Workspace = m.options.Workspace.ID
	p := &planPage{textPage: m.newTextPage(), req: req}
	m.openPage(p)
	return p.requestPlan(m)
}

// planReply is a plan and the titles needed to draw it.
type planReply struct {
	plan   retake.Plan
	titles term.TargetTitles
}

// requestPlan requests the plan, or a new one after the files changed.
func (p *planPage) requestPlan(m *model) tea.Cmd {
	s, req := m.options.Service, p.req
	p.waitingSince, p.ready, p.plan = m.options.Clock.Now(), false, nil
	p.accepted, p.unaccepted, p.form, p.diffText = nil, nil, formFolded, ""
	return callService(&p.pageBase, func(ctx context.Context) (planReply, error) {
		pl, err := s.PlanRestore(ctx, req)
		if err != nil {
			return planReply{}, err
		}
		out := planReply{plan: pl}
		if t := pl.Target; t != nil && t.Return != nil {
			out.titles = term.ReadTargetTitles(ctx, s, retake.Workspace{ID: req.Workspace}, []retake.Checkpoint{*t})
		}
		return out, nil
	}, func(x planReply, err error) tea.Cmd {
		p.waitingSince = time.Time{}
		if !p.setError(err) {
			p.ready, p.plan, p.titles = true, &x.plan, x.titles
		}
		return nil
	})
}

func (p *planPage) isApplying() bool { return p.running != nil && p.result == nil && p.err == nil }

func (p *planPage) handleKey(m *model, k string) tea.Cmd {
	switch {
	case p.result != nil:
		return p.handleDoneKey(m, k)
	case k == "esc":
		return p.goBack(m)
	case p.plan == nil:
		return nil
	}
	switch k {
	case "enter":
		return p.askFirst(m)
	case "l":
		p.showForm(formList)
		return nil
	case "d":
		return p.showDiff(m)
	}
	cmd, _ := p.handleScrollKey(m, &p.pageBase, k)
	return cmd
}

// showForm shows a form of the plan, or the folded one if it is already shown.
func (p *planPage) showForm(f planForm) {
	if p.form == f {
		f = formFolded
	}
	p.form, p.top = f, 0
}

// goBack goes back from another form to the plan, and from the plan to the page before.
func (p *planPage) goBack(m *model) tea.Cmd {
	if p.form != formFolded && p.err == nil {
		p.showForm(formFolded)
		return nil
	}
	m.closePage()
	return nil
}

// showDiff shows the plan as counts of lines.
func (p *planPage) showDiff(m *model) tea.Cmd {
	if p.diffText != "" {
		p.showForm(formDiff)
		return nil
	}
	pl, l := p.plan, m.style()
	return callService(&p.pageBase, func(ctx context.Context) (string, error) {
		return term.DrawPlanDiff(ctx, l, m.options.Service, pl), nil
	},
		func(text string, _ error) tea.Cmd {
			if p.plan == pl {
				p.diffText = text
				p.showForm(formDiff)
			}
			return nil
		})
}

func (p *planPage) draw(m *model, l term.Style, height int) []string {
	l.Titles = p.titles
	var lines, below []string
	if p.outdated != nil && p.plan != nil {
		lines = append(errorLines(l, p.outdated), l.Dim("This is the plan as it is now."), "")
	}
	switch {
	case p.result != nil:
		p.setText(p.result.resultText(l, p.plan))
	case p.running != nil && p.err == nil:
		below = p.running.draw(m, l)
	}
	room := height - len(lines) - len(below)
	// The plan is the same with a question below it: what has no room then is scrolled to.
	if now := (drawnPlan{p.plan, p.form, l.Width, m.height - 2 - len(lines)}); p.result == nil && p.plan != nil && p.err == nil && p.lastDrawn != now {
		p.lastDrawn = now
		p.setText(p.text(l, now.room))
	}
	body := p.textLines(l, room)
	if more := len(p.lines) - p.top - room; p.question != "" && more > 0 && len(body) == room {
		body[room-1] = l.Dim(fmt.Sprintf("%s %s more; the arrows scroll", l.Glyphs.More, term.CountNoun(int64(more+1), "line", "lines")))
	}
	for len(below) > 0 && len(body) < room {
		body = append(body, "")
	}
	return append(append(lines, body...), below...)
}

func (p *planPage) text(l term.Style, room int) string {
	switch {
	case view.IsIdlePlan(p.plan):
		return term.RenderIdlePlan(l, p.plan)
	case p.form == formDiff:
		return p.diffText
	case p.form == formList:
		var b strings.Builder
		_ = term.WritePlanList(&b, l, p.plan) // a builder takes everything
		return b.String()
	}
	return term.RenderPlanIn(l, p.plan, room)
}

func (p *planPage) keyHelp() []string {
	switch {
	case p.isApplying():
		return []string{"ctrl-c", "stop between two files"}
	case p.result != nil && p.plan.Course == retake.CourseUndo:
		return []string{"u", "undo one further", "j k", "scroll", "enter", "timeline"}
	case p.result != nil:
		return []string{"u", "undo this", "j k", "scroll", "enter", "timeline"}
	case p.plan == nil:
		return []string{"esc", "back"}
	case view.IsIdlePlan(p.plan):
		return []string{"esc", "back"}
	case p.form == formList:
		return []string{"enter", "continue to the questions", "l", "fold", "d", "diff", "/", "find", "esc", "fold"}
	}
	return []string{"enter", "continue to the questions", "l", "every path", "d", "diff", "esc", "back, nothing is changed"}
}
