package insight

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/merge"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// maxBlameSize bounds the files that can be blamed.
const maxBlameSize = 4 << 20

// fileVersion is one version of a file, and the first checkpoint that had it.
type fileVersion struct {
	cp     retake.Checkpoint
	object retake.ObjectID // "" when there was no file
}

// Blame returns which checkpoint wrote each line of a file, following the parents of the
// checkpoint.
func (s *Insight) Blame(ctx context.Context, q retake.BlameQuery) (retake.Blame, error) {
	ref := q.Ref
	if ref == "" {
		ref = "latest"
	}
	name := history.CleanPath(q.Path)
	_, e, err := s.history.FindRefEntry(ctx, q.Workspace, ref, name)
	if err != nil {
		return retake.Blame{}, err
	}
	cp, err := s.history.Find(ctx, q.Workspace, ref)
	if err != nil {
		return retake.Blame{}, err
	}
	out := retake.Blame{Checkpoint: cp, Path: name, Lines: []retake.BlameLine{}, Checkpoints: []retake.Checkpoint{}}
	switch {
	case e.Kind == retake.KindDir:
		return out, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("that is a directory: %s", name), Safe: workspace.Unchanged, Hint: "list its checkpoints: retake log --path " + name}
	case e.Kind != retake.KindFile:
		out.Why = "it is no file"
		return out, nil
	case e.Size > maxBlameSize:
		out.Why = fmt.Sprintf("it is larger than %d MB", maxBlameSize>>20)
		return out, nil
	}
	versions, err := s.loadFileVersions(ctx, cp, name)
	if err == nil {
		err = s.assignLines(ctx, versions, &out)
	}
	return out, workspace.WrapError(fmt.Sprintf("the checkpoints of %s cannot be read", name), workspace.Unchanged, err)
}

// loadFileVersions returns the versions of a file along the parents of a checkpoint, oldest
// first.
func (s *Insight) loadFileVersions(ctx context.Context, cp retake.Checkpoint, name string) ([]fileVersion, error) {
	var out []fileVersion
	at := &cp
	for at != nil {
		e, err := s.history.FindEntry(ctx, *at, name)
		if err != nil {
			return nil, err
		}
		v := fileVersion{cp: *at}
		if e != nil && e.Kind == retake.KindFile {
			v.object = e.Object
		}
		if n := len(out); n > 0 && out[n-1].object == v.object {
			out[n-1] = v // the same content, but earlier
		} else {
			out = append(out, v)
		}
		if at, err = s.parentCheckpoint(ctx, *at); err != nil {
			return nil, err
		}
	}
	slices.Reverse(out)
	return out, nil
}

// parentCheckpoint returns the parent of a checkpoint, or the nearest earlier one if the
// parent was forgotten. It returns nil at the start of a workspace or fork.
func (s *Insight) parentCheckpoint(ctx context.Context, cp retake.Checkpoint) (*retake.Checkpoint, error) {
	if cp.Parent == "" {
		return nil, nil
	}
	if p, err := s.workspaces.LoadCheckpoint(ctx, cp.Parent); err == nil {
		if p.Workspace != cp.Workspace {
			return nil, nil // the fork starts here
		}
		return &p, nil
	}
	older, err := s.workspaces.Catalog.Page(ctx, retake.LogQuery{Workspace: cp.Workspace, Before: cp.Number, Limit: 1})
	if err != nil || len(older) == 0 {
		return nil, err
	}
	return &older[0], nil
}

// assignLines goes through the versions, oldest first, and assigns each line to the version
// it came with.
func (s *Insight) assignLines(ctx context.Context, versions []fileVersion, out *retake.Blame) error {
	var text []byte
	var owners []int // index of a version, for each line
	from, kept := s.findRestoredVersions(ctx, versions)
	for i, v := range versions {
		next, err := s.readObject(ctx, v.object)
		if err != nil {
			return err
		}
		if termtext.IsBinary(string(next)) {
			if i == len(versions)-1 {
				out.Why = "it is binary"
				return nil
			}
			next = nil
		}
		owners = carryOwners(owners, merge.Spans(text, next), i)
		text = next
		if old, ok := from[i]; ok {
			if err := s.reassignRestored(ctx, versions[old], kept[old], next, owners, i); err != nil {
				return err
			}
		}
		if _, wanted := kept[i]; wanted {
			kept[i] = owners
		}
	}
	fillBlame(versions, owners, text, out)
	return nil
}

// fillBlame writes the lines and their checkpoints into the result.
func fillBlame(versions []fileVersion, owners []int, text []byte, out *retake.Blame) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	seen := map[int]bool{}
	for i, owner := range owners {
		v := versions[owner]
		out.Lines = append(out.Lines, retake.BlameLine{Number: v.cp.Number, Text: string(bytes.TrimSuffix(lines[i], []byte("\n")))})
		if !seen[owner] {
			seen[owner] = true
			out.Checkpoints = append(out.Checkpoints, v.cp)
		}
	}
	slices.SortFunc(out.Checkpoints, func(a, b retake.Checkpoint) int { return int(b.Number - a.Number) })
}

// findRestoredVersions finds for each version made by an undo, a redo or a restore of paths
// the older version that its lines came from, and lists the versions whose owners must be
// kept for that.
func (s *Insight) findRestoredVersions(ctx context.Context, versions []fileVersion) (from map[int]int, kept map[int][]int) {
	from, kept = map[int]int{}, map[int][]int{}
	for i, v := range versions {
		if v.cp.Return == nil || i == 0 {
			continue
		}
		target, err := s.workspaces.LoadCheckpoint(ctx, v.cp.Return.Target)
		if err != nil || target.Workspace != v.cp.Workspace {
			continue // forgotten, or of a fork: the lines are its own
		}
		last := target.Number
		if v.cp.Return.Course == retake.CourseUndo {
			last-- // the state before it
		}
		for old := range slices.Backward(versions[:i]) {
			if versions[old].cp.Number <= last {
				from[i], kept[old] = old, nil
				break
			}
		}
	}
	return from, kept
}

// reassignRestored gives lines that came with version i back to their owners in an older
// version.
func (s *Insight) reassignRestored(ctx context.Context, old fileVersion, theirs []int, text []byte, owners []int, i int) error {
	was, err := s.readObject(ctx, old.object)
	if err != nil || termtext.IsBinary(string(was)) {
		return err
	}
	for k, owner := range carryOwners(theirs, merge.Spans(was, text), i) {
		if owners[k] == i {
			owners[k] = owner
		}
	}
	return nil
}

// carryOwners maps the owners of lines to the next version; new lines belong to that
// version.
func carryOwners(owners []int, spans []merge.Span, version int) []int {
	var out []int
	at := 0
	for _, sp := range spans {
		out = append(out, owners[at:sp.Before]...)
		for range sp.Added {
			out = append(out, version)
		}
		at = sp.Before + sp.Removed
	}
	return append(out, owners[at:]...)
}

// readObject reads a stored file, up to maxBlameSize bytes.
func (s *Insight) readObject(ctx context.Context, id retake.ObjectID) ([]byte, error) {
	if id == "" {
		return nil, nil
	}
	r, err := s.history.Bytes(ctx, id)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(r, maxBlameSize))
}
