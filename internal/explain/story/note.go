package story

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// Notes beside a path.
const (
	noteTorn  = "torn"
	noteLock  = "lock file"
	noteBuild = "build output"
	noteAttrs = "attributes"
)

// maxLinkSize is the longest link target that a note shows, in bytes.
const maxLinkSize = 4096

// arrow separates the value before from the value after.
const arrow = " → "

// addNotes writes the notes of each record: first what it is, then what happened to it.
func (t *storyBuilder) addNotes(ctx context.Context) {
	torn := t.tornPaths()
	for _, r := range t.records {
		var notes []string
		if r.what != retake.Deleted && torn.contains(r.path) {
			r.torn = true
			notes = append(notes, noteTorn)
		}
		switch r.class {
		case pathclass.Lock:
			notes = append(notes, noteLock)
		case pathclass.Build:
			notes = append(notes, noteBuild)
		default:
		}
		notes = append(notes, r.notes...)
		r.notes = append(notes, t.metadataNotes(ctx, r)...)
	}
}

// metadataNotes describes how two entries at one path differ apart from their bytes.
func (t *storyBuilder) metadataNotes(ctx context.Context, r *pathRecord) []string {
	a, b := r.before, r.after
	if a == nil || b == nil {
		return nil
	}
	switch {
	case r.what == retake.Added, r.what == retake.Deleted:
		return nil
	case r.what == retake.Retyped:
		return []string{t.kindText(ctx, a) + arrow + t.kindText(ctx, b)}
	case b.Kind == retake.KindSymlink && a.Object != b.Object:
		return []string{"link" + t.linkTarget(ctx, a) + arrow + strings.TrimPrefix(t.linkTarget(ctx, b), " to ")}
	}
	var notes []string
	if a.Mode != b.Mode {
		notes = append(notes, fmt.Sprintf("mode %04o%s%04o", a.Mode, arrow, b.Mode))
	}
	if a.UID != b.UID || a.GID != b.GID {
		notes = append(notes, fmt.Sprintf("owner %d:%d%s%d:%d", a.UID, a.GID, arrow, b.UID, b.GID))
	}
	if len(notes) == 0 && r.what == retake.Moded || !sameAttrs(a.Extra, b.Extra) {
		notes = append(notes, noteAttrs)
	}
	return notes
}

// kindText names the kind of an entry for people.
func (t *storyBuilder) kindText(ctx context.Context, e *retake.Entry) string {
	switch e.Kind {
	case retake.KindDir:
		return "directory"
	case retake.KindSymlink:
		return "link" + t.linkTarget(ctx, e)
	case retake.KindFile, retake.KindFIFO, retake.KindSocket:
		return string(e.Kind)
	}
	return string(e.Kind)
}

// linkTarget returns " to TARGET" for a symbolic link whose target can be read, else "".
func (t *storyBuilder) linkTarget(ctx context.Context, e *retake.Entry) string {
	if e.Kind != retake.KindSymlink || t.input.OpenObject == nil || e.Object == "" || e.Size > maxLinkSize {
		return ""
	}
	b, why := t.texts.readText(ctx, e)
	if why != "" || len(b) == 0 || len(b) > maxLinkSize {
		return ""
	}
	return " to " + string(b)
}

func sameAttrs(a, b *retake.Extra) bool {
	var x, y map[string][]byte
	if a != nil {
		x = a.Xattrs
	}
	if b != nil {
		y = b.Xattrs
	}
	return maps.EqualFunc(x, y, bytes.Equal)
}

// pathSet is a set of paths, and of directories that stand for everything below them.
type pathSet struct {
	paths map[string]bool
	dirs  []string
}

// tornPaths returns the paths whose bytes may mix two points in time.
func (t *storyBuilder) tornPaths() pathSet {
	p := pathSet{paths: map[string]bool{}}
	for _, g := range t.input.Gaps {
		switch {
		case g.Reason != retake.ReasonTorn:
		case strings.HasSuffix(g.Path, "/"):
			p.dirs = append(p.dirs, g.Path)
		default:
			p.paths[g.Path] = true
		}
	}
	return p
}

func (p pathSet) contains(path string) bool {
	if p.paths[path] {
		return true
	}
	for _, d := range p.dirs {
		if strings.HasPrefix(path, d) {
			return true
		}
	}
	return false
}
