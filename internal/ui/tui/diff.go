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

// filesPerRead is how many files are read at a time.
const filesPerRead = 20

// diffPage is the page of the differences between two checkpoints: added and deleted paths as
// a list, and the lines of edited files, which are read as far as the user scrolls.
type diffPage struct {
	textPage
	content term.ContentReader
	edited  []retake.Change
	next    int // of edited, which is read next
	busy    bool

	from, to *retake.Checkpoint // nil: before the first one, now
	hunks    []shownHunk        // of what was read, in order
	selected *shownHunk         // the chosen one
}

func openDiff(m *model, q retake.DiffQuery) tea.Cmd {
	p := &diffPage{textPage: m.newTextPage()}
	q.Workspace = m.options.Workspace.ID
	m.openPage(p)
	l := m.style()
	return callService(&p.pageBase, func(ctx context.Context) (comparisonText, error) { return readComparison(ctx, m.options, q, l) },
		func(c comparisonText, err error) tea.Cmd {
			p.waitingSince = time.Time{}
			if p.setError(err) {
				return nil
			}
			p.ready, p.edited, p.from, p.to = true, c.edited, c.from, c.to
			p.content = term.ContentReader{Service: m.options.Service, Workspace: q.Workspace, Now: c.to == nil}
			p.setText(c.text)
			return p.readAhead(m)
		})
}

// comparisonText is the start of a diff, and the files still to be read.
type comparisonText struct {
	text     string
	edited   []retake.Change
	from, to *retake.Checkpoint
}

func readComparison(ctx context.Context, o Options, q retake.DiffQuery, l term.Style) (comparisonText, error) {
	s := o.Service
	d, err := s.Diff(ctx, q)
	if err != nil {
		return comparisonText{}, err
	}
	var ends []retake.Checkpoint
	for _, c := range []*retake.Checkpoint{d.From, d.To} {
		if c != nil {
			ends = append(ends, *c)
		}
	}
	l.Titles = term.ReadTargetTitles(ctx, s, o.Workspace, ends)
	known := [2][]retake.Answer{term.ReadAnswers(ctx, s, d.From), term.ReadAnswers(ctx, s, d.To)}
	gs := term.GroupChanges(d.Changes)
	out := comparisonText{from: d.From, to: d.To}
	var b strings.Builder
	b.WriteString(term.RenderEnds(l, d, known) + "\n" + term.RenderTotals(l, gs) + "\n")
	for _, g := range gs {
		if g.What != retake.Edited {
			b.WriteString(term.RenderStat(l, []term.ChangeGroup{g}, nil))
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

// fileTexts are the lines of some files and the hunks in them.
type fileTexts struct {
	text  string
	hunks []shownHunk
}

// readAhead reads the lines of the next files when the end of the text is near.
func (p *diffPage) readAhead(m *model) tea.Cmd {
	if p.busy || p.next >= len(p.edited) || p.top+4*max(p.height, 20) < len(p.lines) {
		return nil
	}
	p.busy = true
	batch := p.edited[p.next:min(p.next+filesPerRead, len(p.edited))]
	l := m.style()
	return callService(&p.pageBase, func(ctx context.Context) (fileTexts, error) {
		var b strings.Builder
		var found []shownHunk
		for _, c := range batch {
			s, err := p.content.Read(ctx, c)
			if err != nil {
				return fileTexts{}, err
			}
			s = s.MaskSecrets()
			b.WriteString(term.RenderLines(l, c, s))
			for _, h := range s.Hunks() {
				found = append(found, shownHunk{path: c.Path, hunk: h})
			}
		}
		return fileTexts{b.String(), found}, nil
	}, func(read fileTexts, err error) tea.Cmd {
		p.busy = false
		if err != nil {
			m.notice = l.Yellow("!") + " " + termtext.Escape(retake.AsError(err).Error())
			p.next = len(p.edited)
			return nil
		}
		p.next += len(batch)
		top, from := p.top, len(p.lines)
		p.setText(strings.Join(p.lines, "\n") + "\n" + read.text)
		p.top = top
		p.addHunks(from, read.hunks)
		return p.readAhead(m)
	})
}

func (p *diffPage) handleKey(m *model, k string) tea.Cmd {
	cmd, heard := p.handleHunkKey(m, k)
	if !heard {
		cmd, _ = p.handleTextKey(m, k)
	}
	if p.closed {
		return cmd
	}
	return tea.Batch(cmd, p.readAhead(m))
}

func (p *diffPage) draw(_ *model, l term.Style, height int) []string {
	out := p.textLines(l, height)
	if p.selected != nil && p.ready && p.selected.line >= p.top && p.selected.line < p.top+len(out) {
		i := p.selected.line - p.top
		out[i] = l.Bold(term.StripANSI(out[i]))
	}
	return out
}

func (p *diffPage) statusLine(_ *model, l term.Style) string {
	read := ""
	if p.next < len(p.edited) {
		read = fmt.Sprintf("%s of %s edited files read", termtext.Count(int64(p.next)), termtext.Count(int64(len(p.edited))))
	}
	return l.Dim(l.JoinFacts(p.positionText(), p.hunkText(), read))
}

func (p *diffPage) keyHelp() []string {
	return []string{"j k", "scroll", "← →", "long lines", "/", "find", "n N", "next", "[ ]", "hunk", "u", "undo it", "esc", "back", "?", "keys"}
}
