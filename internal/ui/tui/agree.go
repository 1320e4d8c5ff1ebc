package tui

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/view"
)

// askFirst starts the questions: one for each obstacle, and a last one for the whole plan.
func (p *planPage) askFirst(m *model) tea.Cmd {
	if view.IsIdlePlan(p.plan) {
		m.notice = "there is nothing to do"
		return nil
	}
	p.outdated, p.form = nil, formFolded
	p.accepted, p.unaccepted = nil, view.Unaccepted(p.plan, nil)
	p.askNext(m)
	return nil
}

// askNext asks the next question. The default is no, and nothing can be pasted into it.
func (p *planPage) askNext(m *model) {
	l := m.style()
	p.question = l.Bold(termtext.Escape(view.OfPlan(p.plan).Question))
	if i := len(p.accepted); i < len(p.unaccepted) {
		o := p.unaccepted[i]
		p.question = l.Yellow(fmt.Sprintf("%d of %d  %s:", i+1, len(p.unaccepted), termtext.Escape(o.Class))) + " " + termtext.Escape(o.Deed) + "?"
	}
	p.input = &inputLine{prompt: "[y/N, esc goes back to the plan]", noPaste: true, onEnter: func(text string) tea.Cmd { return p.handleAnswer(m, text) }, onEscape: func() tea.Cmd {
		p.accepted, p.question = nil, ""
		return nil
	}}
}

// handleAnswer handles the answer to the open question: yes, or the plan is left.
func (p *planPage) handleAnswer(m *model, text string) tea.Cmd {
	p.question = ""
	if text = strings.ToLower(strings.TrimSpace(text)); text != "y" && text != "yes" {
		m.closeAllPages()
		m.notice = "Canceled. " + nothingChanged
		return nil
	}
	if i := len(p.accepted); i < len(p.unaccepted) {
		p.accepted = append(p.accepted, p.unaccepted[i].Class)
		p.askNext(m)
		return nil
	}
	return p.applyPlan(m)
}

// runningRestore is a plan that is being applied.
type runningRestore struct {
	began    time.Time
	progress atomic.Pointer[retake.Progress]
	stop     context.CancelFunc
	stopping bool // it was asked to stop
}

// restoreOutcome is the result of an applied plan.
type restoreOutcome struct {
	res    retake.RestoreResult
	took   time.Duration
	resume *retake.Resumption
}

// applyPlan applies the plan on the screen, by its digest. It does not use the context of the
// page, because the page cannot be closed before it ends.
func (p *planPage) applyPlan(m *model) tea.Cmd {
	ctx, stop := context.WithCancel(m.ctx)
	d := &runningRestore{began: m.options.Clock.Now(), stop: stop}
	p.running = d
	req := retake.ApplyRequest{
		PlanRequest: p.req, Digest: p.plan.Digest, Accept: p.accepted,
		Progress: func(at retake.Progress) { d.progress.Store(&at) },
	}
	s := m.options.Service
	return tea.Batch(callService(&p.pageBase, func(context.Context) (retake.RestoreResult, error) {
		defer stop()
		return s.ApplyRestore(ctx, req)
	}, func(res retake.RestoreResult, err error) tea.Cmd { return p.handleResult(m, res, err) }), p.redrawProgress())
}

// redrawProgress redraws the progress while a plan is applied.
func (p *planPage) redrawProgress() tea.Cmd {
	return tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg {
		return serviceReply{&p.pageBase, func() tea.Cmd {
			if !p.isApplying() {
				return nil
			}
			return p.redrawProgress()
		}}
	})
}

// cancelApply asks the service to stop between two files; the page then shows the result.
func (p *planPage) cancelApply(m *model) tea.Cmd {
	if p.running.stopping { // somebody insists
		return tea.Quit
	}
	p.running.stopping = true
	p.running.stop()
	m.notice = "stopping between two files; ctrl-c again leaves at once"
	return nil
}

// handleResult shows the result of applying, or why the plan was refused.
func (p *planPage) handleResult(m *model, res retake.RestoreResult, err error) tea.Cmd {
	if err != nil {
		return p.handleRefusal(m, retake.AsError(err))
	}
	p.result = &restoreOutcome{res: res, took: m.options.Clock.Now().Sub(p.running.began)}
	m.lastResult = func() string {
		l := m.style()
		l.Titles = p.titles
		return p.result.resultWithResume(l, p.plan)
	}
	p.top = 0
	look := m.timelinePage().poll(m)
	if p.plan.Course == retake.CourseAdopt || len(p.plan.Paths) > 0 || res.Checkpoint.ID == "" {
		return look
	}
	s, ws := m.options.Service, m.options.Workspace.ID
	return tea.Batch(look, callService(&p.pageBase, func(ctx context.Context) (retake.Resumption, error) {
		return s.Resume(ctx, retake.ResumeRequest{Workspace: ws, Ref: string(res.Checkpoint.ID)})
	}, func(r retake.Resumption, err error) tea.Cmd {
		if err == nil && (len(r.Command) > 0 || r.Next != nil) { // it is context: when it is not known, nothing is said
			p.result.resume = &r
		}
		return nil
	}))
}

// handleRefusal shows why a plan was not applied. If the files changed, it shows the new plan
// and asks everything again.
func (p *planPage) handleRefusal(m *model, e *retake.Error) tea.Cmd {
	p.running = nil
	shown := *e
	switch e.Kind {
	case retake.Moved:
		shown.Hint = ""
		p.outdated = &shown
		return p.requestPlan(m)
	case retake.Canceled:
		shown.Safe, shown.Hint = "What was done until then stays; no byte is lost.", "see its state: retake status"
	default:
	}
	p.err = &shown
	return m.timelinePage().poll(m)
}

func (d *runningRestore) draw(_ *model, l term.Style) []string {
	at := retake.Progress{}
	if x := d.progress.Load(); x != nil {
		at = *x
	}
	return []string{"", term.RenderProgress(l, "applying", at)}
}

// resultWithResume returns what was done and how the conversation can be resumed.
func (a *restoreOutcome) resultWithResume(l term.Style, p *retake.Plan) string {
	var b strings.Builder
	b.WriteString(term.RenderResult(l, p, a.res, a.took))
	for _, w := range a.res.Warnings {
		fmt.Fprintf(&b, "  %s %s\n", l.Yellow("!"), termtext.Escape(w.Text))
	}
	if len(a.res.Failed) > 0 {
		b.WriteString("\n" + strings.Join(errorLines(l, term.PartlyDoneError(a.res)), "\n") + "\n")
	}
	if a.resume != nil {
		b.WriteString("\n" + resumeCommandText(l, *a.resume))
	}
	return b.String()
}

func (a *restoreOutcome) resultText(l term.Style, p *retake.Plan) string {
	if p.Course == retake.CourseUndo {
		return a.resultWithResume(l, p) + "\n" + l.HintLine([]string{"forward again", "retake redo", "one further", "u"}) + "\n"
	}
	return a.resultWithResume(l, p) + "\n" + l.HintLine([]string{"changed your mind", "u shows the plan to undo it"}) + "\n"
}

// resumeCommandText breaks a command that is too long for a line so that a shell still accepts
// it.
func resumeCommandText(l term.Style, r retake.Resumption) string {
	lines := strings.Split(term.RenderResume(l, r), "\n")
	for i, line := range lines {
		if before, after, two := strings.Cut(line, " && "); two && l.ShownWidth(line) > l.Width {
			lines[i] = l.Bold(term.StripANSI(before)+" && \\") + "\n      " + l.Bold(term.StripANSI(after))
		}
	}
	return strings.Join(lines, "\n")
}

// handleDoneKey handles keys after the plan was applied.
func (p *planPage) handleDoneKey(m *model, k string) tea.Cmd {
	switch k {
	case "esc", "enter":
		m.closeAllPages()
		return m.timelinePage().poll(m)
	case "u":
		m.closeAllPages()
		return openPlan(m, retake.PlanRequest{Course: retake.CourseUndo})
	}
	cmd, _ := p.handleScrollKey(m, &p.pageBase, k)
	return cmd
}
