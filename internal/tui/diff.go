package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/screen"
)

// readAhead is how many files are read at a time.
const readAhead = 20

// diff is the page of what differs between two moments: what came and went as a list, and
// the lines of what was edited. Lines are read as far as somebody scrolls.
type diff struct {
	reading
	content picture.Content
	edited  []retake.Change
	next    int // of edited, which is read next
	busy    bool
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
			p.ready, p.edited = true, c.edited
			p.content = picture.Content{Service: m.o.Service, Workspace: q.Workspace, Now: c.now}
			p.set(c.text)
			return p.ahead(m)
		})
}

// compared is the beginning of a diff, and what is still to be read.
type compared struct {
	text   string
	edited []retake.Change
	now    bool
}

func compare(ctx context.Context, o Options, q retake.DiffQuery, l picture.Look) (compared, error) {
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
	l.Goals = picture.GoalsOf(ctx, s, o.Workspace, ends)
	known := [2][]retake.Answer{picture.AnswersAt(ctx, s, d.From), picture.AnswersAt(ctx, s, d.To)}
	gs := picture.Groups(d.Changes)
	out := compared{now: d.To == nil}
	var b strings.Builder
	b.WriteString(picture.RenderEnds(l, d, known) + "\n" + picture.RenderTotals(l, gs) + "\n")
	for _, g := range gs {
		if g.What != retake.Edited {
			b.WriteString(picture.RenderStat(l, []picture.Group{g}, nil))
			continue
		}
		for _, c := range g.Changes {
			if !picture.IsDir(&c) {
				out.edited = append(out.edited, c)
			}
		}
	}
	if len(d.Gaps) > 0 {
		b.WriteString(picture.RenderNowGaps(l, d.Gaps))
	}
	out.text = b.String()
	return out, nil
}

// ahead reads the lines of the next files when the end of the text comes near.
func (p *diff) ahead(m *model) tea.Cmd {
	if p.busy || p.next >= len(p.edited) || p.top+4*max(p.height, 20) < len(p.lines) {
		return nil
	}
	p.busy = true
	batch := p.edited[p.next:min(p.next+readAhead, len(p.edited))]
	l := m.look()
	return ask(&p.base, func(ctx context.Context) (string, error) {
		var b strings.Builder
		for _, c := range batch {
			s, err := p.content.Read(ctx, c)
			if err != nil {
				return "", err
			}
			b.WriteString(picture.RenderLines(l, c, s.Covered()))
		}
		return b.String(), nil
	}, func(text string, err error) tea.Cmd {
		p.busy = false
		if err != nil {
			m.note = l.Yellow("!") + " " + screen.Escape(retake.AsError(err).Error())
			p.next = len(p.edited)
			return nil
		}
		p.next += len(batch)
		top := p.top
		p.set(strings.Join(p.lines, "\n") + "\n" + text)
		p.top = top
		return p.ahead(m)
	})
}

func (p *diff) key(m *model, k string) tea.Cmd {
	cmd, _ := p.turn(m, k)
	if p.gone {
		return cmd
	}
	return tea.Batch(cmd, p.ahead(m))
}

func (p *diff) draw(_ *model, l picture.Look, height int) []string { return p.body(l, height) }

func (p *diff) say(_ *model, l picture.Look) string {
	read := ""
	if p.next < len(p.edited) {
		read = fmt.Sprintf("%s of %s edited files read", screen.Count(int64(p.next)), screen.Count(int64(len(p.edited))))
	}
	return l.Dim(l.Facts(p.place(), read))
}

func (p *diff) keys() []string {
	return []string{"j k", "scroll", "← →", "long lines", "/", "find", "n N", "next", "esc", "back", "?", "keys"}
}
