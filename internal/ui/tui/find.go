package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// hitsMost is how many checkpoints a search answers.
const hitsMost = 100

// found is the page of what a search found.
type found struct {
	reading
	words string
	hits  []retake.Hit
	goals term.Goals
	at    int
}

// askFind asks for words and searches the whole timeline.
func askFind(m *model, b *base) tea.Cmd {
	b.input = &input{prompt: "find checkpoints with:", done: func(text string) tea.Cmd {
		if text = strings.TrimSpace(text); text == "" {
			return nil
		}
		return openFind(m, text)
	}}
	return nil
}

func openFind(m *model, text string) tea.Cmd {
	p := &found{reading: m.newReading(), words: text}
	m.open(p)
	s, ws := m.o.Service, m.o.Workspace
	type named struct {
		hits  []retake.Hit
		goals term.Goals
	}
	return ask(&p.base, func(ctx context.Context) (named, error) {
		hits, err := s.Search(ctx, retake.SearchQuery{Workspace: ws.ID, Text: text, Limit: hitsMost})
		if err != nil {
			return named{}, err
		}
		var cs []retake.Checkpoint
		for _, h := range hits {
			cs = append(cs, h.Checkpoint)
		}
		return named{hits, term.GoalsOf(ctx, s, ws, cs)}, nil
	}, func(n named, err error) tea.Cmd {
		p.began = time.Time{}
		if !p.failed(err) {
			p.ready, p.hits, p.goals = true, n.hits, n.goals
		}
		return nil
	})
}

func (p *found) key(m *model, k string) tea.Cmd {
	last := len(p.hits) - 1
	switch k {
	case "esc":
		m.back()
	case "/":
		return askFind(m, &p.base)
	case "j", "down", "n":
		p.at = max(min(p.at+1, last), 0)
	case "k", "up", "N":
		p.at = max(p.at-1, 0)
	case "g", "home":
		p.at = 0
	case "G", "end":
		p.at = max(last, 0)
	case "enter":
		if last >= 0 {
			return openCheckpoint(m, p.hits[p.at].Checkpoint)
		}
	default:
		if aboutCheckpoint(k) && last >= 0 {
			return checkpointKey(m, k, p.hits[p.at].Checkpoint)
		}
	}
	return nil
}

func (p *found) draw(_ *model, l term.Look, height int) []string {
	quoted := l.Glyphs.Quote(l.Glyphs.Cut(termtext.Escape(p.words), l.Width/2))
	if !p.ready {
		return p.body(l, height)
	}
	if len(p.hits) == 0 {
		return []string{"No checkpoint has " + quoted + ".", "", l.Dim("Searched messages, prompts, replies, file names and change summaries.")}
	}
	count := term.Checkpoints(int64(len(p.hits)))
	if len(p.hits) == hitsMost {
		count = "the newest " + count
	}
	out := []string{l.Bold(count) + " with " + quoted, rule(l)}
	l.Goals = p.goals
	all := term.HitLines(l, p.hits, strings.Fields(p.words))
	var lines []string
	begin, end := 0, 0
	for i, h := range all {
		if i == p.at {
			begin, end = len(lines), len(lines)+len(h)
			for k, line := range h {
				line = term.Strip(line)
				h[k] = "\x1b[7m" + line + strings.Repeat(" ", max(l.Width-termtext.Width(line), 0)) + "\x1b[0m"
			}
		}
		lines = append(lines, h...)
	}
	room := height - len(out)
	p.top = max(min(p.top, begin), end-room, 0)
	return append(out, lines[p.top:min(p.top+room, len(lines))]...)
}

func (p *found) say(*model, term.Look) string { return "" }

func (p *found) keys() []string {
	return []string{"enter", "open", "d", "diff", "r", "restore", "/", "find again", "esc", "back", "?", "keys"}
}
