package restore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"maps"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/merge"
)

// decidePath decides what happens to one path, three-way: the change from base to want is
// applied to what is there now.
func (p *planner) decidePath(ctx context.Context, path string, s sides, kin map[string]string) error {
	if len(p.Hunks) > 0 {
		return p.revertHunks(ctx, path, s)
	}
	unmoved, err := p.isAlike(ctx, s.now, s.base)
	if err != nil {
		return err
	}
	if unmoved && p.KeepGenerated && isFile(s.now) && isFile(s.want) && isGenerated(path) {
		return p.keepGenerated(ctx, path, s)
	}
	if unmoved {
		return p.addStep(ctx, path, s.now, wantedEntry(s), kin)
	}
	unchanged, err := p.isSame(ctx, s.base, s.want)
	if err != nil || unchanged {
		p.noteUnrequested(path, s, kin)
		return err
	}
	there, err := p.isSame(ctx, s.now, s.want)
	switch {
	case err != nil || there:
		return err
	case s.want == nil:
		return p.decideUnwanted(path, s)
	case s.now == nil:
		p.keepChanged(path, s, "is gone since")
		return nil
	}
	return p.mergePath(ctx, path, s, kin)
}

// noteUnrequested records a path that somebody changed and that the request does not concern.
func (p *planner) noteUnrequested(path string, s sides, kin map[string]string) {
	if s.now != nil {
		p.remaining = append(p.remaining, path)
	}
	if u := kin[path]; u != "" {
		p.changedUnits[u] = true
	}
}

func isFile(e *retake.Entry) bool { return e != nil && e.Kind == retake.KindFile }

// keepGenerated keeps a log or build output that a program continued to write. A deleted one
// is restored, and databases are restored like everything else.
func (p *planner) keepGenerated(ctx context.Context, path string, s sides) error {
	same, err := p.isSame(ctx, s.now, s.want)
	if err == nil && !same {
		p.addKeep(path, s, retake.KeepVolatile, volatileDetail)
	}
	return err
}

// decideUnwanted decides about something that the undone change created and that was changed
// again since.
func (p *planner) decideUnwanted(path string, s sides) error {
	if isDir(s.now) { // it goes if nothing in it stays
		p.plan.Deletes = append(p.plan.Deletes, retake.Step{Path: path, What: retake.Deleted, Now: s.now})
		return nil
	}
	p.keepChanged(path, s, "changed since")
	return nil
}

// keepChanged keeps a path that changed since, or that is always changing.
func (p *planner) keepChanged(path string, s sides, detail string) {
	if p.IsVolatile(path) && s.now != nil {
		p.addKeep(path, s, retake.KeepVolatile, volatileDetail)
		return
	}
	p.addKeep(path, s, retake.KeepChanged, detail)
}

const volatileDetail = "always moving"

// mergePath decides about a path that changed on both sides: it merges metadata attribute by
// attribute, and content by lines.
func (p *planner) mergePath(ctx context.Context, path string, s sides, kin map[string]string) error {
	alike, err := p.isAlike(ctx, s.now, s.want)
	if alike && p.NoMerge && extraOf(s.now).Group != extraOf(s.want).Group { // it came, but not its other names
		return p.addStep(ctx, path, s.now, s.want, kin)
	}
	if err != nil || alike { // both did the same; only the times differ
		return err
	}
	if p.NoMerge || s.base == nil || s.now.Kind != s.want.Kind || s.base.Kind != s.want.Kind {
		return p.keepConflict(ctx, path, s)
	}
	var same [3]bool
	for i, pair := range [3][2]*retake.Entry{{s.now, s.base}, {s.want, s.base}, {s.now, s.want}} {
		if same[i], err = p.sameBytes(ctx, pair[0], pair[1]); err != nil {
			return err
		}
	}
	ours, theirs, equal := same[0], same[1], same[2]
	then := mergeMetadata(s)
	switch {
	case ours && !theirs, equal: // the bytes are as they were: those that are wanted come
		copyContent(&then, s.want)
	case theirs: // only somebody else changed the bytes: a database stays with its companions
		copyContent(&then, s.now)
		if u := kin[path]; u != "" {
			p.changedUnits[u] = true
		}
	default:
		return p.mergeLines(ctx, path, s, then, kin)
	}
	return p.addStep(ctx, path, s.now, &then, kin)
}

// copyContent gives e the content and time of from.
func copyContent(e, from *retake.Entry) {
	e.Object, e.Size, e.ModTime, e.Sum = from.Object, from.Size, from.ModTime, from.Sum
	x := extraOf(e)
	x.Holes, x.Group = extraOf(from).Holes, extraOf(from).Group
	e.Extra = nil
	if x.Group != "" || len(x.Holes) > 0 || len(x.Xattrs) > 0 {
		e.Extra = &x
	}
}

// mergeMetadata returns the current entry with the changes that want made to mode, owner and
// attributes.
func mergeMetadata(s sides) retake.Entry {
	then := *s.now
	if s.want.Mode != s.base.Mode {
		then.Mode = s.want.Mode
	}
	if s.want.UID != s.base.UID || s.want.GID != s.base.GID {
		then.UID, then.GID = s.want.UID, s.want.GID
	}
	if !sameXattrs(s.want, s.base) {
		x := extraOf(&then)
		x.Xattrs = mergeXattrs(x.Xattrs, extraOf(s.want).Xattrs, extraOf(s.base).Xattrs)
		then.Extra = &x
	}
	return then
}

// mergeXattrs returns the attributes of now with the changes that want made to those of base. One
// that changed on both sides stays as it is now: it may say who has access.
func mergeXattrs(now, want, base map[string][]byte) map[string][]byte {
	out := maps.Clone(now)
	if out == nil {
		out = map[string][]byte{}
	}
	for _, names := range []map[string][]byte{want, base} {
		for name := range names {
			is, was := want[name], base[name]
			if bytes.Equal(is, was) && (is == nil) == (was == nil) || !bytes.Equal(now[name], was) || (now[name] == nil) != (was == nil) {
				continue
			}
			if out[name] = is; is == nil {
				delete(out, name)
			}
		}
	}
	return out
}

// mergeLines merges a text that changed on both sides.
func (p *planner) mergeLines(ctx context.Context, path string, s sides, then retake.Entry, kin map[string]string) error {
	if p.NoMerge || s.now.Kind != retake.KindFile || kin[path] != "" {
		return p.keepConflict(ctx, path, s)
	}
	text, rep, ok, err := p.mergeSides(ctx, s)
	if err != nil {
		return err
	}
	if !ok {
		return p.keepConflict(ctx, path, s)
	}
	if rep.Theirs == 0 { // what was asked for is in the text already
		copyContent(&then, s.now)
		return p.addStep(ctx, path, s.now, &then, kin)
	}
	p.addMergeStep(path, s, then, text, rep)
	return nil
}

// addMergeStep adds a step that writes merged text; the plan holds its digest, not its bytes.
func (p *planner) addMergeStep(path string, s sides, then retake.Entry, text []byte, rep merge.Report) {
	sum := sha256.Sum256(text)
	then.Object, then.Size, then.ModTime = "", int64(len(text)), 0
	p.plan.Merges = append(p.plan.Merges, retake.Step{
		Path: path, What: retake.Edited, Now: s.now, Then: &then,
		Merge: &retake.Merge{
			Base: s.base.Object, Want: s.want.Object, Digest: hex.EncodeToString(sum[:]), Theirs: rep.Theirs, Yours: rep.Yours, First: rep.FirstLine, Hunks: p.Hunks,
		},
	})
	p.plan.Bytes += then.Size
}

// mergeSides merges the three versions by lines. It returns false if one is not text or if
// they conflict.
func (p *planner) mergeSides(ctx context.Context, s sides) ([]byte, merge.Report, bool, error) {
	var texts [3][]byte
	for i, e := range []*retake.Entry{s.base, s.now, s.want} {
		var err error
		var text bool
		if texts[i], text, err = readText(ctx, p.Trees, e); err != nil || !text {
			return nil, merge.Report{}, false, err
		}
	}
	out, rep, ok := mergeTexts(texts, p.Hunks)
	return out, rep, ok, nil
}

// maxTextBytes is the longest file that is merged by lines.
const maxTextBytes = 4 << 20

// readText reads a file of text. It returns false if the file is too long or not text.
func readText(ctx context.Context, t fileOpener, e *retake.Entry) ([]byte, bool, error) {
	if e.Size > maxTextBytes {
		return nil, false, nil
	}
	f, err := t.File(ctx, e.Object)
	if err != nil {
		return nil, false, err
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, maxTextBytes+1))
	return b, err == nil && len(b) <= maxTextBytes && merge.IsText(b), err
}

type fileOpener interface {
	File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error)
}

// keepConflict keeps the current file and puts the other version beside it. In a repository it
// does not: a copy of a branch file would be another branch.
func (p *planner) keepConflict(_ context.Context, path string, s sides) error {
	if p.IsVolatile(path) || p.NoMerge || s.want.Kind == retake.KindDir || InRepository(path) {
		p.keepChanged(path, s, "changed since")
		return nil
	}
	then := *s.want
	p.plan.Keeps = append(p.plan.Keeps, retake.Keep{
		Path: path, Why: retake.KeepConflict, Detail: "changed on both sides", Side: path + p.SideSuffix, Then: &then,
	})
	return nil
}

// wantedEntry returns the entry to restore. A directory whose time changed since keeps its
// time: somebody works in it.
func wantedEntry(s sides) *retake.Entry {
	if !isDir(s.now) || !isDir(s.want) || s.now.ModTime == s.base.ModTime {
		return s.want
	}
	then := *s.want
	then.ModTime = s.now.ModTime
	return &then
}

// isAlike reports whether two entries are equal apart from the contents of directories and
// from times.
func (p *planner) isAlike(ctx context.Context, a, b *retake.Entry) (bool, error) {
	if a == nil || b == nil {
		return a == b, nil
	}
	same, err := p.sameBytes(ctx, a, b)
	if p.NoMerge && a.Kind == b.Kind {
		b = relaxEntry(a, b)
	}
	return same && sameMetadata(a, b), err
}

// relaxEntry returns b with what an interrupted restore may not have set on a: the owner,
// which only root can change, and other links.
func relaxEntry(a, b *retake.Entry) *retake.Entry {
	out, x := *b, extraOf(b)
	out.UID, out.GID = a.UID, a.GID
	x.Group = extraOf(a).Group
	out.Extra = &x
	return &out
}

// isSame is isAlike, including times and links.
func (p *planner) isSame(ctx context.Context, a, b *retake.Entry) (bool, error) {
	same, err := p.isAlike(ctx, a, b)
	return same && (a == nil || a.ModTime == b.ModTime && extraOf(a).Group == extraOf(b).Group), err
}

// addStep adds the step that turns now into then, if they differ.
func (p *planner) addStep(ctx context.Context, path string, now, then *retake.Entry, kin map[string]string) error {
	same, err := p.sameBytes(ctx, now, then)
	if err != nil {
		return err
	}
	what := classifyDifference(now, then, same)
	st := retake.Step{Path: path, What: what, Now: now, Then: then, Unit: kin[path]}
	switch {
	case what == "":
	case what == retake.Deleted:
		p.plan.Deletes = append(p.plan.Deletes, st)
	case what == retake.Timed && isDir(then):
		p.plan.Times = append(p.plan.Times, st)
	default:
		p.plan.Writes = append(p.plan.Writes, st)
		if then.Kind == retake.KindFile && (!same || now == nil || now.Kind != then.Kind) {
			p.plan.Bytes += then.Size
		}
	}
	return nil
}
