package cli_test

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/picture/picturetest"
)

// The words of the morning that the tests tell.
type (
	stage = picturetest.Stage
)

var (
	scene     = picturetest.Scene
	thirteen  = picturetest.Thirteen
	installed = picturetest.Installed
	run       = picturetest.Run
	manual    = picturetest.Manual
	point     = picturetest.Point
	src       = picturetest.Src
	fork      = picturetest.Fork
	story     = picturetest.Plan
	steps     = picturetest.Steps
	many      = picturetest.Many
	id        = picturetest.ID
	numeral   = picture.Numeral
)

func entry(size int64) *retake.Entry { return &retake.Entry{Kind: retake.KindFile, Size: size} }

// uncolored takes our colors away.
func uncolored(s string) string {
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "35", "36"} {
		s = strings.ReplaceAll(s, "\x1b["+code+"m", "")
	}
	return s
}
