package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// forked is the page of a fork that grows, and of what came of it.
type forked struct {
	reading
	number int64
	where  string
}

// askFork asks where a fork shall grow. An empty answer grows none.
func askFork(m *model, c retake.Checkpoint) tea.Cmd {
	in := &input{prompt: fmt.Sprintf("fork %d into the directory:", c.Number)}
	if m.o.At == nil {
		in.prompt = fmt.Sprintf("fork %d under the name:", c.Number)
	}
	if m.o.ForkTo != nil {
		in.add(m.o.ForkTo())
	}
	in.done = func(text string) tea.Cmd {
		if text = strings.TrimSpace(text); text == "" {
			m.note = "no place was named, so no fork was created"
			return nil
		}
		return openFork(m, c, text)
	}
	m.page().own().input = in
	return nil
}

func openFork(m *model, c retake.Checkpoint, place string) tea.Cmd {
	p := &forked{reading: m.newReading(), number: c.Number, where: place}
	req := retake.ForkRequest{Workspace: m.o.Workspace.ID, Ref: string(c.ID)}
	if m.o.At == nil {
		req.Name = place
	} else {
		req.Dir = m.o.At(place)
		p.where = req.Dir
	}
	m.open(p)
	began, s, l := m.o.Clock.Now(), m.o.Service, m.look()
	ctx := m.ctx // whoever goes back lets it grow
	return ask(&p.base, func(context.Context) (string, error) {
		res, err := s.Fork(ctx, req)
		if err != nil {
			return "", err
		}
		l.Goals = term.GoalsOf(ctx, s, m.o.Workspace, []retake.Checkpoint{res.Origin})
		var b strings.Builder
		b.WriteString(term.RenderFork(l, res, m.o.Clock.Now().Sub(began)))
		for _, w := range res.Warnings {
			fmt.Fprintf(&b, "  %s %s\n", l.Yellow("!"), termtext.Escape(w.Text))
		}
		if r, err := s.Resume(ctx, retake.ResumeRequest{Workspace: req.Workspace, Ref: string(c.ID), Dir: res.Workspace.Root}); err == nil && (len(r.Command) > 0 || r.Next != nil) {
			b.WriteString("\n" + resumeText(l, r))
		}
		b.WriteString("\n" + l.Pairs([]string{"go there", "cd " + l.Word(res.Workspace.Root)}) + "\n" +
			l.Pairs([]string{"bring it home", "retake adopt " + l.Word(res.Workspace.Name)}) + "\n")
		return b.String(), nil
	}, func(text string, err error) tea.Cmd {
		p.began = time.Time{}
		if !p.failed(err) {
			p.ready = true
			p.set(text)
		}
		return m.timeline().poll(m)
	})
}

func (p *forked) key(m *model, k string) tea.Cmd {
	if k == "enter" {
		k = "esc"
	}
	cmd, _ := p.turn(m, k)
	return cmd
}

func (p *forked) draw(_ *model, l term.Look, height int) []string {
	if !p.ready && p.err == nil {
		return []string{fmt.Sprintf("growing a fork of %d in %s", p.number, l.Path(p.where)) + l.Glyphs.More}
	}
	return p.body(l, height)
}

func (p *forked) keys() []string { return []string{"j k", "scroll", "esc", "back"} }
