package cli

import (
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// Bisection draws a search of a line, oldest checkpoint first: the screen while run
// number pause goes on, and the one at the end.
func Bisection(l Look, line []retake.Checkpoint, stored []retake.Verification, ask func(number int64) retake.Verification, story *retake.Story, pause int) (running, result string) {
	b := &bisection{V: 1, check: typedCheck("", []string{"npm", "run", "e2e:login"}, 0), candidates: line}
	b.Command = b.check.shellLine
	b.buildPoints(stored)
	for {
		i, more := b.search.Next()
		if !more {
			break
		}
		b.running, b.began = i, l.Now.Add(-17*time.Second)
		if len(b.Runs)+1 == pause {
			running = renderBisecting(l, b)
		}
		v := ask(b.Points[i].Numbers[0])
		v.Number, v.Content = b.Points[i].Numbers[0], b.Points[i].Content
		b.recordVerdict(i, v)
	}
	b.setResult()
	if b.Good != nil && b.Bad != nil {
		b.Story = story
	}
	return running, renderBisected(l, b)
}

// Why is the answer to why.
type Why = whyAnswer

// What tests of these pages look at.
var (
	RenderHits      = term.RenderHits
	RenderBlame     = renderBlame
	RenderChronicle = renderMentions
	RenderWhy       = renderWhy
	RenderAttested  = renderVerification
	WayTo           = ancestorsBetween
	ShellLine       = quoteShellLine
	PlaceOf         = parseFileLine
)

// KeptOutput is how much of an output is recorded.
const KeptOutput = maxKeptOutput

// EndOf is what is recorded of an output that comes in parts.
func EndOf(parts ...string) string {
	e := &tailBuffer{}
	for _, p := range parts {
		_, _ = e.Write([]byte(p))
	}
	return e.String()
}

// Suspect is the file that a hint names.
func Suspect(st *retake.Story) string { return term.SuspectFile(st) }

// RowsOn counts the rows of a terminal.
var RowsOn = terminalRows
