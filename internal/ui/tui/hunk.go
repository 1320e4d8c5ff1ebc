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
func (p *diff) addHunks(from int, added []shownHunk) {
	for i := from; i < len(p.lines) && len(added) > 0; i++ {
		if strings.HasPrefix(term.Strip(p.lines[i]), "@@ ") {
			added[0].line = i
			p.hunks, added = append(p.hunks, added[0]), added[1:]
		}
	}
}

// hunkKey hears the keys that choose a hunk and take it back.
func (p *diff) hunkKey(m *model, k string) (tea.Cmd, bool) {
	switch k {
	case "]":
		p.goTo(sort.Search(len(p.hunks), func(i int) bool { return p.hunks[i].line > p.line() }))
	case "[":
		p.goTo(sort.Search(len(p.hunks), func(i int) bool { return p.hunks[i].line >= p.line() }) - 1)
	case "u":
		return p.undoHunk(m), true
	default:
		return nil, false
	}
	return nil, true
}

// line is where the chosen hunk begins, or what is at the top.
func (p *diff) line() int {
	if p.at != nil {
		return p.at.line
	}
	return p.top - 1
}

func (p *diff) goTo(i int) {
	if i < 0 || i >= len(p.hunks) {
		return
	}
	p.at = &p.hunks[i]
	p.top = p.at.line - 1
	p.clamp()
}

// undoHunk opens the plan that takes the chosen hunk back.
func (p *diff) undoHunk(m *model) tea.Cmd {
	switch {
	case p.from == nil || p.to == nil:
		m.note = "only hunks between two checkpoints can be undone; " + m.look().Bold("retake undo --edits") + " discards unsaved edits"
	case p.at == nil:
		m.note = "choose a hunk first: ] and ["
	default:
		return openPlan(m, retake.PlanRequest{
			Course: retake.CourseUndo, Ref: string(p.to.ID), From: string(p.from.ID), Paths: []string{p.at.path}, Hunks: []retake.Hunk{p.at.hunk},
		})
	}
	return nil
}

// sayHunk names the chosen hunk.
func (p *diff) sayHunk() string {
	if p.at == nil {
		return ""
	}
	n := sort.Search(len(p.hunks), func(i int) bool { return p.hunks[i].line >= p.at.line })
	return fmt.Sprintf("hunk %d, %s", n+1, termtext.Escape(p.at.path))
}
