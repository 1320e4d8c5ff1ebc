package workspace

import (
	"github.com/retake-dev/retake"
)

// CountFiles counts changed files; directories and changed times do not count.
func CountFiles(changes []retake.Change) retake.Counts {
	var n retake.Counts
	for _, c := range changes {
		e := c.After
		if e == nil {
			e = c.Before
		}
		if e.Kind == retake.KindDir {
			continue
		}
		switch c.What {
		case retake.Added:
			n.Added++
		case retake.Deleted:
			n.Deleted++
		case retake.Edited, retake.Retyped, retake.Moded:
			n.Edited++
		case retake.Timed, retake.Renamed:
		}
	}
	return n
}
