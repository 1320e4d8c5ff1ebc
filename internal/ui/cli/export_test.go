package cli

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/view"
)

// Root is the tree of all commands.
func Root(d Deps) *cobra.Command { return newRootCommand(newCommandLine(d)) }

// Look is look for tests outside the package.
type Look = term.Style

// NewLook draws for a width, without colors unless asked.
func NewLook(width int, now time.Time, ascii, color bool) Look {
	l := term.Style{Glyphs: termtext.Unicode, Width: width, Now: now, Home: "/home/ann", ASCII: ascii, Paint: term.Paint(color)}
	if ascii {
		l.Glyphs = termtext.ASCII
	}
	return l
}

// NewProgress gives the two ends of a line of progress.
func NewProgress(d Deps, word string) (tell func(retake.Progress), done func()) {
	p := newCommandLine(d).newProgressLine(word)
	return p.callback(), p.clear
}

// RenderTimeline draws a timeline.
func RenderTimeline(l Look, t retake.Timeline, newest int64) string {
	return RenderView(l, view.Input{Timeline: t, Newest: newest, Tree: true})
}

// RenderPlanList is the whole list of a plan.
func RenderPlanList(l Look, p *retake.Plan) string {
	var b strings.Builder
	if err := term.WritePlanList(&b, l, p); err != nil {
		panic(err)
	}
	return b.String()
}

// Refusals are the two answers to a plan that nobody agreed to, as they are shown
// for `retake restore 14 -- src`.
func Refusals(l Look, p *retake.Plan, accepted ...string) (yes, silence string) {
	typed := typedCommand{words: []string{"retake", "restore", "14"}, paths: []string{"src"}}
	show := func(err error) string { return term.RenderError(l, *retake.AsError(err)) }
	if len(view.Unaccepted(p, accepted)) > 0 {
		yes = show(yesNotEnoughError(p, accepted, typed, "--yes"))
	}
	return yes, show(noTerminalError(p, accepted, typed))
}

// LastQuestion is the question for the whole plan, as it is asked.
func LastQuestion(p *retake.Plan) string { return termtext.Escape(view.OfPlan(p).Question) }

// Deed is what accepting one obstacle of a plan means.
func Deed(p *retake.Plan, o retake.Obstacle) string {
	one := *p
	one.Obstacles = []retake.Obstacle{o}
	return view.PlanAsks(&one)[0].Deed
}

// The rest as it is.
var (
	RenderError       = term.RenderError
	RenderSettings    = renderSettings
	RenderProgress    = term.RenderProgress
	RenderStatusLine  = renderStatusLine
	RenderStatus      = renderStatus
	RenderDaemon      = renderDaemon
	RenderWorkspaces  = renderWorkspaces
	RenderSaved       = renderSaved
	RenderLooked      = renderEstimate
	FirstRun          = renderFirstRun
	RenderPlan        = term.RenderPlan
	RenderResult      = term.RenderResult
	RenderInterrupted = term.RenderInterrupted
	RenderFork        = term.RenderFork
	ShowBytes         = writeEscaped
	UnseenText        = unseenText
)

// ExitCodes are the codes with which commands exit.
var ExitCodes = exitCodes
