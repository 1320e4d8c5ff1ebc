package cli_test

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
)

// The words of the morning that the tests tell.
type (
	stage = termtest.TimelineBuilder
)

var (
	scene       = termtest.SampleTimeline
	thirteen    = termtest.SampleCard
	installed   = termtest.SampleStory
	run         = termtest.Run
	buildManual = termtest.Manual
	point       = termtest.Point
	src         = termtest.Src
	fork        = termtest.Fork
	story       = termtest.Plan
	steps       = termtest.Steps
	many        = termtest.NumberedPaths
	id          = termtest.ID
	numeral     = term.CheckpointNumber
)

func entry(size int64) *retake.Entry { return &retake.Entry{Kind: retake.KindFile, Size: size} }

// uncolored takes our colors away.
func uncolored(s string) string {
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "35", "36"} {
		s = strings.ReplaceAll(s, "\x1b["+code+"m", "")
	}
	return s
}
