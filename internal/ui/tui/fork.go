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

// forkPage is the page of a fork that is being made, and of its result.
type forkPage struct {
	textPage
	number int64
	where  string
}

// promptFork asks where to make a fork. An empty answer makes none.
func promptFork(m *model, c retake.Checkpoint) tea.Cmd {
	in := &inputLine{prompt: fmt.Sprintf("fork %d into the directory:", c.Number)}
	if m.options.ResolveDir == nil {
		in.prompt = fmt.Sprintf("fork %d under the name:", c.Number)
	}
	if m.options.ProposeForkDir != nil {
		in.insert(m.options.ProposeForkDir())
	}
	in.onEnter = func(text string) tea.Cmd {
		if text = strings.TrimSpace(text); text == "" {
			m.notice = "no place was named, so no fork was created"
			return nil
		}
		return openFork(m, c, text)
	}
	m.currentPage().basePage().input = in
	return nil
}

func openFork(m *model, c retake.Checkpoint, place string) tea.Cmd {
	p := &forkPage{textPage: m.newTextPage(), number: c.Number, where: place}
	req := retake.ForkRequest{Workspace: m.options.Workspace.ID, Ref: string(c.ID)}
	if m.options.ResolveDir == nil {
		req.Name = place
	} else {
		req.Dir = m.options.ResolveDir(place)
		p.where = req.Dir
	}
	m.openPage(p)
	began, s, l := m.options.Clock.Now(), m.options.Service, m.style()
	ctx := m.ctx // whoever goes back lets it grow
	return callService(&p.pageBase, func(context.Context) (string, error) {
		res, err := s.Fork(ctx, req)
		if err != nil {
			return "", err
		}
		l.Titles = term.ReadTargetTitles(ctx, s, m.options.Workspace, []retake.Checkpoint{res.Origin})
		var b strings.Builder
		b.WriteString(term.RenderFork(l, res, m.options.Clock.Now().Sub(began)))
		for _, w := range res.Warnings {
			fmt.Fprintf(&b, "  %s %s\n", l.Yellow("!"), termtext.Escape(w.Text))
		}
		if r, err := s.Resume(ctx, retake.ResumeRequest{Workspace: req.Workspace, Ref: string(c.ID), Dir: res.Workspace.Root}); err == nil && (len(r.Command) > 0 || r.Next != nil) {
			b.WriteString("\n" + resumeCommandText(l, r))
		}
		b.WriteString("\n" + l.HintLine([]string{"go there", "cd " + l.ShellPath(res.Workspace.Root)}) + "\n" +
			l.HintLine([]string{"bring it home", "retake adopt " + l.ShellPath(res.Workspace.Name)}) + "\n")
		return b.String(), nil
	}, func(text string, err error) tea.Cmd {
		p.waitingSince = time.Time{}
		if !p.setError(err) {
			p.ready = true
			p.setText(text)
		}
		return m.timelinePage().poll(m)
	})
}

func (p *forkPage) handleKey(m *model, k string) tea.Cmd {
	if k == "enter" {
		k = "esc"
	}
	cmd, _ := p.handleTextKey(m, k)
	return cmd
}

func (p *forkPage) draw(_ *model, l term.Style, height int) []string {
	if !p.ready && p.err == nil {
		return []string{fmt.Sprintf("growing a fork of %d in %s", p.number, l.DisplayPath(p.where)) + l.Glyphs.More}
	}
	return p.textLines(l, height)
}

func (p *forkPage) keyHelp() []string { return []string{"j k", "scroll", "esc", "back"} }
