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

var partTitles = [partCount]string{"story", "files", "said", "verified"}

// checkpointPage is the page of one checkpoint.
type checkpointPage struct {
	pageBase
	checkpoint retake.Checkpoint
	card       *term.Card
	current    int
	parts      [partCount]checkpointPart
}

// checkpointPart is one tab of the page. It is requested when it is first shown.
type checkpointPart struct {
	scrollView
	requested, ready bool
	err              *retake.Error
	text             func(l term.Style) string
	width            int // for which the text was drawn
}

func openCheckpoint(m *model, c retake.Checkpoint) tea.Cmd {
	p := &checkpointPage{pageBase: m.newBase(), checkpoint: c}
	for i := range p.parts {
		p.parts[i].scrollView = newScrollView("")
	}
	m.openPage(p)
	return p.showPart(m, partStory)
}

// showPart shows a part and requests it the first time.
func (p *checkpointPage) showPart(m *model, at int) tea.Cmd {
	p.current = at
	if p.parts[at].requested {
		return nil
	}
	p.parts[at].requested = true
	p.waitingSince = m.options.Clock.Now()
	switch at {
	case partFiles:
		return p.requestFiles(m)
	case partSaid:
		return p.requestConversation(m)
	case partVerified:
		return p.requestCard(m, at, term.RenderVerifications)
	}
	return p.requestCard(m, at, term.RenderCard)
}

// setPart stores the reply for a part.
func (p *checkpointPage) setPart(at int, text func(l term.Style) string, err error) tea.Cmd {
	p.waitingSince = time.Time{}
	x := &p.parts[at]
	if err != nil {
		x.err = retake.AsError(err)
		return nil
	}
	x.ready, x.text = true, text
	return nil
}

// cardReader returns a function that reads the card, or returns the one read before.
func (p *checkpointPage) cardReader(m *model) func(context.Context) (term.Card, error) {
	have, cp, s, ws := p.card, p.checkpoint, m.options.Service, m.options.Workspace
	return func(ctx context.Context) (term.Card, error) {
		if have != nil {
			return *have, nil
		}
		c := term.Card{Checkpoint: cp}
		if err := c.Read(ctx, s, ws, false); err != nil {
			return c, err
		}
		c.Titles = term.ReadTargetTitles(ctx, s, ws, []retake.Checkpoint{cp})
		return c, nil
	}
}

func (p *checkpointPage) requestCard(m *model, at int, draw func(term.Style, term.Card) string) tea.Cmd {
	return callService(&p.pageBase, p.cardReader(m),
		func(c term.Card, err error) tea.Cmd {
			if err == nil {
				p.card = &c
			}
			return p.setPart(at, func(l term.Style) string { return draw(l, c) }, err)
		})
}

// fileChanges is a comparison with the story about it.
type fileChanges struct {
	retake.Comparison
	story  *retake.Story
	counts map[string]term.LineCount
}

func (p *checkpointPage) requestFiles(m *model) tea.Cmd {
	q := retake.DiffQuery{Workspace: m.options.Workspace.ID, To: string(p.checkpoint.ID)}
	return callService(&p.pageBase, func(ctx context.Context) (fileChanges, error) {
		d, err := m.options.Service.Diff(ctx, q)
		f := fileChanges{Comparison: d}
		if err != nil {
			return f, err
		}
		if st, err := m.options.Service.Story(ctx, q); err == nil { // the list stands without it
			f.story = &st
		}
		r := term.ContentReader{Service: m.options.Service, Workspace: q.Workspace}
		if f.counts, err = r.CountLines(ctx, term.GroupChanges(d.Changes)); err != nil {
			f.counts = nil // nor does it need counts
		}
		return f, nil
	}, func(f fileChanges, err error) tea.Cmd { return p.setPart(partFiles, f.draw, err) })
}

func (f fileChanges) draw(l term.Style) string {
	gs := term.GroupChanges(f.Changes)
	return term.RenderTotals(l, gs) + term.SourceLinesText(l, f.story) + "\n" +
		term.RenderStatNoted(l, gs, f.counts, term.NewStatNotes(l, f.story))
}

// conversationPart is what was said in the turn and in the whole conversation.
type conversationPart struct {
	card         term.Card
	conversation *term.Conversation
}

func (p *checkpointPage) requestConversation(m *model) tea.Cmd {
	read, cp := p.cardReader(m), p.checkpoint
	return callService(&p.pageBase, func(ctx context.Context) (conversationPart, error) {
		c, err := read(ctx)
		if err != nil {
			return conversationPart{}, err
		}
		out := conversationPart{card: c}
		if cp.Turn != nil {
			if a, err := term.ReadConversation(ctx, m.options.Service, m.options.Workspace.ID, cp); err == nil { // the turn has the most of it
				out.conversation = &a
			}
		}
		return out, nil
	}, func(s conversationPart, err error) tea.Cmd { return p.setPart(partSaid, s.draw, err) })
}

// maxConversationLines is how many lines of the end of a conversation are shown.
const maxConversationLines = 3000

func (s conversationPart) draw(l term.Style) string {
	out := term.RenderTurnConversation(l, s.card)
	if s.conversation == nil {
		return out
	}
	lines := strings.Split(strings.TrimRight(term.RenderConversation(l, *s.conversation), "\n"), "\n")
	if more := len(lines) - maxConversationLines; more > 0 {
		lines = append([]string{l.Dim(fmt.Sprintf("%s %s lines before: retake show %d --conversation", l.Glyphs.More, termtext.Count(int64(more)), s.card.Checkpoint.Number))}, lines[more:]...)
	}
	return out + "\n" + ruleLine(l) + "\n" + strings.Join(lines, "\n")
}

func (p *checkpointPage) handleKey(m *model, k string) tea.Cmd {
	switch k {
	case "esc":
		m.closePage()
		return nil
	case "1", "2", "3", "4":
		return p.showPart(m, int(k[0]-'1'))
	case "tab":
		return p.showPart(m, (p.current+1)%partCount)
	case "u":
		return openPlan(m, retake.PlanRequest{Course: retake.CourseUndo})
	}
	if isCheckpointKey(k) {
		return runCheckpointKey(m, k, p.checkpoint)
	}
	cmd, _ := p.parts[p.current].handleScrollKey(m, &p.pageBase, k)
	return cmd
}

func (p *checkpointPage) draw(_ *model, l term.Style, height int) []string {
	out := []string{p.titleLine(l), ruleLine(l)}
	x := &p.parts[p.current]
	switch {
	case x.err != nil:
		return append(out, errorLines(l, x.err)...)
	case !x.ready:
		return append(out, l.Dim("reading"+l.Glyphs.More))
	}
	if x.width != l.Width {
		x.width = l.Width
		x.setText(x.text(l))
	}
	return append(out, x.draw(l, height-len(out))...)
}

func (p *checkpointPage) titleLine(l term.Style) string {
	var tabs []string
	for i, w := range partTitles {
		tab := fmt.Sprintf(" %d %s ", i+1, w)
		if i == p.current {
			tab = "\x1b[7m" + tab + "\x1b[0m"
		} else {
			tab = l.Dim(tab)
		}
		tabs = append(tabs, tab)
	}
	right := strings.Join(tabs, "")
	left := l.Bold("checkpoint " + term.CheckpointNumber(p.checkpoint.Number))
	return l.AlignEnds(left, right, l.ShownWidth(left), l.ShownWidth(right))
}

func (p *checkpointPage) statusLine(_ *model, l term.Style) string {
	return l.Dim(p.parts[p.current].positionText())
}

func (p *checkpointPage) keyHelp() []string {
	return []string{"1–4", "parts", "j k", "scroll", "d", "diff", "D", "with now", "r", "restore", "f", "fork", "/", "find", "esc", "back"}
}
