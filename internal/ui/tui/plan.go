package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// plan is the page of a plan: first what would be done, then questions, then the deed and
// what came of it. Nothing but the answer to the last question applies it.
type plan struct {
	reading
	req    retake.PlanRequest
	plan   *retake.Plan
	goals  term.Goals
	moved  *retake.Error // why an earlier plan was not applied
	form   form
	listed string // the diff, when it was asked for
	drawn  drawn

	open     []retake.Obstacle // that ask, in order
	accepted []string

	deed *deed
	done *arrival
}

// form is what is shown of a plan.
type form int

const (
	formFolded form = iota
	formList
	formDiff
)

// drawn is for what the text was drawn last: a plan may have very many paths.
type drawn struct {
	plan        *retake.Plan
	form        form
	width, room int
}

func openPlan(m *model, req retake.PlanRequest) tea.Cmd {
	req.Workspace = m.o.Workspace.ID
	p := &plan{reading: m.newReading(), req: req}
	m.open(p)
	return p.ask(m)
}

// planned is a plan and the names that its picture needs.
type planned struct {
	plan  retake.Plan
	goals term.Goals
}

// ask asks for the plan, or for another one after the world moved.
func (p *plan) ask(m *model) tea.Cmd {
	s, req := m.o.Service, p.req
	p.began, p.ready, p.plan = m.o.Clock.Now(), false, nil
	p.accepted, p.open, p.form, p.listed = nil, nil, formFolded, ""
	return ask(&p.base, func(ctx context.Context) (planned, error) {
		pl, err := s.PlanRestore(ctx, req)
		if err != nil {
			return planned{}, err
		}
		out := planned{plan: pl}
		if t := pl.Target; t != nil && t.Return != nil {
			out.goals = term.GoalsOf(ctx, s, retake.Workspace{ID: req.Workspace}, []retake.Checkpoint{*t})
		}
		return out, nil
	}, func(x planned, err error) tea.Cmd {
		p.began = time.Time{}
		if !p.failed(err) {
			p.ready, p.plan, p.goals = true, &x.plan, x.goals
		}
		return nil
	})
}

func (p *plan) applying() bool { return p.deed != nil && p.done == nil && p.err == nil }

func (p *plan) key(m *model, k string) tea.Cmd {
	switch {
	case p.done != nil:
		return p.afterKey(m, k)
	case k == "esc":
		return p.escape(m)
	case p.plan == nil:
		return nil
	}
	switch k {
	case "enter":
		return p.begin(m)
	case "l":
		p.show(formList)
		return nil
	case "d":
		return p.diff(m)
	}
	cmd, _ := p.hear(m, &p.base, k)
	return cmd
}

// show turns to a form of the plan, or back to the folded one.
func (p *plan) show(f form) {
	if p.form == f {
		f = formFolded
	}
	p.form, p.top = f, 0
}

// escape goes back: from another form to the plan, from the plan to where it was opened.
func (p *plan) escape(m *model) tea.Cmd {
	if p.form != formFolded && p.err == nil {
		p.show(formFolded)
		return nil
	}
	m.back()
	return nil
}

// diff shows the plan as counts of lines.
func (p *plan) diff(m *model) tea.Cmd {
	if p.listed != "" {
		p.show(formDiff)
		return nil
	}
	pl, l := p.plan, m.look()
	return ask(&p.base, func(ctx context.Context) (string, error) { return term.DrawPlanDiff(ctx, l, m.o.Service, pl), nil },
		func(text string, _ error) tea.Cmd {
			if p.plan == pl {
				p.listed = text
				p.show(formDiff)
			}
			return nil
		})
}

func (p *plan) draw(m *model, l term.Look, height int) []string {
	l.Goals = p.goals
	var lines, below []string
	if p.moved != nil && p.plan != nil {
		lines = append(troubleLines(l, p.moved), l.Dim("This is the plan as it is now."), "")
	}
	switch {
	case p.done != nil:
		p.set(p.done.text(l, p.plan))
	case p.deed != nil && p.err == nil:
		below = p.deed.draw(m, l)
	}
	room := height - len(lines) - len(below)
	// The plan is the same with a question below it: what has no room then is scrolled to.
	if now := (drawn{p.plan, p.form, l.Width, m.height - 2 - len(lines)}); p.done == nil && p.plan != nil && p.err == nil && p.drawn != now {
		p.drawn = now
		p.set(p.text(l, now.room))
	}
	body := p.body(l, room)
	if more := len(p.lines) - p.top - room; p.question != "" && more > 0 && len(body) == room {
		body[room-1] = l.Dim(fmt.Sprintf("%s %s more; the arrows scroll", l.Glyphs.More, term.Number(int64(more+1), "line", "lines")))
	}
	for len(below) > 0 && len(body) < room {
		body = append(body, "")
	}
	return append(append(lines, body...), below...)
}

func (p *plan) text(l term.Look, room int) string {
	switch {
	case term.Idle(p.plan):
		return term.RenderIdle(l, p.plan)
	case p.form == formDiff:
		return p.listed
	case p.form == formList:
		var b strings.Builder
		_ = term.WritePlanList(&b, l, p.plan) // a builder takes everything
		return b.String()
	}
	return term.RenderPlanIn(l, p.plan, room)
}

func (p *plan) keys() []string {
	switch {
	case p.applying():
		return []string{"ctrl-c", "stop between two files"}
	case p.done != nil && p.plan.Course == retake.CourseUndo:
		return []string{"u", "undo one further", "j k", "scroll", "enter", "timeline"}
	case p.done != nil:
		return []string{"u", "undo this", "j k", "scroll", "enter", "timeline"}
	case p.plan == nil:
		return []string{"esc", "back"}
	case term.Idle(p.plan):
		return []string{"esc", "back"}
	case p.form == formList:
		return []string{"enter", "continue to the questions", "l", "fold", "d", "diff", "/", "find", "esc", "fold"}
	}
	return []string{"enter", "continue to the questions", "l", "every path", "d", "diff", "esc", "back, nothing is changed"}
}
