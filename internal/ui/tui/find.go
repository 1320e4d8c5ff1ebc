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

// maxHits is how many checkpoints a search returns.
const maxHits = 100

// findPage is the page of search results.
type findPage struct {
	textPage
	words    string
	hits     []retake.Hit
	titles   term.TargetTitles
	selected int
}

// promptFind asks for words and searches the whole timeline.
func promptFind(m *model, b *pageBase) tea.Cmd {
	b.input = &inputLine{prompt: "find checkpoints with:", onEnter: func(text string) tea.Cmd {
		if text = strings.TrimSpace(text); text == "" {
			return nil
		}
		return openFind(m, text)
	}}
	return nil
}

func openFind(m *model, text string) tea.Cmd {
	p := &findPage{textPage: m.newTextPage(), words: text}
	m.openPage(p)
	s, ws := m.options.Service, m.options.Workspace
	type named struct {
		hits  []retake.Hit
		goals term.TargetTitles
	}
	return callService(&p.pageBase, func(ctx context.Context) (named, error) {
		hits, err := s.Search(ctx, retake.SearchQuery{Workspace: ws.ID, Text: text, Limit: maxHits})
		if err != nil {
			return named{}, err
		}
		var cs []retake.Checkpoint
		for _, h := range hits {
			cs = append(cs, h.Checkpoint)
		}
		return named{hits, term.ReadTargetTitles(ctx, s, ws, cs)}, nil
	}, func(n named, err error) tea.Cmd {
		p.waitingSince = time.Time{}
		if !p.setError(err) {
			p.ready, p.hits, p.titles = true, n.hits, n.goals
		}
		return nil
	})
}

func (p *findPage) handleKey(m *model, k string) tea.Cmd {
	last := len(p.hits) - 1
	switch k {
	case "esc":
		m.closePage()
	case "/":
		return promptFind(m, &p.pageBase)
	case "j", "down", "n":
		p.selected = max(min(p.selected+1, last), 0)
	case "k", "up", "N":
		p.selected = max(p.selected-1, 0)
	case "g", "home":
		p.selected = 0
	case "G", "end":
		p.selected = max(last, 0)
	case "enter":
		if last >= 0 {
			return openCheckpoint(m, p.hits[p.selected].Checkpoint)
		}
	default:
		if isCheckpointKey(k) && last >= 0 {
			return runCheckpointKey(m, k, p.hits[p.selected].Checkpoint)
		}
	}
	return nil
}

func (p *findPage) draw(_ *model, l term.Style, height int) []string {
	quoted := l.Glyphs.Quote(l.Glyphs.Cut(termtext.Escape(p.words), l.Width/2))
	if !p.ready {
		return p.textLines(l, height)
	}
	if len(p.hits) == 0 {
		return []string{"No checkpoint has " + quoted + ".", "", l.Dim("Searched messages, prompts, replies, file names and change summaries.")}
	}
	count := term.CountCheckpoints(int64(len(p.hits)))
	if len(p.hits) == maxHits {
		count = "the newest " + count
	}
	out := []string{l.Bold(count) + " with " + quoted, ruleLine(l)}
	l.Titles = p.titles
	all := term.HitLines(l, p.hits, strings.Fields(p.words))
	var lines []string
	begin, end := 0, 0
	for i, h := range all {
		if i == p.selected {
			begin, end = len(lines), len(lines)+len(h)
			for k, line := range h {
				line = term.StripANSI(line)
				h[k] = "\x1b[7m" + line + strings.Repeat(" ", max(l.Width-termtext.Width(line), 0)) + "\x1b[0m"
			}
		}
		lines = append(lines, h...)
	}
	room := height - len(out)
	p.top = max(min(p.top, begin), end-room, 0)
	return append(out, lines[p.top:min(p.top+room, len(lines))]...)
}

func (p *findPage) statusLine(*model, term.Style) string { return "" }

func (p *findPage) keyHelp() []string {
	return []string{"enter", "open", "d", "diff", "r", "restore", "/", "find again", "esc", "back", "?", "keys"}
}
