package tui

import (
	"fmt"
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// shownHunk is a hunk of a diff page, and the line it begins at.
type shownHunk struct {
	path string
	hunk retake.Hunk
	line int
}

// addHunks notes where the hunks of newly read text begin. Content begins with a sign, so a
// line that begins with @@ is the head of a hunk.
func (p *diffPage) addHunks(from int, added []shownHunk) {
	for i := from; i < len(p.lines) && len(added) > 0; i++ {
		if strings.HasPrefix(term.StripANSI(p.lines[i]), "@@ ") {
			added[0].line = i
			p.hunks, added = append(p.hunks, added[0]), added[1:]
		}
	}
}

// handleHunkKey handles the keys that select a hunk and undo it.
func (p *diffPage) handleHunkKey(m *model, k string) (tea.Cmd, bool) {
	switch k {
	case "]":
		p.selectHunk(sort.Search(len(p.hunks), func(i int) bool { return p.hunks[i].line > p.currentLine() }))
	case "[":
		p.selectHunk(sort.Search(len(p.hunks), func(i int) bool { return p.hunks[i].line >= p.currentLine() }) - 1)
	case "u":
		return p.undoHunk(m), true
	default:
		return nil, false
	}
	return nil, true
}

// currentLine returns the line of the selected hunk, or the top line.
func (p *diffPage) currentLine() int {
	if p.selected != nil {
		return p.selected.line
	}
	return p.top - 1
}

func (p *diffPage) selectHunk(i int) {
	if i < 0 || i >= len(p.hunks) {
		return
	}
	p.selected = &p.hunks[i]
	p.top = p.selected.line - 1
	p.clamp()
}

// undoHunk opens the plan that undoes the selected hunk.
func (p *diffPage) undoHunk(m *model) tea.Cmd {
	switch {
	case p.from == nil || p.to == nil:
		m.notice = "only hunks between two checkpoints can be undone; " + m.style().Bold("retake undo --edits") + " discards unsaved edits"
	case p.selected == nil:
		m.notice = "choose a hunk first: ] and ["
	default:
		return openPlan(m, retake.PlanRequest{
			Course: retake.CourseUndo, Ref: string(p.to.ID), From: string(p.from.ID), Paths: []string{p.selected.path}, Hunks: []retake.Hunk{p.selected.hunk},
		})
	}
	return nil
}

// hunkText names the selected hunk.
func (p *diffPage) hunkText() string {
	if p.selected == nil {
		return ""
	}
	n := sort.Search(len(p.hunks), func(i int) bool { return p.hunks[i].line >= p.selected.line })
	return fmt.Sprintf("hunk %d, %s", n+1, termtext.Escape(p.selected.path))
}
