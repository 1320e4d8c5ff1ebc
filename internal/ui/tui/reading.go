package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// textPage is a page of text that comes from the service.
type textPage struct {
	pageBase
	scrollView
	ready bool
	err   *retake.Error
}

func (m *model) newTextPage() textPage {
	r := textPage{pageBase: m.newBase(), scrollView: newScrollView("")}
	r.waitingSince = m.options.Clock.Now()
	return r
}

// textLines returns the text, or why there is none yet.
func (r *textPage) textLines(l term.Style, height int) []string {
	switch {
	case r.err != nil:
		return errorLines(l, r.err)
	case !r.ready:
		return []string{l.Dim("reading" + l.Glyphs.More)}
	}
	return r.draw(l, height)
}

// setError stores err and reports whether there is one.
func (r *textPage) setError(err error) bool {
	if err == nil {
		return false
	}
	r.err = retake.AsError(err)
	return true
}

func (r *textPage) statusLine(_ *model, l term.Style) string { return l.Dim(r.positionText()) }

// handleTextKey handles the keys of a text, and esc.
func (r *textPage) handleTextKey(m *model, k string) (tea.Cmd, bool) {
	if k == "esc" {
		m.closePage()
		return nil, true
	}
	return r.handleScrollKey(m, &r.pageBase, k)
}

// wrapLines wraps painted lines that are too long; wrapped lines lose their color.
func wrapLines(l term.Style, lines []string) []string {
	var out []string
	for _, line := range lines {
		if l.ShownWidth(line) <= l.Width {
			out = append(out, line)
			continue
		}
		bare := term.StripANSI(line)
		indent := bare[:len(bare)-len(strings.TrimLeft(bare, " "))]
		for i, part := range term.Wrap(bare, max(l.Width-len(indent)-2, 20)) {
			if i > 0 {
				part = "  " + part
			}
			out = append(out, indent+part)
		}
	}
	return out
}
