package rewind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// maxHunks bounds how many hunks one undo takes back.
const maxHunks = 1000

// resolveHunkUndo resolves the undo of some hunks of one file, in the diff between two
// named checkpoints.
func (s *Rewinder) resolveHunkUndo(ctx context.Context, j resolvedRestore) (resolvedRestore, error) {
	refuse := func(what string) (resolvedRestore, error) {
		return j, &retake.Error{Kind: retake.Invalid, What: what, Safe: workspace.Unchanged}
	}
	switch {
	case j.req.Ref == "" || j.req.From == "" || strings.Contains(j.req.Ref, "..") || j.req.Session != "" || j.req.Edits:
		return refuse("hunks are of a diff between two checkpoints: name both")
	case len(j.req.Paths) != 1 || strings.ContainsAny(j.req.Paths[0], "*?"):
		return refuse("hunks are of one file: name it")
	case len(j.req.Hunks) > maxHunks:
		return refuse(fmt.Sprintf("at most %d hunks are undone at once", maxHunks))
	}
	j.req.Hunks = slices.SortedFunc(slices.Values(j.req.Hunks), func(a, b retake.Hunk) int { return a.NewStart - b.NewStart })
	j.hunks = j.req.Hunks
	to, err := s.history.Find(ctx, j.req.Workspace, j.req.Ref)
	if err != nil {
		return j, err
	}
	from, err := s.history.Find(ctx, j.req.Workspace, j.req.From)
	if err != nil {
		return j, err
	}
	if from.Number >= to.Number {
		return refuse(fmt.Sprintf("checkpoint %d is not before checkpoint %d", from.Number, to.Number))
	}
	j.target = &to
	return s.resolveBetween(ctx, j, to, from)
}
