package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// reading is a page of text that comes from the service.
type reading struct {
	base
	scroll
	ready bool
	err   *retake.Error
}

func (m *model) newReading() reading {
	r := reading{base: m.newBase(), scroll: newScroll("")}
	r.began = m.o.Clock.Now()
	return r
}

// body is the text, or why there is none yet.
func (r *reading) body(l term.Look, height int) []string {
	switch {
	case r.err != nil:
		return troubleLines(l, r.err)
	case !r.ready:
		return []string{l.Dim("reading" + l.Glyphs.More)}
	}
	return r.draw(l, height)
}

// failed keeps what went wrong, and reports whether something did.
func (r *reading) failed(err error) bool {
	if err == nil {
		return false
	}
	r.err = retake.AsError(err)
	return true
}

func (r *reading) say(_ *model, l term.Look) string { return l.Dim(r.place()) }

// turn hears the keys of a text, and esc.
func (r *reading) turn(m *model, k string) (tea.Cmd, bool) {
	if k == "esc" {
		m.back()
		return nil, true
	}
	return r.hear(m, &r.base, k)
}

// wrapped breaks painted lines that are too long; what is broken has no color.
func wrapped(l term.Look, lines []string) []string {
	var out []string
	for _, line := range lines {
		if l.ShownWidth(line) <= l.Width {
			out = append(out, line)
			continue
		}
		bare := term.Strip(line)
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
