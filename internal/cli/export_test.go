package cli

import (
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// Look is look for tests outside the package.
type Look = look

// NewLook draws for a width, without colors unless asked.
func NewLook(width int, now time.Time, ascii, color bool) Look {
	l := look{g: screen.Unicode, width: width, now: now, home: "/home/ann", ascii: ascii, paint: paint(color)}
	if ascii {
		l.g = screen.ASCII
	}
	return l
}

// Line is one folded line.
type Line struct {
	Path        string
	Files, Dirs int64
	Single      bool
}

// Fold is fold, with fields that tests can see.
func Fold(changes []retake.Change) []Line {
	var out []Line
	for _, f := range fold(changes) {
		out = append(out, Line{f.path, f.files, f.dirs, f.change != nil})
	}
	return out
}

// Edit is one line of a comparison.
type Edit struct {
	Op   byte
	Line string
}

// Hunk is a run of edits.
type Hunk struct {
	Before, After int
	Edits         []Edit
}

// DiffLines is diffLines.
func DiffLines(a, b []string) []Edit { return exported(diffLines(a, b)) }

// Hunks gives the hunks of a comparison.
func Hunks(a, b []string) []Hunk {
	var out []Hunk
	for _, h := range hunks(diffLines(a, b)) {
		out = append(out, Hunk{h.before, h.after, exported(h.edits)})
	}
	return out
}

func exported(edits []edit) []Edit {
	out := make([]Edit, len(edits))
	for i, e := range edits {
		out[i] = Edit{e.op, e.line}
	}
	return out
}

// RenderLines renders two texts of one path.
func RenderLines(l Look, c retake.Change, before, after, why string) string {
	return renderLines(l, c, sides{before: before, after: after, why: why})
}

// NewProgress gives the two ends of a line of progress.
func NewProgress(d Deps, word string) (tell func(retake.Progress), done func()) {
	p := newFace(d).progress(word)
	return p.tell(), p.done
}

// RenderTimeline draws a timeline with the names that its own moments give.
func RenderTimeline(l Look, t retake.Timeline, newest int64) string {
	g := goals{}
	for _, c := range t.Checkpoints {
		g[c.ID] = numeral(c.Number)
	}
	return renderTimeline(l, picture{Timeline: t, newest: newest, goals: g, tree: true})
}

// RenderPlanList is the whole list of a plan.
func RenderPlanList(l Look, p *retake.Plan) string {
	var b strings.Builder
	if err := writePlanList(&b, l, p); err != nil {
		panic(err)
	}
	return b.String()
}

// Refusals are the two answers to a plan that nobody agreed to, as they are shown
// for `retake restore 14 -- src`.
func Refusals(l Look, p *retake.Plan, accepted ...string) (yes, silence string) {
	typed := spoken{words: []string{"retake", "restore", "14"}, paths: []string{"src"}}
	show := func(err error) string { return renderError(l, *retake.AsError(err)) }
	if len(unaccepted(p, accepted)) > 0 {
		yes = show(refuseYes(p, accepted, typed, "--yes"))
	}
	return yes, show(refuseSilence(p, accepted, typed))
}

// The rest as it is.
var (
	MaxEdits          = maxEdits
	SplitLines        = splitLines
	RenderError       = renderError
	RenderProgress    = renderProgress
	RenderStatusLine  = renderStatusLine
	RenderStatus      = renderStatus
	RenderDaemon      = renderDaemon
	RenderWorkspaces  = renderWorkspaces
	RenderSaved       = renderSaved
	RenderLooked      = renderLooked
	FirstRun          = firstRun
	RenderPlan        = renderPlan
	RenderResult      = renderResult
	RenderInterrupted = renderInterrupted
	RenderFork        = renderFork
	LastQuestion      = lastQuestion
	Deed              = deed
	ShowBytes         = showBytes
)
