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

// The parts of a checkpoint, by their keys 1 to 4.
const (
	partStory = iota
	partFiles
	partSaid
	partVerified
	partCount
)

var partWords = [partCount]string{"story", "files", "said", "verified"}

// checkpoint is the page of one checkpoint.
type checkpoint struct {
	base
	c     retake.Checkpoint
	card  *term.Card
	at    int
	parts [partCount]part
}

// part is one side of a checkpoint. It is asked for when somebody looks at it.
type part struct {
	scroll
	asked, ready bool
	err          *retake.Error
	text         func(l term.Look) string
	width        int // for which the text was drawn
}

func openCheckpoint(m *model, c retake.Checkpoint) tea.Cmd {
	p := &checkpoint{base: m.newBase(), c: c}
	for i := range p.parts {
		p.parts[i].scroll = newScroll("")
	}
	m.open(p)
	return p.turn(m, partStory)
}

// turn shows a part, and asks for it the first time.
func (p *checkpoint) turn(m *model, at int) tea.Cmd {
	p.at = at
	if p.parts[at].asked {
		return nil
	}
	p.parts[at].asked = true
	p.began = m.o.Clock.Now()
	switch at {
	case partFiles:
		return p.askFiles(m)
	case partSaid:
		return p.askSaid(m)
	case partVerified:
		return p.askCard(m, at, term.RenderVerified)
	}
	return p.askCard(m, at, term.RenderCard)
}

// take keeps what was heard for a part.
func (p *checkpoint) take(at int, text func(l term.Look) string, err error) tea.Cmd {
	p.began = time.Time{}
	x := &p.parts[at]
	if err != nil {
		x.err = retake.AsError(err)
		return nil
	}
	x.ready, x.text = true, text
	return nil
}

// cardReader reads the card, unless it was read before.
func (p *checkpoint) cardReader(m *model) func(context.Context) (term.Card, error) {
	have, cp, s, ws := p.card, p.c, m.o.Service, m.o.Workspace
	return func(ctx context.Context) (term.Card, error) {
		if have != nil {
			return *have, nil
		}
		c := term.Card{Checkpoint: cp}
		if err := c.Read(ctx, s, ws, false); err != nil {
			return c, err
		}
		c.Goals = term.GoalsOf(ctx, s, ws, []retake.Checkpoint{cp})
		return c, nil
	}
}

func (p *checkpoint) askCard(m *model, at int, draw func(term.Look, term.Card) string) tea.Cmd {
	return ask(&p.base, p.cardReader(m),
		func(c term.Card, err error) tea.Cmd {
			if err == nil {
				p.card = &c
			}
			return p.take(at, func(l term.Look) string { return draw(l, c) }, err)
		})
}

// files is a comparison with what a story knows of it.
type files struct {
	retake.Comparison
	story  *retake.Story
	counts map[string]term.LineCount
}

func (p *checkpoint) askFiles(m *model) tea.Cmd {
	q := retake.DiffQuery{Workspace: m.o.Workspace.ID, To: string(p.c.ID)}
	return ask(&p.base, func(ctx context.Context) (files, error) {
		d, err := m.o.Service.Diff(ctx, q)
		f := files{Comparison: d}
		if err != nil {
			return f, err
		}
		if st, err := m.o.Service.Story(ctx, q); err == nil { // the list stands without it
			f.story = &st
		}
		r := term.Content{Service: m.o.Service, Workspace: q.Workspace}
		if f.counts, err = r.Measure(ctx, term.Groups(d.Changes)); err != nil {
			f.counts = nil // nor does it need counts
		}
		return f, nil
	}, func(f files, err error) tea.Cmd { return p.take(partFiles, f.draw, err) })
}

func (f files) draw(l term.Look) string {
	gs := term.Groups(f.Changes)
	return term.RenderTotals(l, gs) + term.ToRead(l, f.story) + "\n" +
		term.RenderStatNoted(l, gs, f.counts, term.NotesOf(l, f.story))
}

// said is what the turn and the whole conversation say.
type said struct {
	card term.Card
	talk *term.Conversation
}

func (p *checkpoint) askSaid(m *model) tea.Cmd {
	read, cp := p.cardReader(m), p.c
	return ask(&p.base, func(ctx context.Context) (said, error) {
		c, err := read(ctx)
		if err != nil {
			return said{}, err
		}
		out := said{card: c}
		if cp.Turn != nil {
			if a, err := term.ReadConversation(ctx, m.o.Service, m.o.Workspace.ID, cp); err == nil { // the turn has the most of it
				out.talk = &a
			}
		}
		return out, nil
	}, func(s said, err error) tea.Cmd { return p.take(partSaid, s.draw, err) })
}

// saidLines is how much of a conversation is shown: its end.
const saidLines = 3000

func (s said) draw(l term.Look) string {
	out := term.RenderSaid(l, s.card)
	if s.talk == nil {
		return out
	}
	lines := strings.Split(strings.TrimRight(term.RenderConversation(l, *s.talk), "\n"), "\n")
	if more := len(lines) - saidLines; more > 0 {
		lines = append([]string{l.Dim(fmt.Sprintf("%s %s lines before: retake show %d --conversation", l.Glyphs.More, termtext.Count(int64(more)), s.card.Checkpoint.Number))}, lines[more:]...)
	}
	return out + "\n" + rule(l) + "\n" + strings.Join(lines, "\n")
}

func (p *checkpoint) key(m *model, k string) tea.Cmd {
	switch k {
	case "esc":
		m.back()
		return nil
	case "1", "2", "3", "4":
		return p.turn(m, int(k[0]-'1'))
	case "tab":
		return p.turn(m, (p.at+1)%partCount)
	case "u":
		return openPlan(m, retake.PlanRequest{Course: retake.CourseUndo})
	}
	if aboutCheckpoint(k) {
		return checkpointKey(m, k, p.c)
	}
	cmd, _ := p.parts[p.at].hear(m, &p.base, k)
	return cmd
}

func (p *checkpoint) draw(_ *model, l term.Look, height int) []string {
	out := []string{p.head(l), rule(l)}
	x := &p.parts[p.at]
	switch {
	case x.err != nil:
		return append(out, troubleLines(l, x.err)...)
	case !x.ready:
		return append(out, l.Dim("reading"+l.Glyphs.More))
	}
	if x.width != l.Width {
		x.width = l.Width
		x.set(x.text(l))
	}
	return append(out, x.draw(l, height-len(out))...)
}

func (p *checkpoint) head(l term.Look) string {
	var tabs []string
	for i, w := range partWords {
		tab := fmt.Sprintf(" %d %s ", i+1, w)
		if i == p.at {
			tab = "\x1b[7m" + tab + "\x1b[0m"
		} else {
			tab = l.Dim(tab)
		}
		tabs = append(tabs, tab)
	}
	right := strings.Join(tabs, "")
	left := l.Bold("checkpoint " + term.Numeral(p.c.Number))
	return l.Ends(left, right, l.ShownWidth(left), l.ShownWidth(right))
}

func (p *checkpoint) say(_ *model, l term.Look) string { return l.Dim(p.parts[p.at].place()) }

func (p *checkpoint) keys() []string {
	return []string{"1–4", "parts", "j k", "scroll", "d", "diff", "D", "with now", "r", "restore", "f", "fork", "/", "find", "esc", "back"}
}
