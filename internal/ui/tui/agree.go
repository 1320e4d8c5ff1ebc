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
)

// begin asks about each obstacle, and then about the whole.
func (p *plan) begin(m *model) tea.Cmd {
	if term.Idle(p.plan) {
		m.note = "there is nothing to do"
		return nil
	}
	p.moved, p.form = nil, formFolded
	p.accepted, p.open = nil, term.Unaccepted(p.plan, nil)
	p.put(m)
	return nil
}

// put puts the next question. The default is no, and nothing can be pasted into it.
func (p *plan) put(m *model) {
	l := m.look()
	p.question = l.Bold(term.LastQuestion(p.plan))
	if i := len(p.accepted); i < len(p.open) {
		o := p.open[i]
		p.question = l.Yellow(fmt.Sprintf("%d of %d  %s:", i+1, len(p.open), termtext.Escape(o.Class))) + " " + termtext.Escape(term.Deed(p.plan, o)) + "?"
	}
	p.input = &input{prompt: "[y/N, esc goes back to the plan]", strict: true, done: func(text string) tea.Cmd { return p.answer(m, text) }, left: func() tea.Cmd {
		p.accepted, p.question = nil, ""
		return nil
	}}
}

// answer hears the answer to the question that is open: yes, or we leave.
func (p *plan) answer(m *model, text string) tea.Cmd {
	p.question = ""
	if text = strings.ToLower(strings.TrimSpace(text)); text != "y" && text != "yes" {
		m.home()
		m.note = "Canceled. " + nothingChanged
		return nil
	}
	if i := len(p.accepted); i < len(p.open) {
		p.accepted = append(p.accepted, p.open[i].Class)
		p.put(m)
		return nil
	}
	return p.apply(m)
}

// deed is a plan that is being applied.
type deed struct {
	began time.Time
	at    atomic.Pointer[retake.Progress]
	stop  context.CancelFunc
	ends  bool // it was asked to stop
}

// arrival is what came of a plan.
type arrival struct {
	res    retake.RestoreResult
	took   time.Duration
	resume *retake.Resumption
}

// apply does the plan that is on the screen, by its digest. It does not end when the page
// is left, because the page cannot be left before.
func (p *plan) apply(m *model) tea.Cmd {
	ctx, stop := context.WithCancel(m.ctx)
	d := &deed{began: m.o.Clock.Now(), stop: stop}
	p.deed = d
	req := retake.ApplyRequest{
		PlanRequest: p.req, Digest: p.plan.Digest, Accept: p.accepted,
		Progress: func(at retake.Progress) { d.at.Store(&at) },
	}
	s := m.o.Service
	return tea.Batch(ask(&p.base, func(context.Context) (retake.RestoreResult, error) {
		defer stop()
		return s.ApplyRestore(ctx, req)
	}, func(res retake.RestoreResult, err error) tea.Cmd { return p.arrive(m, res, err) }), p.watch())
}

// watch draws the progress again while something is applied.
func (p *plan) watch() tea.Cmd {
	return tea.Tick(100*time.Millisecond, func(time.Time) tea.Msg {
		return heard{&p.base, func() tea.Cmd {
			if !p.applying() {
				return nil
			}
			return p.watch()
		}}
	})
}

// stop asks the service to end between two files; the page says what came of it.
func (p *plan) stop(m *model) tea.Cmd {
	if p.deed.ends { // somebody insists
		return tea.Quit
	}
	p.deed.ends = true
	p.deed.stop()
	m.note = "stopping between two files; ctrl-c again leaves at once"
	return nil
}

func (p *plan) arrive(m *model, res retake.RestoreResult, err error) tea.Cmd {
	if err != nil {
		return p.refused(m, retake.AsError(err))
	}
	p.done = &arrival{res: res, took: m.o.Clock.Now().Sub(p.deed.began)}
	m.done = func() string {
		l := m.look()
		l.Goals = p.goals
		return p.done.told(l, p.plan)
	}
	p.top = 0
	look := m.timeline().poll(m)
	if p.plan.Course == retake.CourseAdopt || len(p.plan.Paths) > 0 || res.Checkpoint.ID == "" {
		return look
	}
	s, ws := m.o.Service, m.o.Workspace.ID
	return tea.Batch(look, ask(&p.base, func(ctx context.Context) (retake.Resumption, error) {
		return s.Resume(ctx, retake.ResumeRequest{Workspace: ws, Ref: string(res.Checkpoint.ID)})
	}, func(r retake.Resumption, err error) tea.Cmd {
		if err == nil && (len(r.Command) > 0 || r.Next != nil) { // it is context: when it is not known, nothing is said
			p.done.resume = &r
		}
		return nil
	}))
}

// refused tells why a plan was not applied. When the files moved on, the plan as it is now
// is shown, and everything is asked again.
func (p *plan) refused(m *model, e *retake.Error) tea.Cmd {
	p.deed = nil
	shown := *e
	switch e.Kind {
	case retake.Moved:
		shown.Hint = ""
		p.moved = &shown
		return p.ask(m)
	case retake.Canceled:
		shown.Safe, shown.Hint = "What was done until then stays; no byte is lost.", "see its state: retake status"
	default:
	}
	p.err = &shown
	return m.timeline().poll(m)
}

func (d *deed) draw(_ *model, l term.Look) []string {
	at := retake.Progress{}
	if x := d.at.Load(); x != nil {
		at = *x
	}
	return []string{"", term.RenderProgress(l, "applying", at)}
}

// told is what was done, and how the conversation goes on from there.
func (a *arrival) told(l term.Look, p *retake.Plan) string {
	var b strings.Builder
	b.WriteString(term.RenderResult(l, p, a.res, a.took))
	for _, w := range a.res.Warnings {
		fmt.Fprintf(&b, "  %s %s\n", l.Yellow("!"), termtext.Escape(w.Text))
	}
	if len(a.res.Failed) > 0 {
		b.WriteString("\n" + strings.Join(troubleLines(l, term.PartlyDone(a.res)), "\n") + "\n")
	}
	if a.resume != nil {
		b.WriteString("\n" + resumeText(l, *a.resume))
	}
	return b.String()
}

func (a *arrival) text(l term.Look, p *retake.Plan) string {
	if p.Course == retake.CourseUndo {
		return a.told(l, p) + "\n" + l.Pairs([]string{"forward again", "retake redo", "one further", "u"}) + "\n"
	}
	return a.told(l, p) + "\n" + l.Pairs([]string{"changed your mind", "u shows the plan to undo it"}) + "\n"
}

// resumeText breaks a command that is too long for a line so that a shell takes it from
// two.
func resumeText(l term.Look, r retake.Resumption) string {
	lines := strings.Split(term.RenderResume(l, r), "\n")
	for i, line := range lines {
		if before, after, two := strings.Cut(line, " && "); two && l.ShownWidth(line) > l.Width {
			lines[i] = l.Bold(term.Strip(before)+" && \\") + "\n      " + l.Bold(term.Strip(after))
		}
	}
	return strings.Join(lines, "\n")
}

// afterKey hears keys when all is done.
func (p *plan) afterKey(m *model, k string) tea.Cmd {
	switch k {
	case "esc", "enter":
		m.home()
		return m.timeline().poll(m)
	case "u":
		m.home()
		return openPlan(m, retake.PlanRequest{Course: retake.CourseUndo})
	}
	cmd, _ := p.hear(m, &p.base, k)
	return cmd
}
