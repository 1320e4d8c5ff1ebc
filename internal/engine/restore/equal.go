package restore

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/storage/store"
)

// sameBytes reports whether two entries have the same kind and the same bytes or link text.
// Live content is read and compared once. The contents of directories do not count.
func (p *planner) sameBytes(ctx context.Context, a, b *retake.Entry) (bool, error) {
	switch {
	case a == nil || b == nil:
		return a == b, nil
	case a.Kind != b.Kind:
		return false, nil
	case a.Kind != retake.KindFile && a.Kind != retake.KindSymlink:
		return true, nil
	case a.Object == b.Object:
		return true, nil
	case a.Size != b.Size, !isLiveID(a.Object) && !isLiveID(b.Object):
		return false, nil
	}
	key := [2]retake.ObjectID{a.Object, b.Object}
	if same, ok := p.equalCache[key]; ok {
		return same, nil
	}
	same, err := equalObjects(ctx, p.Trees, a.Object, b.Object)
	p.equalCache[key] = same
	return same, err
}

func equalObjects(ctx context.Context, t store.Trees, a, b retake.ObjectID) (bool, error) {
	x, err := t.File(ctx, a)
	if err != nil {
		return false, err
	}
	defer x.Close() //nolint:errcheck // only read
	y, err := t.File(ctx, b)
	if err != nil {
		return false, err
	}
	defer y.Close() //nolint:errcheck // only read
	return store.SameBytes(x, y)
}

// sameMetadata reports whether mode, owner, attributes, links and holes are equal.
func sameMetadata(a, b *retake.Entry) bool {
	x, y := extraOf(a), extraOf(b)
	return a.Mode == b.Mode && a.UID == b.UID && a.GID == b.GID && x.Group == y.Group &&
		slices.Equal(x.Holes, y.Holes) && sameXattrs(a, b)
}

// sameXattrs compares extended attributes. The workspace marker of a directory that stays is
// ignored: a restore does not decide what is a workspace.
func sameXattrs(a, b *retake.Entry) bool {
	x, y := extraOf(a).Xattrs, extraOf(b).Xattrs
	if isDir(a) && isDir(b) {
		x, y = withoutMarker(x), withoutMarker(y)
	}
	return maps.EqualFunc(x, y, bytes.Equal)
}

func withoutMarker(xattrs map[string][]byte) map[string][]byte {
	if xattrs[marker.Xattr] == nil {
		return xattrs
	}
	out := maps.Clone(xattrs)
	delete(out, marker.Xattr)
	return out
}

func extraOf(e *retake.Entry) retake.Extra {
	if e.Extra == nil {
		return retake.Extra{}
	}
	return *e.Extra
}

// classifyDifference returns what a step does, or "" for nothing.
func classifyDifference(now, then *retake.Entry, sameBytes bool) retake.Difference {
	switch {
	case now == nil && then == nil:
		return ""
	case now == nil:
		return retake.Added
	case then == nil:
		return retake.Deleted
	case now.Kind != then.Kind:
		return retake.Retyped
	case !sameBytes:
		return retake.Edited
	case !sameMetadata(now, then):
		return retake.Moded
	case now.ModTime != then.ModTime:
		return retake.Timed
	}
	return ""
}
