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

// readAhead is how many files are read at a time.
const readAhead = 20

// diff is the page of what differs between two checkpoints: what came and went as a list, and
// the lines of what was edited. Lines are read as far as somebody scrolls.
type diff struct {
	reading
	content term.Content
	edited  []retake.Change
	next    int // of edited, which is read next
	busy    bool

	from, to *retake.Checkpoint // nil: before the first one, now
	hunks    []shownHunk        // of what was read, in order
	at       *shownHunk         // the chosen one
}

func openDiff(m *model, q retake.DiffQuery) tea.Cmd {
	p := &diff{reading: m.newReading()}
	q.Workspace = m.o.Workspace.ID
	m.open(p)
	l := m.look()
	return ask(&p.base, func(ctx context.Context) (compared, error) { return compare(ctx, m.o, q, l) },
		func(c compared, err error) tea.Cmd {
			p.began = time.Time{}
			if p.failed(err) {
				return nil
			}
			p.ready, p.edited, p.from, p.to = true, c.edited, c.from, c.to
			p.content = term.Content{Service: m.o.Service, Workspace: q.Workspace, Now: c.to == nil}
			p.set(c.text)
			return p.ahead(m)
		})
}

// compared is the beginning of a diff, and what is still to be read.
type compared struct {
	text     string
	edited   []retake.Change
	from, to *retake.Checkpoint
}

func compare(ctx context.Context, o Options, q retake.DiffQuery, l term.Look) (compared, error) {
	s := o.Service
	d, err := s.Diff(ctx, q)
	if err != nil {
		return compared{}, err
	}
	var ends []retake.Checkpoint
	for _, c := range []*retake.Checkpoint{d.From, d.To} {
		if c != nil {
			ends = append(ends, *c)
		}
	}
	l.Goals = term.GoalsOf(ctx, s, o.Workspace, ends)
	known := [2][]retake.Answer{term.AnswersAt(ctx, s, d.From), term.AnswersAt(ctx, s, d.To)}
	gs := term.Groups(d.Changes)
	out := compared{from: d.From, to: d.To}
	var b strings.Builder
	b.WriteString(term.RenderEnds(l, d, known) + "\n" + term.RenderTotals(l, gs) + "\n")
	for _, g := range gs {
		if g.What != retake.Edited {
			b.WriteString(term.RenderStat(l, []term.Group{g}, nil))
			continue
		}
		for _, c := range g.Changes {
			if !c.IsDir() {
				out.edited = append(out.edited, c)
			}
		}
	}
	if len(d.Gaps) > 0 {
		b.WriteString(term.RenderNowGaps(l, d.Gaps))
	}
	out.text = b.String()
	return out, nil
}

// readFiles are the lines of some files, and the hunks in them.
type readFiles struct {
	text  string
	hunks []shownHunk
}

// ahead reads the lines of the next files when the end of the text comes near.
func (p *diff) ahead(m *model) tea.Cmd {
	if p.busy || p.next >= len(p.edited) || p.top+4*max(p.height, 20) < len(p.lines) {
		return nil
	}
	p.busy = true
	batch := p.edited[p.next:min(p.next+readAhead, len(p.edited))]
	l := m.look()
	return ask(&p.base, func(ctx context.Context) (readFiles, error) {
		var b strings.Builder
		var found []shownHunk
		for _, c := range batch {
			s, err := p.content.Read(ctx, c)
			if err != nil {
				return readFiles{}, err
			}
			s = s.Covered()
			b.WriteString(term.RenderLines(l, c, s))
			for _, h := range s.Hunks() {
				found = append(found, shownHunk{path: c.Path, hunk: h})
			}
		}
		return readFiles{b.String(), found}, nil
	}, func(read readFiles, err error) tea.Cmd {
		p.busy = false
		if err != nil {
			m.note = l.Yellow("!") + " " + termtext.Escape(retake.AsError(err).Error())
			p.next = len(p.edited)
			return nil
		}
		p.next += len(batch)
		top, from := p.top, len(p.lines)
		p.set(strings.Join(p.lines, "\n") + "\n" + read.text)
		p.top = top
		p.addHunks(from, read.hunks)
		return p.ahead(m)
	})
}

func (p *diff) key(m *model, k string) tea.Cmd {
	cmd, heard := p.hunkKey(m, k)
	if !heard {
		cmd, _ = p.turn(m, k)
	}
	if p.gone {
		return cmd
	}
	return tea.Batch(cmd, p.ahead(m))
}

func (p *diff) draw(_ *model, l term.Look, height int) []string {
	out := p.body(l, height)
	if p.at != nil && p.ready && p.at.line >= p.top && p.at.line < p.top+len(out) {
		i := p.at.line - p.top
		out[i] = l.Bold(term.Strip(out[i]))
	}
	return out
}

func (p *diff) say(_ *model, l term.Look) string {
	read := ""
	if p.next < len(p.edited) {
		read = fmt.Sprintf("%s of %s edited files read", termtext.Count(int64(p.next)), termtext.Count(int64(len(p.edited))))
	}
	return l.Dim(l.Facts(p.place(), p.sayHunk(), read))
}

func (p *diff) keys() []string {
	return []string{"j k", "scroll", "← →", "long lines", "/", "find", "n N", "next", "[ ]", "hunk", "u", "undo it", "esc", "back", "?", "keys"}
}
