package restore

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/merge"
)

// revertHunks reverts some hunks of one file and leaves its other lines, its mode and its
// owner.
func (p *planner) revertHunks(ctx context.Context, path string, s sides) error {
	if isDir(s.now) || isDir(s.base) || isDir(s.want) {
		return nil
	}
	if !isFile(s.base) || !isFile(s.want) {
		p.addKeep(path, s, retake.KeepConflict, "has no lines on one side")
		return nil
	}
	if !isFile(s.now) {
		p.keepChanged(path, s, "is gone since")
		return nil
	}
	text, rep, ok, err := p.mergeSides(ctx, s)
	switch {
	case err != nil:
		return err
	case !ok && rep.Conflicts == 0:
		p.addKeep(path, s, retake.KeepConflict, "has no such lines")
	case !ok:
		p.addKeep(path, s, retake.KeepConflict, "these lines changed since")
	case rep.Theirs > 0: // else they are as they were already
		p.addMergeStep(path, s, *s.now, text, rep)
	}
	return nil
}

// mergeTexts merges the change from the first text to the last into the second, or only some
// hunks of it.
func mergeTexts(texts [3][]byte, hunks []retake.Hunk) ([]byte, merge.Report, bool) {
	if len(hunks) > 0 {
		var ok bool
		if texts[2], ok = merge.Revert(texts[2], texts[0], hunkSpans(hunks)); !ok {
			return nil, merge.Report{}, false
		}
	}
	return merge.Lines(texts[0], texts[1], texts[2])
}

func hunkSpans(hunks []retake.Hunk) []merge.Span {
	out := make([]merge.Span, len(hunks))
	for i, h := range hunks {
		out[i] = merge.Span{Before: h.OldStart - 1, Removed: h.OldLines, After: h.NewStart - 1, Added: h.NewLines}
	}
	return out
}
